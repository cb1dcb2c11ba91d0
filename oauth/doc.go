// Package oauth holds the documents that OAuth speaks about itself, as far as
// MCP uses them: protected-resource metadata (RFC 9728), authorization-server
// metadata (RFC 8414 and OpenID Connect Discovery), WWW-Authenticate challenges
// (RFC 9110, RFC 6750), and where well-known documents are found.
//
// It reads and writes values only. Fetching is for the caller, and so are the
// limits on what is fetched.
package oauth
