package mcptest_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcptest"
	"github.com/bossman-mcp/bossman/server"
)

// A test function is given its t; this one only shows the calls.
func ExampleConnect() {
	_ = func(t *testing.T) {
		s := server.New("add", "1.0.0", nil)
		server.Tool(s, "add", "Add two numbers together", add)

		c := mcptest.Connect(t, s, nil)
		c.Handshake("") // leave it out to speak the newest revision
		result, err := c.Request("tools/call", map[string]any{"name": "add", "arguments": pair{A: 1, B: 2}})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s", result)
	}
}

func ExampleParseTranscript() {
	story, err := mcptest.ParseTranscript("ping.txtar", []byte(`A client knocks.
revision: any

-- client --
{"jsonrpc":"2.0","id":1,"method":"ping"}
-- server --
{"jsonrpc":"2.0","id":1,"result":{}}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, section := range story.Sections {
		for _, line := range section.Lines {
			fmt.Printf("line %d, %v: %s\n", line.Number, section.Kind, line.Text)
		}
	}
	// Output:
	// line 5, client: {"jsonrpc":"2.0","id":1,"method":"ping"}
	// line 7, server: {"jsonrpc":"2.0","id":1,"result":{}}
}

// A recorder in front of a server writes what happens to it as a transcript.
func ExampleRecorder_Middleware() {
	s := server.New("add", "1.0.0", nil)
	server.Tool(s, "add", "Add two numbers together", add)
	var recording bytes.Buffer
	recorder := mcptest.NewRecorder(&recording)
	s.Use(recorder.Middleware)

	call := &mcp.Call{Method: "tools/call", Client: &mcp.Client{Revision: "any"}, Params: []byte(`{"name":"sub"}`)}
	_, err := s.Handle(context.Background(), call)
	fmt.Println(err)

	if err := recorder.Close(); err != nil {
		fmt.Println(err)
	}
	_, answer, _ := strings.Cut(recording.String(), "-- server --\n")
	fmt.Print(answer)
	// Output:
	// Unknown tool: sub (-32602)
	// {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unknown tool: sub"}}
}
