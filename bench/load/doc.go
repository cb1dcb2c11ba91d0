// Package load drives MCP servers as a black box: it sends prepared JSON-RPC
// requests over standard input and output or over HTTP, keeps a number of them in
// flight, and checks every answer. It knows no MCP library, ours included.
//
// An answer that names an id that is not out, a second answer to one request, a
// value that is not the right one, and an answer that never comes each end the run
// with an error: a server that cheats or breaks has no figures.
package load
