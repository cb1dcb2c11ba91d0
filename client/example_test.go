package client_test

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/stdio"
)

func Example() {
	ctx := context.Background()
	// This program is a server too, when it is told to be one.
	c, err := client.Connect(ctx, stdio.Command(os.Args[0], "serve-as-adder"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	for tool, err := range c.Tools(ctx) {
		fmt.Println(tool.Name, "-", tool.Description, err)
	}
	result, err := c.CallTool(ctx, "add", map[string]any{"a": 2, "b": 40}, nil)
	fmt.Println(client.TextOf(result.Content), err)
	// Output:
	// add - Add two numbers together <nil>
	// die - Ends the process <nil>
	// {"result":42} <nil>
}

func ExampleCall() {
	type pair struct {
		A float64 `json:"a"`
		B float64 `json:"b"`
	}
	type sum struct {
		Result float64 `json:"result"`
	}
	ctx := context.Background()
	c, err := client.Connect(ctx, &inMemory{handler: newAdder()}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	got, err := client.Call[sum](ctx, c, "add", pair{2, 40})
	fmt.Println(got.Result, err)
	// Output: 42 <nil>
}

// A server's questions are answered by functions, whatever the revision.
func ExampleOptions() {
	ctx := context.Background()
	c, err := client.Connect(ctx, &inMemory{handler: newEverything()}, &client.Options{
		Elicit: func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			fmt.Println("the server asks:", p.Message)
			return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: jsontext.Value(`{"name":"Ada"}`)}, nil
		},
		Sample: func(context.Context, *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Role: mcp.RoleAssistant, Model: "none", Content: mcp.Contents{mcp.Text("hello")}}, nil
		},
		Roots: func(context.Context) ([]mcp.Root, error) {
			return []mcp.Root{{URI: "file:///project"}}, nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	said, err := client.Call[string](ctx, c, "ask", nil)
	fmt.Println(said, err)
	// Output:
	// the server asks: Who?
	// accept {"name":"Ada","age":30} hello file:///project <nil>
}

func ExampleClient_Listen() {
	ctx := context.Background()
	s := newEverything()
	c, err := client.Connect(ctx, &inMemory{handler: s}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	changed := make(chan mcp.Event)
	sub, err := c.Listen(ctx, mcp.SubscriptionFilter{ResourceSubscriptions: []string{"note://1"}}, func(e mcp.Event) { changed <- e })
	if err != nil {
		fmt.Println(err)
		return
	}
	defer sub.Close()
	s.ResourceUpdated("note://1")
	e := <-changed
	fmt.Println(e.Method, e.URI)
	// Output: notifications/resources/updated note://1
}

// JSON-RPC alone: the other end of the pipe could be any program.
func ExampleRPC() {
	near, far := peer.Pipe()
	g := &greeter{}
	g.server = peer.New(far, g, nil)
	rpc := client.NewRPC(near)

	var work sync.WaitGroup
	work.Go(func() { _ = g.server.Run(context.Background()) })
	work.Go(func() { // processes responses and notifications
		if err := rpc.Listen(); err != nil {
			fmt.Println(err)
		}
	})
	defer work.Wait()
	defer rpc.Close()

	heard := make(chan struct{})
	rpc.OnNotification("server/hello", func(params jsontext.Value) error {
		fmt.Println("notification:", params)
		close(heard)
		return nil
	})
	ctx := context.Background()
	if err := rpc.Notify(ctx, "client/initialized", map[string]string{"status": "ready"}); err != nil {
		fmt.Println(err)
	}
	<-heard
	var result struct {
		Message string `json:"message"`
	}
	err := rpc.Call(ctx, "echo", map[string]string{"name": "World"}, &result)
	fmt.Println(result.Message, err)
	err = rpc.Call(ctx, "sing", nil, nil)
	fmt.Println(err)
	// Output:
	// notification: {"from":"greeter"}
	// Hello, World! <nil>
	// Method not found: sing (-32601)
}

// greeter is the server of the example.
type greeter struct{ server *peer.Peer }

func (*greeter) Answer(_ context.Context, r *peer.Request) (any, error) {
	if r.Method != "echo" {
		return nil, jsonrpc.MethodNotFound(r.Method)
	}
	var params struct {
		Name string `json:"name"`
	}
	if err := decodeInto(r.Params, &params); err != nil {
		return nil, jsonrpc.InvalidParams("%v", err)
	}
	return map[string]string{"message": "Hello, " + params.Name + "!"}, nil
}

func (g *greeter) Notice(ctx context.Context, _ string, _ []byte) {
	_ = g.server.Notify(ctx, "server/hello", map[string]string{"from": "greeter"})
}
