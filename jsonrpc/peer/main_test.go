package peer_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// handler answers with its functions; what is nil answers with an empty object
// and takes no notice.
type handler struct {
	answer func(ctx context.Context, r *peer.Request) (any, error)
	notice func(ctx context.Context, method string, params []byte)
}

func (h handler) Answer(ctx context.Context, r *peer.Request) (any, error) {
	if h.answer == nil {
		return struct{}{}, nil
	}
	return h.answer(ctx, r)
}

func (h handler) Notice(ctx context.Context, method string, params []byte) {
	if h.notice != nil {
		h.notice(ctx, method, params)
	}
}

// answering returns a handler that only answers.
func answering(answer func(ctx context.Context, r *peer.Request) (any, error)) handler {
	return handler{answer: answer}
}

// running is a call of Run.
type running struct {
	done chan struct{} // closed when it returned
	err  error         // what it returned
}

// wait waits for Run to return, but not forever.
func (r *running) wait(t *testing.T) error {
	t.Helper()
	select {
	case <-r.done:
		return r.err
	case <-time.After(30 * time.Second):
		t.Error("Run does not return")
		return nil
	}
}

// far is the other end of a connection, played by the test message by message.
type far struct {
	t *testing.T
	peer.Transport
	*running
}

// connect starts a peer and returns it with its other end. The peer ends with
// the test, which fails if Run then returns an error or does not return.
func connect(t *testing.T, h peer.Handler, opts *peer.Options) (*peer.Peer, *far) {
	t.Helper()
	near, end := peer.Pipe()
	p, r := run(t, near, h, opts)
	return p, &far{t, end, r}
}

// connectLines is connect over pipes whose two directions end separately: in is
// what the peer reads, out what it writes.
func connectLines(t *testing.T, h peer.Handler, opts *peer.Options) (p *peer.Peer, f *far, in *io.PipeWriter, out *io.PipeReader) {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p, r := run(t, peer.Lines(inR, outW, 0), h, opts)
	return p, &far{t, peer.Lines(outR, inW, 0), r}, inW, outR
}

// run starts a peer over any transport, to be ended with the test.
func run(t *testing.T, tr peer.Transport, h peer.Handler, opts *peer.Options) (*peer.Peer, *running) {
	t.Helper()
	return runUntil(t, context.Background(), tr, h, opts)
}

func runUntil(t *testing.T, ctx context.Context, tr peer.Transport, h peer.Handler, opts *peer.Options) (*peer.Peer, *running) {
	t.Helper()
	var o peer.Options
	if opts != nil {
		o = *opts
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	p := peer.New(tr, h, &o)
	r := &running{done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.err = p.Run(ctx)
	}()
	t.Cleanup(func() {
		_ = p.Close()
		if err := r.wait(t); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return p, r
}

// send sends one message as it is.
func (f *far) send(text string) {
	f.t.Helper()
	if err := f.Send(f.t.Context(), []byte(text)); err != nil {
		f.t.Fatalf("send %.200s: %v", text, err)
	}
}

// next returns the next message of the peer.
func (f *far) next() string {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), 30*time.Second)
	defer cancel()
	text, err := f.Receive(ctx)
	if err != nil {
		f.t.Fatalf("receive: %v", err)
	}
	return string(text)
}

// want fails the test unless the next message is text.
func (f *far) want(text string) {
	f.t.Helper()
	if got := f.next(); got != text {
		f.t.Fatalf("got  %.500s\nwant %.500s", got, text)
	}
}

// wantError fails the test unless the next message is an error with the id, as
// it is written, and the code.
func (f *far) wantError(id string, code int) *jsonrpc.Error {
	f.t.Helper()
	text := f.next()
	m, err := jsonrpc.Parse([]byte(text))
	if err != nil || m.Error == nil || m.ID.String() != id || m.Error.Code != code {
		f.t.Fatalf("got %.500s, want error %d with the id %q", text, code, id)
	}
	return m.Error
}

// quiet fails the test if the peer has sent anything that was not received. It
// works in a synctest bubble only, where it waits until nothing moves.
func (f *far) quiet() {
	f.t.Helper()
	synctest.Wait()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if text, err := f.Receive(ctx); err == nil {
		f.t.Fatalf("got %.500s, want nothing", text)
	}
}

// request returns the text of a request; id is as it is written.
func request(id, method string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `"}`
}

// empty returns the text of the answer that handlers give unless told otherwise.
func empty(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":{}}` }

// cancelled returns the notification that gives up a request.
func cancelled(id string) string {
	return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"enough"}}`
}

// journal is a logger's output that many goroutines write to.
type journal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(p)
}

func (j *journal) contains(s string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Contains(j.buf.String(), s)
}

func (j *journal) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
