package server_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

// show sends a Call to a handler and prints the answer, as a door would.
func show(h mcp.Handler, method, params string) {
	result, err := h.Handle(context.Background(), &mcp.Call{
		Method: method, Params: jsontext.Value(params), Client: &mcp.Client{},
	})
	if err != nil {
		fmt.Println("error:", err)
		return
	}
	if memo, ok := result.(*mcp.Memo); ok {
		result = memo.Result
	}
	text, err := jsonrpc.AppendValue(nil, result)
	if err != nil {
		fmt.Println("error:", err)
		return
	}
	fmt.Println(string(text))
}

func ExampleTool() {
	type pair struct {
		A float64 `json:"a" doc:"First number"`
		B float64 `json:"b" doc:"Second number"`
	}
	type sum struct {
		Result float64 `json:"result"`
	}
	s := server.New("calculator", "1.0.0", nil)
	server.Tool(s, "add", "Add two numbers together", func(_ context.Context, in pair) (sum, error) {
		return sum{in.A + in.B}, nil
	})
	show(s, "tools/call", `{"name":"add","arguments":{"a":2,"b":40}}`)
	show(s, "tools/call", `{"name":"subtract"}`)
	// Output:
	// {"content":[{"type":"text","text":"{\"result\":42}"}],"structuredContent":{"result":42},"isError":false}
	// error: Unknown tool: subtract (-32602)
}

func ExampleCallFunc() {
	s := server.New("greeter", "1.0.0", nil)
	s.AddTool(mcp.Tool{Name: "greet", Description: "Greet the user"}, server.CallFunc(
		func(_ context.Context, c *mcp.Call, _ struct{}) (string, error) {
			answer, err := c.Elicit("name", &mcp.ElicitParams{
				Message:         "What is your name?",
				RequestedSchema: jsontext.Value(`{"type":"object","properties":{"name":{"type":"string"}}}`),
			})
			if err != nil {
				return "", err // the client is asked, and the function runs again
			}
			return "Hello, " + string(answer.Content), nil
		}))
	show(s, "tools/call", `{"name":"greet"}`)
	// Output:
	// error: the client did not declare the capability this needs: elicitation
}

func ExampleServer_AddTemplate() {
	s := server.New("files", "1.0.0", nil)
	s.AddTemplate(mcp.ResourceTemplate{URITemplate: "note://{name}", Name: "notes", MIMEType: "text/plain"},
		func(_ context.Context, _ *mcp.Call, r server.ReadRequest) ([]mcp.ResourceContents, error) {
			if r.Vars["name"] != "today" {
				return nil, &mcp.ResourceNotFoundError{URI: r.URI}
			}
			return []mcp.ResourceContents{{Text: "Buy milk."}}, nil
		})
	show(s, "resources/read", `{"uri":"note://today"}`)
	show(s, "resources/read", `{"uri":"note://tomorrow"}`)
	// Output:
	// {"ttlMs":0,"cacheScope":"private","contents":[{"uri":"note://today","mimeType":"text/plain","text":"Buy milk."}]}
	// error: Resource not found: note://tomorrow
}

func ExampleServer_Use() {
	shout := func(next mcp.Handler) mcp.Handler {
		return mcp.HandlerFunc(func(ctx context.Context, c *mcp.Call) (any, error) {
			if strings.HasPrefix(c.Method, "tools/") {
				return nil, errors.New("closed for today")
			}
			return next.Handle(ctx, c)
		})
	}
	s := server.New("shop", "1.0.0", nil)
	s.Use(shout)
	s.Method("shop/hours", func(context.Context, *mcp.Call) (any, error) { return "9 to 5", nil })
	show(s, "tools/list", "")
	show(s, "shop/hours", "")
	// Output:
	// error: closed for today
	// "9 to 5"
}
