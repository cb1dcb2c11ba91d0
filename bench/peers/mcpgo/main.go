// Command mcpgo is the contract of the benchmark served by mcp-go, used as its
// documentation shows: typed tools and default options.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"runtime"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

type pair struct {
	A float64 `json:"a" jsonschema:"required" jsonschema_description:"First number"`
	B float64 `json:"b" jsonschema:"required" jsonschema_description:"Second number"`
}

type sum struct {
	Sum float64 `json:"sum" jsonschema_description:"The sum of a and b"`
}

type speech struct {
	Text string `json:"text" jsonschema:"required" jsonschema_description:"What to say"`
}

type nap struct {
	MS int `json:"ms" jsonschema:"required" jsonschema_description:"How long to sleep, in milliseconds"`
}

type steps struct {
	N int `json:"n" jsonschema:"required" jsonschema_description:"How many steps to report"`
}

type search struct {
	Query  string   `json:"query" jsonschema:"required" jsonschema_description:"Words that the documents must hold"`
	Limit  int      `json:"limit,omitempty" jsonschema_description:"How many documents to return at most"`
	Tags   []string `json:"tags,omitempty" jsonschema_description:"Tags that the documents must all have"`
	Since  string   `json:"since,omitempty" jsonschema_description:"The oldest date to look at, such as 2026-01-31"`
	Author author   `json:"author,omitempty" jsonschema_description:"Who wrote the documents"`
}

type author struct {
	Name  string `json:"name" jsonschema:"required" jsonschema_description:"Full name"`
	Email string `json:"email,omitempty" jsonschema_description:"Address"`
}

func add(_ context.Context, _ mcp.CallToolRequest, in pair) (*mcp.CallToolResult, error) {
	total := in.A + in.B
	return mcp.NewToolResultStructured(sum{total}, strconv.FormatFloat(total, 'f', -1, 64)), nil
}

func echo(_ context.Context, _ mcp.CallToolRequest, in speech) (*mcp.CallToolResult, error) {
	return mcp.NewToolResultText(in.Text), nil
}

func slow(ctx context.Context, _ mcp.CallToolRequest, in nap) (*mcp.CallToolResult, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(time.Duration(in.MS) * time.Millisecond):
		return mcp.NewToolResultText("done"), nil
	}
}

// count waits whenever the library's queue of notifications is full, for it would
// drop them otherwise.
func count(ctx context.Context, req mcp.CallToolRequest, in steps) (*mcp.CallToolResult, error) {
	s := server.ServerFromContext(ctx)
	for i := range in.N {
		params := map[string]any{"progressToken": req.Params.Meta.ProgressToken, "progress": i + 1, "total": in.N}
		for {
			err := s.SendNotificationToClient(ctx, "notifications/progress", params)
			if err == nil {
				break
			}
			if !errors.Is(err, server.ErrNotificationChannelBlocked) {
				return nil, err
			}
			runtime.Gosched()
		}
	}
	return mcp.NewToolResultText("done"), nil
}

func find(_ context.Context, _ mcp.CallToolRequest, in search) (*mcp.CallToolResult, error) {
	return mcp.NewToolResultText(in.Query), nil
}

// offer adds a typed tool.
func offer[In any](s *server.MCPServer, name, description string, run mcp.TypedToolHandlerFunc[In], more ...mcp.ToolOption) {
	options := append([]mcp.ToolOption{mcp.WithDescription(description), mcp.WithInputSchema[In]()}, more...)
	s.AddTool(mcp.NewTool(name, options...), mcp.NewTypedToolHandler(run))
}

func newServer(tools int) *server.MCPServer {
	s := server.NewMCPServer("mcpgo", "1.0.0", server.WithToolCapabilities(true))
	offer(s, "add", "Add two numbers together", add, mcp.WithOutputSchema[sum]())
	offer(s, "echo", "Say it again", echo)
	offer(s, "slow", "Sleep for a while", slow)
	offer(s, "count", "Count and report each step", count)
	for i := range tools {
		offer(s, fmt.Sprintf("search_%03d", i), "Search the archive for documents that match, newest first", find)
	}
	return s
}

func main() {
	addr := flag.String("http", "", "address to serve HTTP on; standard input and output without it")
	tools := flag.Int("tools", 0, "how many more tools to offer")
	flag.Parse()
	s := newServer(*tools)
	var err error
	if *addr == "" {
		err = server.ServeStdio(s)
	} else {
		err = server.NewStreamableHTTPServer(s).Start(*addr)
	}
	if err != nil {
		log.Fatal(err)
	}
}
