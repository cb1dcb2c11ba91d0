package deferred_test

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

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

// A tool that decides by its arguments whether to answer later.
func ExampleDeferrer_Later() {
	s := server.New("studio", "1.0.0", nil)
	d := deferred.New(s, nil)
	defer d.Close(context.Background())
	s.AddTool(mcp.Tool{Name: "render", Description: "Render a video"},
		server.CallFunc(func(ctx context.Context, c *mcp.Call, in video) (string, error) {
			if in.Title != "Short" {
				if err := d.Later(c); err != nil {
					return "", err
				}
			}
			return render(ctx, in)
		}))

	// A transport does this for a client that knows the extension.
	client := &mcp.Client{Capabilities: mcp.ClientCapabilities{
		Extensions: map[string]jsontext.Value{mcp.ExtensionDeferred: jsontext.Value("{}")},
	}}
	for _, title := range []string{"Short", "Moon"} {
		result, err := s.Handle(context.Background(), &mcp.Call{
			Method: mcp.MethodCallTool, Client: client,
			Params: jsontext.Value(`{"name":"render","arguments":{"title":"` + title + `"}}`),
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		switch r := result.(type) {
		case *mcp.CallToolResult:
			fmt.Println(r.Content[0].(*mcp.TextContent).Text)
		case *mcp.Deferred:
			fmt.Println(title, "is", r.Status)
		}
	}
	// Output:
	// Short is rendered
	// Moon is working
}
