package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/fleet"
	"github.com/bossman-mcp/bossman/internal/lifecycle"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/stdio"
)

// The first argument that makes the test binary a server, so that tests can start
// processes: one that works, one that dies, one that never says a word.
const (
	asWorker = "serve-as-worker"
	asDying  = "serve-as-dying"
	asSilent = "serve-as-silent"
)

func TestMain(m *testing.M) {
	role := ""
	if len(os.Args) > 1 {
		role = os.Args[1]
	}
	switch role {
	case asWorker:
		if err := stdio.Serve(context.Background(), newWorker(), nil); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case asDying:
		fmt.Fprintln(os.Stderr, "no licence found")
		os.Exit(3)
	case asSilent:
		time.Sleep(time.Minute)
	default:
		goleak.VerifyTestMain(m)
	}
}

type pair struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

type sum struct {
	Result float64 `json:"result"`
}

// newWorker is a server that adds, shows its environment, crashes, and stops
// answering when it is told to.
func newWorker() *server.Server {
	var wedged atomic.Bool
	s := server.New("worker", "1", nil)
	s.Use(func(next mcp.Handler) mcp.Handler {
		return mcp.HandlerFunc(func(ctx context.Context, c *mcp.Call) (any, error) {
			if wedged.Load() {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return next.Handle(ctx, c)
		})
	})
	server.Tool(s, "add", "Add two numbers together", func(_ context.Context, in pair) (sum, error) {
		return sum{in.A + in.B}, nil
	})
	server.Tool(s, "env", "Show the environment", func(context.Context, struct{}) ([]string, error) {
		return os.Environ(), nil
	})
	server.Tool(s, "crash", "End at once", func(context.Context, struct{}) (string, error) {
		os.Exit(4)
		return "", errors.New("still here")
	})
	server.Tool(s, "wedge", "Answer nothing from now on", func(context.Context, struct{}) (string, error) {
		wedged.Store(true)
		return "done", nil
	})
	return s
}

var quiet = slog.New(slog.DiscardHandler)

// child is the configuration of a process with a role.
func child(role string) fleet.ServerConfig {
	return fleet.ServerConfig{Command: os.Args[0], Args: []string{role}}
}

// launch returns a fleet that the test closes.
func launch(t testing.TB, servers servers, opts *fleet.Options) *fleet.Fleet {
	t.Helper()
	if opts == nil {
		opts = &fleet.Options{}
	}
	opts.Logger = quiet
	f := fleet.New(&fleet.Config{Servers: servers}, opts)
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return f
}

func get(t testing.TB, f *fleet.Fleet, name string) *fleet.Server {
	t.Helper()
	s, err := f.Server(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// inMemory dials a handler that is served in this process, and counts.
type inMemory struct {
	handler mcp.Handler
	err     atomic.Pointer[error] // why dialling fails

	mu    sync.Mutex
	dials int
	kill  func()
}

func (d *inMemory) Dial(context.Context) (peer.Transport, error) {
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dials++
	if err := d.err.Load(); err != nil {
		cancel()
		return nil, *err
	}
	d.kill = func() {
		_ = fromServer.CloseWithError(io.EOF)
		_ = toServer.CloseWithError(io.ErrClosedPipe)
		cancel()
	}
	opts := &lifecycle.ConnOptions{}
	opts.Logger = quiet
	go func() { // ends when the client closes its end; goleak waits for it
		defer cancel()
		_ = lifecycle.Serve(ctx, peer.Lines(toServer, fromServer, 0), d.handler, opts)
	}()
	return peer.Lines(toClient, fromClient, 0), nil
}

func (d *inMemory) crash() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kill()
}

func (d *inMemory) fail(err error) { d.err.Store(&err) }

func (d *inMemory) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dials
}

// dialAll makes a dialer the way to every server.
func dialAll(d client.Dialer) func(string, fleet.ServerConfig) client.Dialer {
	return func(string, fleet.ServerConfig) client.Dialer { return d }
}
