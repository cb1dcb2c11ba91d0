// Package stdio carries MCP over standard input and output, one message a line.
package stdio

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/bossman-mcp/bossman/internal/lifecycle"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
)

// Options are what [Serve] can be told; nil means the zero value of each.
type Options struct {
	// In and Out replace standard input and output. Nil: os.Stdin and os.Stdout.
	In  io.Reader
	Out io.Writer
	// Revision holds the server to some protocol revisions: their dates, or the
	// eras handshake and stateless, separated by commas. Empty: all.
	Revision string
	// MaxLine is the longest line taken, in bytes; longer ones are refused and
	// skipped. 0: 16 MiB.
	MaxLine int
	// Drain is how long calls in flight may go on after the end of input. 0:
	// half a second.
	Drain time.Duration
	// StateSecret seals the state that questions to the user send through the
	// client. Processes that answer for each other share it. Nil: random.
	StateSecret []byte
	// OtherStateSecrets open state too, and seal none: the last secret, for the
	// ten minutes after a change in which questions may still be answered, and,
	// where several processes change one after the other, the next secret before
	// that. A secret that is in neither place opens nothing. Nil: none do.
	OtherStateSecrets [][]byte
	// Logger hears of what the protocol cannot report. Nil: text on standard
	// error.
	Logger *slog.Logger
}

// Serve lets h answer the client at standard input and output, in whichever
// protocol revision it speaks. It returns nil when the input ends, when ctx
// ends, or on SIGINT or SIGTERM, after calls in flight have ended.
//
// While it serves, os.Stdout is standard error: what a handler prints does not
// get between the messages.
func Serve(ctx context.Context, h mcp.Handler, opts *Options) error {
	var o Options
	if opts != nil {
		o = *opts
	}
	spoken, err := revision.Select(o.Revision)
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	if o.In == nil {
		o.In = os.Stdin
	}
	ctx, ready, stop := untilTold(ctx)
	defer stop()
	if o.Out == nil {
		stdout := os.Stdout
		o.Out, os.Stdout = &output{stdout, ready}, os.Stderr
		defer func() { os.Stdout = stdout }()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	conn := &lifecycle.ConnOptions{Peer: peer.Options{Drain: o.Drain}}
	conn.Logger, conn.Revisions = o.Logger, spoken
	conn.Sealer = lifecycle.NewSealer(o.StateSecret, o.OtherStateSecrets...)
	return lifecycle.Serve(ctx, peer.Lines(o.In, o.Out, o.MaxLine), h, conn)
}

// output is standard output once it is safe to write to: without a listener for
// SIGPIPE, writing to a client that is gone would kill us.
type output struct {
	*os.File
	ready <-chan struct{}
}

// Write writes to the file.
func (o *output) Write(p []byte) (int, error) {
	<-o.ready
	return o.File.Write(p)
}

// untilTold returns a context that ends on SIGINT or SIGTERM. Listening for signals
// takes a while to begin, and is ready when the channel is closed: so long the first
// request can be read and answered already.
func untilTold(ctx context.Context) (_ context.Context, ready <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	begun, over := make(chan struct{}), make(chan struct{})
	var listening sync.WaitGroup
	listening.Go(func() { // stop waits for it
		broken, told := make(chan os.Signal, 1), make(chan os.Signal, 1)
		signal.Notify(broken, syscall.SIGPIPE)
		defer signal.Stop(broken)
		signal.Notify(told, os.Interrupt, syscall.SIGTERM)
		defer signal.Stop(told)
		close(begun)
		select {
		case <-told:
			cancel()
			<-over
		case <-over:
		}
	})
	return ctx, begun, func() {
		cancel()
		close(over)
		listening.Wait()
	}
}
