// Package resource decides who may enter an HTTP server: by API key, or with an
// access token as an OAuth 2.1 resource server. It knows nothing of MCP but the
// [mcp.Principal], which it puts on the context of the requests it lets through.
//
// [Require] stands before a handler. It takes one credential from a request's
// headers, never from its URL, and shows it to one [Verifier] after another:
// [Keys], [KeysFile], [JWT], or the caller's own. The first that knows the
// credential names the caller. Nobody enters without a name: what no verifier
// knows is refused with 401, and where one of them could not tell, with 503.
// [Metadata] serves the public document that sends clients to the authorization
// server.
//
// Credentials do not reach logs, errors, or the handler.
package resource
