// Command mcpgo is mcp-go's client in the benchmark.
package main

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bossman-mcp/bossman/bench/caller"
)

type pair struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

type connected struct{ *client.Client }

func (c connected) Add(ctx context.Context, a, b float64) (string, error) {
	var request mcp.CallToolRequest
	request.Params.Name = "add"
	request.Params.Arguments = pair{a, b}
	result, err := c.CallTool(ctx, request)
	if err != nil {
		return "", err
	}
	if len(result.Content) != 1 {
		return "", fmt.Errorf("%d blocks of content", len(result.Content))
	}
	return result.Content[0].(mcp.TextContent).Text, nil
}

func main() {
	caller.Main(func(ctx context.Context, revision string, command []string) (caller.Client, error) {
		c, err := client.NewStdioMCPClient(command[0], nil, command[1:]...)
		if err != nil {
			return nil, err
		}
		var request mcp.InitializeRequest
		request.Params.ProtocolVersion = revision
		request.Params.ClientInfo = mcp.Implementation{Name: "mcpgo", Version: "1.0.0"}
		got, err := c.Initialize(ctx, request)
		if err != nil {
			return nil, err
		}
		if got.ProtocolVersion != revision {
			return nil, fmt.Errorf("the client speaks %s, want %s", got.ProtocolVersion, revision)
		}
		return connected{c}, nil
	})
}
