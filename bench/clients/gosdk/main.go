// Command gosdk is the official Go SDK's client in the benchmark.
package main

import (
	"context"
	"fmt"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bossman-mcp/bossman/bench/caller"
)

type pair struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

type connected struct{ *mcp.ClientSession }

func (c connected) Add(ctx context.Context, a, b float64) (string, error) {
	result, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "add", Arguments: pair{a, b}})
	if err != nil {
		return "", err
	}
	if len(result.Content) != 1 {
		return "", fmt.Errorf("%d blocks of content", len(result.Content))
	}
	return result.Content[0].(*mcp.TextContent).Text, nil
}

func main() {
	caller.Main(func(ctx context.Context, revision string, command []string) (caller.Client, error) {
		c := mcp.NewClient(&mcp.Implementation{Name: "gosdk", Version: "1.0.0"}, nil)
		transport := &mcp.CommandTransport{Command: exec.Command(command[0], command[1:]...)}
		session, err := c.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: revision})
		if err != nil {
			return nil, err
		}
		return connected{session}, nil
	})
}
