package peer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
)

// greeter answers hello, and knows nothing else.
type greeter struct{ name string }

func (g greeter) Answer(_ context.Context, r *peer.Request) (any, error) {
	if r.Method != "hello" {
		return nil, jsonrpc.MethodNotFound(r.Method)
	}
	var who struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(r.Params, &who); err != nil {
		return nil, jsonrpc.InvalidParams("name must be a string")
	}
	return "hello " + who.Name + ", I am " + g.name, nil
}

func (greeter) Notice(context.Context, string, []byte) {}

// A peer answers what it reads, until its input ends.
func ExamplePeer_Run() {
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"hello","params":{"name":"Ada"}}` + "\n")
	var out strings.Builder
	err := peer.New(peer.Lines(in, &out, 0), greeter{"Bob"}, nil).Run(context.Background())
	fmt.Print(out.String(), err)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":"hello Ada, I am Bob"}
	// <nil>
}

// Both ends of a connection may call.
func ExamplePeer_Call() {
	left, right := peer.Pipe()
	ada := peer.New(left, greeter{"Ada"}, nil)
	bob := peer.New(right, greeter{"Bob"}, nil)

	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 2)
	go func() { done <- ada.Run(ctx) }()
	go func() { done <- bob.Run(ctx) }()

	var greeting string
	err := ada.Call(ctx, "hello", map[string]string{"name": "Ada"}, &greeting)
	fmt.Println(greeting, err)
	err = bob.Call(ctx, "hello", map[string]string{"name": "Bob"}, &greeting)
	fmt.Println(greeting, err)

	err = ada.Call(ctx, "sing", nil, nil)
	var wrong *jsonrpc.Error
	fmt.Println(errors.As(err, &wrong), err)

	cancel()
	fmt.Println(<-done, <-done)
	// Output:
	// hello Ada, I am Bob <nil>
	// hello Bob, I am Ada <nil>
	// true Method not found: sing (-32601)
	// <nil> <nil>
}

// clock sends an event for each request, and answers when there was enough.
type clock struct{}

func (clock) Answer(ctx context.Context, r *peer.Request) (any, error) {
	for hour := range 2 {
		if err := r.Notify(ctx, "strike", map[string]int{"hour": hour + 1}); err != nil {
			return nil, err
		}
	}
	return "enough", nil
}

func (clock) Notice(context.Context, string, []byte) {}

func ExampleRequest_Notify() {
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"listen"}`)
	var out strings.Builder
	err := peer.New(peer.Lines(in, &out, 0), clock{}, nil).Run(context.Background())
	fmt.Print(out.String(), err)
	// Output:
	// {"jsonrpc":"2.0","method":"strike","params":{"hour":1}}
	// {"jsonrpc":"2.0","method":"strike","params":{"hour":2}}
	// {"jsonrpc":"2.0","id":1,"result":"enough"}
	// <nil>
}
