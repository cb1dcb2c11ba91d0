package client_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/internal/lifecycle"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/stdio"
)

// asServer is the argument that makes the test binary a server, so that tests can
// start a process.
const asServer = "serve-as-adder"

// andWait is the argument that gives such a server a tool that never returns.
const andWait = "and-wait"

func TestMain(m *testing.M) {
	if slices.Contains(os.Args[1:], asServer) {
		s := newAdder()
		server.Tool(s, "die", "Ends the process", func(context.Context, struct{}) (string, error) {
			fmt.Fprintln(os.Stderr, "farewell")
			os.Exit(3)
			return "", nil
		})
		if slices.Contains(os.Args[1:], andWait) {
			server.Tool(s, "wait", "Waits until nobody wants it", func(ctx context.Context, _ struct{}) (string, error) {
				<-ctx.Done()
				return "", ctx.Err()
			})
		}
		if err := stdio.Serve(context.Background(), s, nil); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

var quiet = slog.New(slog.DiscardHandler)

// inMemory dials a handler that is served in this process, over lines as a child
// would be.
type inMemory struct {
	handler mcp.Handler

	mu    sync.Mutex
	dials int
	kill  []func()
}

func (d *inMemory) Dial(context.Context) (peer.Transport, error) {
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dials++
	d.kill = append(d.kill, func() { // as a crash does, without a last word
		_ = fromServer.CloseWithError(io.EOF)
		_ = toServer.CloseWithError(io.ErrClosedPipe)
		cancel()
	})
	opts := &lifecycle.ConnOptions{}
	opts.Logger = quiet
	go func() { // ends when the client closes its end; goleak waits for it
		defer cancel()
		_ = lifecycle.Serve(ctx, peer.Lines(toServer, fromServer, 0), d.handler, opts)
	}()
	return peer.Lines(toClient, fromClient, 0), nil
}

// crash ends the newest connection from the server's side.
func (d *inMemory) crash() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kill[len(d.kill)-1]()
}

func (d *inMemory) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dials
}

// connect returns a client that the test closes.
func connect(t testing.TB, d client.Dialer, opts *client.Options) *client.Client {
	t.Helper()
	if opts == nil {
		opts = &client.Options{}
	}
	if opts.Logger == nil {
		opts.Logger = quiet
	}
	c, err := client.Connect(t.Context(), d, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return c
}
