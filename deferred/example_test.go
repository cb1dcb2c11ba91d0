package deferred_test

import (
	"context"
	"fmt"

	"github.com/bossman-mcp/bossman/deferred"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

type video struct {
	Title string `json:"title"`
}

func render(_ context.Context, in video) (string, error) {
	return in.Title + " is rendered", nil
}

// A tool that takes minutes. Clients of the extension get a handle at once.
func Example() {
	s := server.New("studio", "1.0.0", nil)
	d := deferred.New(s, nil)
	s.AddTool(mcp.Tool{Name: "render", Description: "Render a video"}, d.Optional(server.Func(render)))
	defer d.Close(context.Background())

	// A transport does this for a client that does not know the extension.
	result, err := s.Handle(context.Background(), &mcp.Call{
		Method: mcp.MethodCallTool, Client: &mcp.Client{},
		Params: []byte(`{"name":"render","arguments":{"title":"Moon"}}`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.(*mcp.CallToolResult).Content[0].(*mcp.TextContent).Text)
	// Output: Moon is rendered
}
