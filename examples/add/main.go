// Command add is an MCP server with one tool, which adds two numbers.
package main

import (
	"context"
	"log"

	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/stdio"
)

type pair struct {
	A float64 `json:"a" doc:"First number"`
	B float64 `json:"b" doc:"Second number"`
}

type sum struct {
	Result float64 `json:"result" doc:"The sum of a and b"`
}

func main() {
	s := server.New("add", "1.0.0", nil)
	server.Tool(s, "add", "Add two numbers together", func(_ context.Context, in pair) (sum, error) {
		return sum{in.A + in.B}, nil
	})
	if err := stdio.Serve(context.Background(), s, nil); err != nil {
		log.Fatal(err)
	}
}
