// Command server offers what the protocol's conformance suite looks for, written
// as any user of the toolkit would write it. One process serves every revision:
//
//	go run ./conformance/server -http 127.0.0.1:8080
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/bossman-mcp/bossman/deferred"
	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/streamable"
)

func main() {
	addr := flag.String("http", streamable.DefaultAddr, "address to listen on")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	s := newServer()
	later := deferred.New(s, &deferred.Options{PollInterval: 100 * time.Millisecond})
	addDeferredTools(s, later)
	endpoint := streamable.Handler(s, &streamable.Options{AlwaysStream: true})
	mux := http.NewServeMux()
	mux.Handle("/mcp", endpoint)
	err = streamable.Run(ctx, l, streamable.NewServer(*addr, mux), endpoint)
	_ = later.Close(ctx) // the signal has come: what is left is told to stop
	if err != nil {
		log.Fatal(err)
	}
}

func newServer() *server.Server {
	s := server.New("bossman-conformance", "1.0.0", nil)
	addContentTools(s)
	addReportingTools(s)
	addChangingTools(s)
	addQuestionTools(s)
	addRoundTools(s)
	addSchemaTools(s)
	addResources(s)
	addPrompts(s)
	addSkills(s)
	return s
}
