// Package streamable carries MCP over HTTP.
//
// [Handler] serves every protocol revision on one endpoint, at once:
//
//	http.Handle("/mcp", streamable.Handler(s, nil))
//
// Requests that describe themselves, as those of the newest revision do, are
// answered one POST each: with plain JSON, or with an event stream from the
// handler's first word. Clients that open with initialize get a session.
// Clients of the oldest revision, which want a pair of endpoints, find them at
// [Endpoint.SSE], to be mounted beside.
//
// [Run] serves an endpoint until its context ends, and then lets what is under way
// finish. [Dial] is the other half: the transport of a client, which finds out what
// the server speaks.
//
// # Safe by default
//
// A request is refused with 403 if its Host is not this server's, or if its
// Origin is neither the server's own nor listed; see [Options]. Bodies, batches,
// sessions, streams and waiting times have caps. A session belongs to the caller
// who opened it. [NewServer] sets the limits that only an http.Server can.
//
// Authentication is middleware in front of the endpoint: it hands on who is
// calling by [mcp.WithPrincipal]. An endpoint without it serves anybody who can
// connect, so bind it to the loopback address.
//
// # Status codes
//
// In the newest revision an error that the spec gives a status has that status:
// 404 for a method that nobody answers, 400 for what is malformed, misses a
// capability, or names another version or other headers. Every other error,
// among them that of a handler that panicked, travels in a 200 as results do:
// HTTP did its part. In sessions whatever the handler answers is a 200.
package streamable
