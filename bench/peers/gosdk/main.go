// Command gosdk is the contract of the benchmark served by the official Go SDK,
// used as its documentation shows: typed tools and default options.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net/http"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type pair struct {
	A float64 `json:"a" jsonschema:"First number"`
	B float64 `json:"b" jsonschema:"Second number"`
}

type sum struct {
	Sum float64 `json:"sum" jsonschema:"The sum of a and b"`
}

type speech struct {
	Text string `json:"text" jsonschema:"What to say"`
}

type nap struct {
	MS int `json:"ms" jsonschema:"How long to sleep, in milliseconds"`
}

type steps struct {
	N int `json:"n" jsonschema:"How many steps to report"`
}

type search struct {
	Query  string   `json:"query" jsonschema:"Words that the documents must hold"`
	Limit  int      `json:"limit,omitempty" jsonschema:"How many documents to return at most"`
	Tags   []string `json:"tags,omitempty" jsonschema:"Tags that the documents must all have"`
	Since  string   `json:"since,omitempty" jsonschema:"The oldest date to look at, such as 2026-01-31"`
	Author author   `json:"author,omitzero" jsonschema:"Who wrote the documents"`
}

type author struct {
	Name  string `json:"name" jsonschema:"Full name"`
	Email string `json:"email,omitempty" jsonschema:"Address"`
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

func add(_ context.Context, _ *mcp.CallToolRequest, in pair) (*mcp.CallToolResult, sum, error) {
	total := in.A + in.B
	return text(strconv.FormatFloat(total, 'f', -1, 64)), sum{total}, nil
}

func echo(_ context.Context, _ *mcp.CallToolRequest, in speech) (*mcp.CallToolResult, any, error) {
	return text(in.Text), nil, nil
}

func slow(ctx context.Context, _ *mcp.CallToolRequest, in nap) (*mcp.CallToolResult, any, error) {
	select {
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	case <-time.After(time.Duration(in.MS) * time.Millisecond):
		return text("done"), nil, nil
	}
}

func count(ctx context.Context, req *mcp.CallToolRequest, in steps) (*mcp.CallToolResult, any, error) {
	token := req.Params.GetProgressToken()
	for i := range in.N {
		err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: float64(i + 1), Total: float64(in.N),
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return text("done"), nil, nil
}

func find(_ context.Context, _ *mcp.CallToolRequest, in search) (*mcp.CallToolResult, any, error) {
	return text(in.Query), nil, nil
}

func newServer(tools int) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "gosdk", Version: "1.0.0"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "add", Description: "Add two numbers together"}, add)
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "Say it again"}, echo)
	mcp.AddTool(s, &mcp.Tool{Name: "slow", Description: "Sleep for a while"}, slow)
	mcp.AddTool(s, &mcp.Tool{Name: "count", Description: "Count and report each step"}, count)
	for i := range tools {
		mcp.AddTool(s, &mcp.Tool{
			Name: fmt.Sprintf("search_%03d", i), Description: "Search the archive for documents that match, newest first",
		}, find)
	}
	return s
}

// serveHTTP routes on the version header, since the SDK serves the newest revision
// only without sessions, and sessions only with them.
func serveHTTP(addr string, s *mcp.Server) error {
	get := func(*http.Request) *mcp.Server { return s }
	stateful := mcp.NewStreamableHTTPHandler(get, nil)
	stateless := mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true})
	http.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") == "2026-07-28" {
			stateless.ServeHTTP(w, r)
			return
		}
		stateful.ServeHTTP(w, r)
	})
	return http.ListenAndServe(addr, nil)
}

func main() {
	addr := flag.String("http", "", "address to serve HTTP on; standard input and output without it")
	tools := flag.Int("tools", 0, "how many more tools to offer")
	flag.Parse()
	s := newServer(*tools)
	var err error
	if *addr == "" {
		err = s.Run(context.Background(), &mcp.StdioTransport{})
	} else {
		err = serveHTTP(*addr, s)
	}
	if err != nil {
		log.Fatal(err)
	}
}
