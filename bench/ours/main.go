// Command ours is the contract of the benchmark served by this toolkit, used as
// its documentation shows.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/stdio"
	"github.com/bossman-mcp/bossman/streamable"
)

type pair struct {
	A float64 `json:"a" doc:"First number"`
	B float64 `json:"b" doc:"Second number"`
}

type sum struct {
	Sum float64 `json:"sum" doc:"The sum of a and b"`
}

type speech struct {
	Text string `json:"text" doc:"What to say"`
}

type nap struct {
	MS int `json:"ms" doc:"How long to sleep, in milliseconds"`
}

type steps struct {
	N int `json:"n" doc:"How many steps to report"`
}

type search struct {
	Query  string   `json:"query" doc:"Words that the documents must hold"`
	Limit  int      `json:"limit,omitzero" doc:"How many documents to return at most"`
	Tags   []string `json:"tags,omitzero" doc:"Tags that the documents must all have"`
	Since  string   `json:"since,omitzero" doc:"The oldest date to look at, such as 2026-01-31"`
	Author author   `json:"author,omitzero" doc:"Who wrote the documents"`
}

type author struct {
	Name  string `json:"name" doc:"Full name"`
	Email string `json:"email,omitzero" doc:"Address"`
}

// Text is the sum in words, beside the structured content.
func (s sum) Text() string { return strconv.FormatFloat(s.Sum, 'f', -1, 64) }

func add(_ context.Context, in pair) (sum, error) { return sum{in.A + in.B}, nil }

func echo(_ context.Context, in speech) (string, error) { return in.Text, nil }

func slow(ctx context.Context, in nap) (string, error) {
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case <-time.After(time.Duration(in.MS) * time.Millisecond):
		return "done", nil
	}
}

func count(ctx context.Context, c *mcp.Call, in steps) (string, error) {
	for i := range in.N {
		if err := c.Progress(ctx, float64(i+1), float64(in.N), ""); err != nil {
			return "", err
		}
	}
	return "done", nil
}

func find(_ context.Context, in search) (string, error) { return in.Query, nil }

func newServer(tools int) *server.Server {
	s := server.New("ours", "1.0.0", nil)
	server.Tool(s, "add", "Add two numbers together", add)
	server.Tool(s, "echo", "Say it again", echo)
	server.Tool(s, "slow", "Sleep for a while", slow)
	s.AddTool(mcp.Tool{Name: "count", Description: "Count and report each step"}, server.CallFunc(count))
	for i := range tools {
		server.Tool(s, fmt.Sprintf("search_%03d", i), "Search the archive for documents that match, newest first", find)
	}
	return s
}

func run(addr string, tools int) error {
	s := newServer(tools)
	if addr == "" {
		return stdio.Serve(context.Background(), s, nil)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	endpoint := streamable.Handler(s, nil)
	mux := http.NewServeMux()
	mux.Handle("/mcp", endpoint)
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	return streamable.Run(ctx, listener, streamable.NewServer(addr, mux), endpoint)
}

func main() {
	addr := flag.String("http", "", "address to serve HTTP on; standard input and output without it")
	tools := flag.Int("tools", 0, "how many more tools to offer")
	flag.Parse()
	if err := run(*addr, *tools); err != nil {
		log.Fatal(err)
	}
}
