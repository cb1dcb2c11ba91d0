package client_test

import (
	"fmt"
	"os"

	mcp "github.com/bossman-mcp/bossman/client"
)

// The smallest client: start a server, list its tools, call one.
func ExampleNewServer() {
	// This program is a server too, when it is told to be one. Any command line
	// will do: mcp.NewServer("uvx", "mcp-server-fetch").
	addServer := mcp.NewServer(os.Args[0], "serve-as-adder")
	if err := addServer.Start(); err != nil { // starts the subprocess, and takes care of the initialization handshake
		fmt.Println(err)
		return
	}
	tools, err := addServer.ListTools() // returns list of tool definitions
	if err != nil {
		fmt.Println(err)
		return
	}
	addTool, found := tools.ByName("add")
	fmt.Println(found, addTool.Name, "-", addTool.Description)
	fmt.Println(string(addTool.RawInputSchema))

	content, err := addServer.Call("add", map[string]any{"a": 2, "b": 40}) // content is []mcp.ToolResultContent
	fmt.Println(content[0].Type, content[0].Text, err)
	addServer.Close() // shut down the server
	// Output:
	// true add - Add two numbers together
	// {"type":"object","properties":{"a":{"type":"number","description":"First number"},"b":{"type":"number","description":"Second number"}},"required":["a","b"],"additionalProperties":false}
	// text {"result":42} <nil>
}

// asPrinted is the snippet of the seed, word for word but for its ellipsis: that
// it compiles is the test.
func asPrinted() {
	fetchServer := mcp.NewServer("uvx", "mcp-server-fetch")
	err := fetchServer.Start()            // starts the subprocess, and takes care of the initialization handshake
	tools, err := fetchServer.ListTools() // returns list of tool definitions
	fetchTool, found := tools.ByName("fetch")
	_ = fetchTool.Name                                                                       // "fetch"
	_ = fetchTool.Description                                                                // "Long description of when to use the fetch tool"
	_ = fetchTool.RawInputSchema                                                             // raw json bytes of the input schema
	content, err := fetchServer.Call("fetch", map[string]any{"url": "https://example.org/"}) // content is []mcp.ToolResultContent
	fetchServer.Close()                                                                      // shut down the server

	var raw []byte = fetchTool.RawInputSchema
	var list []mcp.ToolResultContent = content
	_, _, _, _ = raw, list, found, err
}

var _ = asPrinted
