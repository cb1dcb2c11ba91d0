// Package login gets a client past an MCP server that asks who is calling. An
// [Authorizer] belongs to one server: it adds a token to requests, and when the
// server refuses one it finds the authorization server, gets a new token from
// it, and says to try again.
//
// How a token is got is the [Grant]: [Code] for people, [ClientCredentials],
// [Enterprise] and [Workload] for programs. Tokens are bearer tokens, or bound to
// a key (DPoP, RFC 9449) where the server wants that.
//
// # What is trusted
//
// The MCP server says which authorization server it trusts, so it could name one
// that collects secrets. Therefore a document is used only if it is about the
// server and the issuer it was asked for, byte for byte; what belongs to one
// issuer is never shown to another; and addresses that were not named by the
// caller are reached with care:
//
//   - https only, or plain http on this machine;
//   - no private, link-local, shared or otherwise special address, whatever name
//     led to it: the address that is really dialled is checked. This machine may
//     be reached if the MCP server's URL says localhost or a loopback address,
//     and private networks if it says a private address; a name that resolves to
//     one does not count. [Options.Networks] opens others, and the hosts of the
//     MCP server itself and of issuers that the caller named are always open;
//   - redirects within the same origin only, and only for documents; one
//     megabyte and ten seconds at most.
//
// Secrets are in no error and no log.
package login
