package load_test

import (
	"context"
	"io"
	"log/slog"
	"testing"

	"go.uber.org/goleak"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/internal/lifecycle"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/mcp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = slog.New(slog.DiscardHandler)

// inMemory dials a handler that is served in this process.
type inMemory struct{ mcp.Handler }

func (d inMemory) Dial(context.Context) (peer.Transport, error) {
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	opts := &lifecycle.ConnOptions{}
	opts.Logger = quiet
	go func() { // ends when the client closes its end; goleak waits for it
		_ = lifecycle.Serve(context.Background(), peer.Lines(toServer, fromServer, 0), d.Handler, opts)
	}()
	return peer.Lines(toClient, fromClient, 0), nil
}

// connect returns a client of h that the test closes.
func connect(t testing.TB, h mcp.Handler, opts *client.Options) *client.Client {
	t.Helper()
	if opts == nil {
		opts = &client.Options{}
	}
	opts.Logger = quiet
	c, err := client.Connect(t.Context(), inMemory{h}, opts)
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
