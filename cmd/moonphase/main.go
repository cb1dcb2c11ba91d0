// Command moonphase is an MCP server over HTTP that knows the phase of the moon.
// It is small enough to learn from; its README walks through it.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/bossman-mcp/bossman/oauth/resource"
	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/streamable"
)

const address = "127.0.0.1:8181"

type question struct {
	DateTime string `json:"datetime,omitzero" doc:"Date and time, such as 2026-07-29T14:36:00Z; a date alone means midnight UTC, nothing means now"`
}

type answer struct {
	Age          float64 `json:"age" doc:"Days since the last new moon"`
	Illumination int     `json:"illumination" doc:"How much of the disc is lit, in percent" min:"0" max:"100"`
}

// moonphase answers a call of the tool.
func moonphase(_ context.Context, in question) (answer, error) {
	t, err := parseTime(in.DateTime)
	if err != nil {
		return answer{}, err
	}
	age, illumination := Phase(t)
	return answer{math.Round(age*1000) / 1000, illumination}, nil
}

// parseTime reads a date and time in the usual forms. Without a zone it is UTC.
func parseTime(text string) (time.Time, error) {
	if text == "" {
		return time.Now(), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no date and time; write it like 2026-07-29T14:36:00Z, or leave it out for now", text)
}

// newHandler serves the tool at /mcp to those who hold the key, and 404 elsewhere.
func newHandler(key string) (http.Handler, *streamable.Endpoint, error) {
	keys, err := resource.Keys([]resource.Key{{Name: "moonphase", Secret: key}}, nil)
	if err != nil {
		return nil, nil, err
	}
	s := server.New("moonphase", "1.0.0", &server.Options{FixedLists: true})
	server.Tool(s, "moonphase", "Calculate the phase of the moon", moonphase)
	endpoint := streamable.Handler(s, nil)
	mux := http.NewServeMux()
	mux.Handle("/mcp", resource.Require(endpoint, &resource.Options{Headers: []string{"X-Api-Token"}}, keys))
	return mux, endpoint, nil
}

func run(ctx context.Context) error {
	key := os.Getenv("MOONPHASE_API_KEY")
	if key == "" {
		return errors.New("set MOONPHASE_API_KEY to the key that clients must send as X-Api-Token")
	}
	handler, endpoint, err := newHandler(key)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	log.Printf("moonphase serves http://%s/mcp", address)
	return streamable.Run(ctx, listener, streamable.NewServer(address, handler), endpoint)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal("moonphase: ", err)
	}
}
