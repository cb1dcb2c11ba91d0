// Package server answers Calls with tools, resources, prompts and completions.
//
// A [Server] is an [mcp.Handler]: it knows no transport and no protocol
// revision. Build one, register features, and hand it to a transport:
//
//	s := server.New("add", "1.0.0", nil)
//	server.Tool(s, "add", "Add two numbers together", add)
//	err := stdio.Serve(ctx, s, nil)
//
// Features may be added and removed while the server runs; clients that want to
// know are told. Mistakes in a registration, such as a name that is taken or a
// schema that is none, are the programmer's and panic with the name.
package server
