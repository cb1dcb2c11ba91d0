// Package mcptest tests MCP servers: by an in-memory connection, by transcripts
// that are replayed, and by a recorder that writes them.
//
// [Connect] serves any [mcp.Handler] in memory. A test then speaks as the client,
// line by line or in whole requests, in either era of the protocol:
//
//	c := mcptest.Connect(t, s, nil)
//	result, err := c.Request("tools/call", map[string]any{"name": "add", …})
//
// # Transcripts
//
// A transcript is a story in a txtar file: what the client sends and what must
// come back. Its comment holds prose and header lines, of which revision is
// required and server, a name for the test's own use, is not:
//
//	A client adds two numbers.
//	revision: DATE
//
//	-- client --
//	{"jsonrpc":"2.0","id":1,"method":"ping"}
//	-- server --
//	{"jsonrpc":"2.0","id":1,"result":{}}
//
// A message is a line, and the indented lines after it. The sections are:
//
//   - client: messages to send, one after the other;
//   - server: what must come back before the story goes on, in this order;
//   - server any order: the same, in whatever order; the answers within a batch
//     too;
//   - end: the client closes its side. A server section after it holds what must
//     still come. Every story ends like this, written or not, and nothing more
//     may come than it says.
//
// The word invalid after client or server (client invalid) marks messages that
// break the protocol on purpose, for tests that check the others.
//
// Messages are compared as JSON values: white space and the order of members do
// not matter, and numbers are compared as they are written. In what is expected
// the string "…" stands for any value, and … within a string for any text. The
// string "{{name}}" captures a value, and {{name}} within a string a text; later
// messages of the client, and later expectations, use it under that name.
//
// [Transcripts] replays a folder of them. A test binary that has a flag named
// update, as in
//
//	var _ = flag.Bool("update", false, "rewrite the transcripts")
//
// rewrites the server sections when it is set (go test -args -update): messages
// that match stay as they are, and the others keep their placeholders where they
// still fit. So a new story begins with the client's lines alone.
package mcptest
