package mcptest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/lifecycle"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/mcp"
)

// Options are what [Connect] can be told; nil means the zero value of each.
type Options struct {
	// Wait is how long the connection waits for the server before it fails the
	// test. 0: 10 seconds.
	Wait time.Duration
	// Capabilities are what [Conn.Handshake] and [Conn.Request] say the client
	// can do.
	Capabilities mcp.ClientCapabilities
	// Answer answers the server's questions, such as elicitation/create, while
	// [Conn.Request] waits. Its result is written as JSON. Nil: questions are
	// left to [Conn.Receive] and [Conn.Send].
	Answer func(method string, params jsontext.Value) (any, error)
	// Principal is who the server is told is calling. Nil: nobody checked.
	Principal *mcp.Principal
	// StateSecret seals the state of questions; connections that share it can
	// take up each other's. Nil: random.
	StateSecret []byte
	// StateTTL is how long a question may wait for its answer. 0: 10 minutes.
	StateTTL time.Duration
	// Wrap goes around the server's end of the connection, for a [Recorder] or
	// for faults. Nil: nothing.
	Wrap func(peer.Transport) peer.Transport
	// Logger hears of what the server cannot report to its client. Nil: the
	// test's log.
	Logger *slog.Logger
}

// Conn is the client's end of a connection to a handler under test. What goes
// wrong fails the test, so its methods belong to the test's goroutine, but for
// Send, which any may call. The test's end closes it. It works inside a bubble of
// testing/synctest too.
type Conn struct {
	t    testing.TB
	opts Options

	input     *io.PipeWriter // to the server
	serverIn  *io.PipeReader // the other end of input
	output    *io.PipeReader // from the server
	serverOut *io.PipeWriter // the other end of output
	inbox     *inbox

	cancel context.CancelFunc
	done   chan struct{} // closed after served is set
	served error         // what serving ended with

	handshake bool // requests leave out what a handshake settled
	lastID    atomic.Int64
	finish    sync.Once
}

// Connect serves h, in the background, to the connection it returns.
func Connect(t testing.TB, h mcp.Handler, opts *Options) *Conn {
	t.Helper()
	c := &Conn{t: t, inbox: newInbox(), done: make(chan struct{})}
	if opts != nil {
		c.opts = *opts
	}
	if c.opts.Wait == 0 {
		c.opts.Wait = 10 * time.Second
	}
	log := &testLog{to: t.Output()}
	if c.opts.Logger == nil {
		c.opts.Logger = slog.New(slog.NewTextHandler(log, nil))
	}
	c.serverIn, c.input = io.Pipe()
	c.output, c.serverOut = io.Pipe()
	transport := peer.Lines(c.serverIn, c.serverOut, 0)
	if c.opts.Wrap != nil {
		transport = c.opts.Wrap(transport)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context())) // a test ends the input first, then waits
	c.cancel = cancel
	go c.serve(ctx, transport, h) // close waits for it
	go c.read()                   // close waits for it too
	t.Cleanup(func() {
		t.Helper()
		c.Close()
		log.close()
	})
	return c
}

func (c *Conn) serve(ctx context.Context, t peer.Transport, h mcp.Handler) {
	opts := &lifecycle.ConnOptions{Principal: c.opts.Principal}
	opts.Logger, opts.StateTTL = c.opts.Logger, c.opts.StateTTL
	if c.opts.StateSecret != nil {
		opts.Sealer = lifecycle.NewSealer(c.opts.StateSecret)
	}
	c.served = lifecycle.Serve(ctx, t, h, opts)
	_ = c.serverOut.Close()
	close(c.done)
}

// read takes every line as it comes, so that the server is never blocked by a
// test that does not look.
func (c *Conn) read() {
	defer c.inbox.end()
	lines := bufio.NewReader(c.output)
	for {
		line, err := lines.ReadString('\n')
		if line = strings.TrimSuffix(line, "\n"); line != "" {
			c.inbox.add(line)
		}
		if err != nil {
			return
		}
	}
}

// Send sends a line to the server, whatever it holds.
func (c *Conn) Send(line string) {
	c.t.Helper()
	if err := c.send(line); err != nil {
		c.t.Errorf("send %s: %v", shorten(line), err)
	}
}

func (c *Conn) send(line string) error {
	timer := time.AfterFunc(c.opts.Wait, func() {
		_ = c.serverIn.CloseWithError(errors.New("the server does not read its input"))
	})
	defer timer.Stop()
	_, err := io.WriteString(c.input, line+"\n")
	return err
}

// Receive returns the next line from the server that was not yet received. It
// fails the test when none comes.
func (c *Conn) Receive() string {
	c.t.Helper()
	line, err := c.inbox.take(c.opts.Wait, nil)
	if err != nil {
		c.t.Fatalf("receive: %v", err)
	}
	return line
}

// Close ends the client's side and waits until the server has ended too. What
// it sent in the meantime can still be received, see also [Conn.Unread]. The
// test fails if the server does not end in good order.
func (c *Conn) Close() {
	c.t.Helper()
	c.finish.Do(func() {
		c.t.Helper()
		if err := c.close(); err != nil {
			c.t.Errorf("close: %v", err)
		}
	})
}

func (c *Conn) close() error {
	c.closeInput()
	defer c.cancel()
	timer := time.NewTimer(c.opts.Wait)
	defer timer.Stop()
	select {
	case <-c.done:
		_, _ = c.inbox.take(c.opts.Wait, func(string) bool { return false }) // until the output is read
		return c.served
	case <-timer.C:
	}
	c.cancel()
	_ = c.output.CloseWithError(errors.New("the test has ended"))
	select {
	case <-c.done:
		return errors.New("the server did not end with its input")
	case <-time.After(2 * time.Second):
		return errors.New("the server did not end, neither with its input nor with its context")
	}
}

func (c *Conn) closeInput() { _ = c.input.Close() }

// Unread returns the lines that came and were not received, without waiting for
// more.
func (c *Conn) Unread() []string { return c.inbox.unread() }

// testLog passes a log on to a test until the test is over, after which tests
// must not be written to.
type testLog struct {
	mu sync.Mutex
	to io.Writer // nil once closed
}

func (l *testLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.to == nil {
		return len(p), nil
	}
	return l.to.Write(p)
}

func (l *testLog) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.to = nil
}

// shorten makes text fit for a message to people.
func shorten(text string) string {
	const most = 300
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(text[:most], ""), len(text))
}
