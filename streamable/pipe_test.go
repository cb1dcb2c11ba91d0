package streamable_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/streamable"
)

// pipeListener is a network in memory, for tests whose clock is not real.
type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (l *pipeListener) dial(ctx context.Context) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case l.conns <- there:
		return here, nil
	case <-l.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// serve serves h by the server of NewServer until the test ends.
func (l *pipeListener) serve(t *testing.T, h mcp.Handler, opts *streamable.Options) *site {
	o := *opts
	o.Logger = slog.New(slog.DiscardHandler)
	e := streamable.Handler(h, &o)
	srv := streamable.NewServer("", e)
	ended := make(chan struct{})
	go func() { // the cleanup waits for it
		defer close(ended)
		_ = srv.Serve(l)
	}()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return l.dial(ctx) }}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		shutdown(t, e)
		_ = srv.Close()
		<-ended
	})
	return &site{t: t, e: e, client: &http.Client{Transport: transport}, url: "http://pipe.example/mcp"}
}
