// Package lifecycle is the door between the wire and the waist. There are two
// doors, one for each era of the protocol:
//
//   - [Handshake] serves the revisions that open a session with initialize;
//   - [Stateless] serves the ones whose requests describe themselves.
//
// Both turn a request into an [mcp.Call] and shape the handler's result, which
// is in the newest form, for the revision that the client speaks. A [Conn] has
// both doors on one connection and picks one for each message, by its _meta.
package lifecycle
