package peer

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/bossman-mcp/bossman/jsonrpc"
)

// Handler answers what the other side sends.
type Handler interface {
	// Answer answers one request. It runs on a goroutine of its own; ctx ends
	// when the request is cancelled or the connection closes. The result is
	// written as [jsonrpc.AppendValue] does. An error that holds a
	// [*jsonrpc.Error] is sent as that; any other becomes an internal error that
	// says no more than that. The result [Open] leaves the request unanswered
	// for the handler to finish later.
	Answer(ctx context.Context, r *Request) (any, error)
	// Notice takes one notification, on the reading goroutine: it must return
	// soon.
	Notice(ctx context.Context, method string, params []byte)
}

// Options are what a [Peer] can be told; nil means the zero value of each.
type Options struct {
	// InOrder picks the requests that are answered on the reading goroutine,
	// before the next message is read. Nil: none.
	InOrder func(method string) bool
	// Batches reports whether the other side may send a batch now. Nil: never.
	Batches func() bool
	// OnEnd is called once no more input will be read, before Run waits for the
	// requests in flight: the time to finish those that were left [Open]. Nil:
	// nothing.
	OnEnd func()
	// Quiet logs messages that cannot be read instead of answering them, as one
	// does with a child that prints on its output.
	Quiet bool
	// MaxBatch is how many messages a batch may hold. 0: 100.
	MaxBatch int
	// MaxInFlight is how many requests of the other side run at once; more are
	// refused. 0: 10,000.
	MaxInFlight int
	// Drain is how long requests in flight may go on after the end of input,
	// before their contexts end. 0: half a second.
	Drain time.Duration
	// Logger hears of what the protocol cannot report. Nil: slog.Default().
	Logger *slog.Logger
}

// Peer is one end of a connection. Its methods may be called from many
// goroutines.
type Peer struct {
	transport Transport
	handler   Handler
	opts      Options
	log       *slog.Logger

	table table
	calls sync.WaitGroup // goroutines that answer requests or send cancellations
}

// New returns the peer that speaks over t and lets h answer. It does nothing
// until [Peer.Run].
func New(t Transport, h Handler, opts *Options) *Peer {
	p := &Peer{transport: t, handler: h}
	if opts != nil {
		p.opts = *opts
	}
	if p.opts.MaxBatch == 0 {
		p.opts.MaxBatch = 100
	}
	if p.opts.MaxInFlight == 0 {
		p.opts.MaxInFlight = 10_000
	}
	if p.opts.Drain == 0 {
		p.opts.Drain = 500 * time.Millisecond
	}
	if p.log = p.opts.Logger; p.log == nil {
		p.log = slog.Default()
	}
	p.table.init()
	return p
}

// Run reads and serves until the end of input or of ctx, neither of which is an
// error, or until the transport fails. Then it takes nothing new, fails the
// calls that wait for an answer, lets the requests in flight finish for
// [Options.Drain], cancels the rest and closes the transport. A handler that
// ignores its context for another 400 ms is left behind, and logged.
func (p *Peer) Run(ctx context.Context) error {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	input := make(chan error, 1)
	go func() { input <- p.read(work) }() // awaited at the end, unless its read cannot be interrupted

	var err error
	ended := false
	select {
	case err = <-input:
		ended = true
	case <-ctx.Done():
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	p.table.close(errors.Join(ErrClosed, err))
	if p.opts.OnEnd != nil {
		p.opts.OnEnd()
	}
	p.finish(cancel)
	_ = p.transport.Close()
	if !ended {
		select {
		case <-input:
		case <-time.After(100 * time.Millisecond):
		}
	}
	return err
}

// Close ends the connection at once. Run returns soon after.
func (p *Peer) Close() error { return p.transport.Close() }

// read serves messages until the transport ends.
func (p *Peer) read(ctx context.Context) error {
	for {
		message, err := p.transport.Receive(ctx)
		switch {
		case errors.Is(err, ErrTooLong):
			p.refuse(ctx, jsonrpc.ID{}, jsonrpc.InvalidRequest("%v", err), wire{p})
		case err != nil:
			return err
		case jsonrpc.IsBatch(message):
			p.takeBatch(ctx, message)
		default:
			p.take(ctx, message, wire{p})
		}
	}
}

// finish waits for the requests in flight: with patience first, and a little
// longer after they were told to stop.
func (p *Peer) finish(cancel context.CancelFunc) {
	idle := make(chan struct{})
	go func() { // ends with the last request
		p.calls.Wait()
		close(idle)
	}()
	select {
	case <-idle:
		return
	case <-time.After(p.opts.Drain):
	}
	cancel()
	select {
	case <-idle:
	case <-time.After(400 * time.Millisecond):
		p.log.Error("requests still running after the connection closed", "count", p.table.running())
	}
}

// sink is where the responses to one text belong: the wire, or a batch. Each
// request that enters leaves, answered or not.
type sink interface {
	enter()
	put(ctx context.Context, response []byte)
	leave()
}

// wire sends each response by itself.
type wire struct{ p *Peer }

func (wire) enter() {}
func (wire) leave() {}

func (w wire) put(ctx context.Context, response []byte) {
	if err := w.p.transport.Send(context.WithoutCancel(ctx), response); err != nil {
		w.p.log.Debug("send response", "error", err)
	}
}

// take serves one message.
func (p *Peer) take(ctx context.Context, text []byte, to sink) {
	m, err := jsonrpc.Parse(text)
	switch {
	case err != nil:
		p.refuse(ctx, m.ID, err, to)
	case m.IsRequest():
		p.serve(ctx, &m, to)
	case m.IsNotification():
		p.notice(ctx, &m)
	case !p.table.resolve(&m):
		p.log.Warn("dropped a response that nobody waits for", "id", m.ID.String())
	}
}

// refuse answers, or in quiet mode logs, a message that cannot be served.
func (p *Peer) refuse(ctx context.Context, id jsonrpc.ID, err error, to sink) {
	if p.opts.Quiet {
		p.log.Warn("skipped what is no message", "error", err)
		return
	}
	to.put(ctx, appendFailure(nil, id, err))
}
