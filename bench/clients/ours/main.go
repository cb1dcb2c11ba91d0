// Command ours is the client of this toolkit in the benchmark.
package main

import (
	"context"

	"github.com/bossman-mcp/bossman/bench/caller"
	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/stdio"
)

type pair struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

type connected struct{ *client.Client }

func (c connected) Add(ctx context.Context, a, b float64) (string, error) {
	result, err := c.CallTool(ctx, "add", pair{a, b}, nil)
	if err != nil {
		return "", err
	}
	return client.TextOf(result.Content), nil
}

func main() {
	caller.Main(func(ctx context.Context, revision string, command []string) (caller.Client, error) {
		c, err := client.Connect(ctx, stdio.Command(command[0], command[1:]...), &client.Options{Revision: revision})
		if err != nil {
			return nil, err
		}
		return connected{c}, nil
	})
}
