// Package deferred lets tools answer later: the protocol's tasks extension.
//
// A client that declares the extension gets a handle in place of the result,
// hangs up, and fetches the result when it is there. Any other client waits for
// the plain result. A tool is written once:
//
//	d := deferred.New(s, nil)
//	s.AddTool(mcp.Tool{Name: "render"}, d.Optional(server.CallFunc(render)))
//
// A tool that wants to decide for itself, or to ask the user first, calls
// [Deferrer.Later] and returns what it says:
//
//	if err := d.Later(c); err != nil {
//		return nil, err
//	}
//
// The rule is the same as for questions: the tool is run again from its start,
// with the answers it has been given, and the second time goes on. Questions
// that it asks then park the result until the client has answered them.
//
// The work belongs to the [Deferrer]: its context outlives the request, and ends
// when the client gives the result up. A handle is sent after the [Store] has
// it. What a process leaves unfinished when it dies is reported as failed.
package deferred
