// Package client speaks to MCP servers of every protocol revision.
//
// [Connect] opens a connection through a [Dialer], such as stdio.Command for a
// child process, and finds out by itself which era of the protocol the server
// lives in:
//
//	c, err := client.Connect(ctx, stdio.Command("npx", "-y", "some-server"), nil)
//	for tool, err := range c.Tools(ctx) { … }
//	result, err := c.CallTool(ctx, "add", map[string]any{"a": 2, "b": 40}, nil)
//
// Whatever the revision, features look as they do in the newest: a handler in
// [Options] answers the server's questions, whether they come as requests or
// inside results; [Client.Listen] hears of changes, whether there are
// subscriptions or not.
//
// # Errors
//
// An error that holds a *jsonrpc.Error is the server's answer. Every other error
// is local: the server may not have heard of the call, or its answer is lost.
// Errors of calls are then a [*LocalError]. That a tool failed is neither: it is
// a result, with IsError set.
//
// # Connections that end
//
// When the connection ends, calls in flight fail at once with a local error. The
// next call dials again, with growing pauses where that does not help, greets the
// server in the way that worked before, and goes on. Subscriptions dial by
// themselves, so that they miss as little as possible.
//
// # The seed of it all
//
// [NewServer] is the smallest client there is: a child process, its tools, and
// their text. [RPC] is JSON-RPC 2.0 alone, without MCP.
package client
