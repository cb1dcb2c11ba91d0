package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/bossman-mcp/bossman/internal/lifetime"
	"github.com/bossman-mcp/bossman/jsonrpc"
)

// Handler answers what the other side sends.
type Handler interface {
	// Answer answers one request. It runs on a goroutine of its own, or, while
	// requests of its [Options.Kind] are short, on the one that reads; others are
	// read all the same after a millisecond. Ctx ends when the request is
	// answered or cancelled or the connection closes. The result is
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
	// Kind tells which requests may be expected to take equally long, such as the
	// calls of one tool. It is called on the reading goroutine, before Answer, and
	// may leave a note in the request. Members are those of the params and of objects
	// in them, see [jsonrpc.Parser], nil if they are not known; Kind must not keep
	// the slice. Nil, and a nil kind: the method is the kind.
	Kind func(r *Request, members []jsonrpc.Member) []byte
	// Batches reports whether the other side may send a batch now. Nil: never.
	Batches func() bool
	// OnEnd is called once no more input will be read, before Run waits for the
	// requests in flight: the time to finish those that were left [Open]. Nil:
	// nothing.
	OnEnd func()
	// OnCancel hears, on the reading goroutine, of cancellations that name nothing
	// of the other side's in flight; a server cancels a subscription of ours so.
	// Nil: they are ignored.
	OnCancel func(id jsonrpc.ID)
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
	gather    gatherer // the transport, if it is one
	handler   Handler
	opts      Options
	log       *slog.Logger

	table   table
	desk    desk
	loan    loan
	paces   paces          // the reader's own
	parser  jsonrpc.Parser // the reader's own
	closing chan struct{}  // closed by Close
	once    sync.Once      // closes closing
}

// New returns the peer that speaks over t and lets h answer. It does nothing
// until [Peer.Run].
func New(t Transport, h Handler, opts *Options) *Peer {
	p := &Peer{transport: t, handler: h, paces: make(paces), closing: make(chan struct{})}
	p.gather, _ = t.(gatherer)
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
	if p.opts.Kind != nil {
		p.parser.Deep = 2
	}
	p.table.init()
	p.loan.open(t)
	return p
}

// Run reads and serves until the end of input or of ctx or until [Peer.Close],
// none of which is an error, or until the transport fails. Then it takes nothing
// new, fails the calls that wait for an answer, lets the requests in flight
// finish for [Options.Drain], cancels the rest and closes the transport. A
// handler that ignores its context for another 400 ms is left behind, and
// logged.
func (p *Peer) Run(ctx context.Context) error {
	work := &lifetime.Context{Values: context.WithoutCancel(ctx)}
	cancel := func() {
		work.Cancel()
		p.table.cancelAll()
	}
	defer cancel()
	input := make(chan error, 1)
	p.desk.open(func() {
		go func() { // awaited at the end, unless its read cannot be interrupted
			if last, err := p.read(work); last {
				input <- err
			}
		}()
	})
	defer p.desk.close()
	p.desk.seat()

	var err error
	ended := false
	select {
	case err = <-input:
		ended = true
	case <-ctx.Done():
	case <-p.closing:
	}
	reason := ErrClosed
	if errors.Is(err, io.EOF) || errors.Is(err, ErrClosed) {
		err = nil
	} else if err != nil {
		reason = fmt.Errorf("%w: %w", ErrClosed, err)
	}
	p.table.close(reason)
	if p.opts.OnEnd != nil {
		p.table.work.Go(p.opts.OnEnd) // aside, since answers block while nobody reads them; finish waits for it
	}
	p.finish(cancel)
	p.loan.recall()
	_ = p.transport.Close()
	if !ended {
		select {
		case <-input:
		case <-time.After(100 * time.Millisecond):
		}
	}
	return err
}

// Close ends the connection at once: what is in flight is not waited for, only
// cancelled. Run returns soon after.
func (p *Peer) Close() error {
	p.once.Do(func() { close(p.closing) })
	p.table.close(ErrClosed)
	p.loan.recall()
	return p.transport.Close()
}

// read serves messages until the transport ends, and returns why, or until
// another goroutine reads in its place, which is then the last to do so.
func (p *Peer) read(ctx context.Context) (last bool, err error) {
	for {
		if !p.deliver() {
			return false, nil
		}
		message, err := p.receive(ctx)
		reading := true
		switch {
		case p.lost(err):
		case errors.Is(err, ErrTooLong):
			p.reject(ctx, jsonrpc.ID{}, jsonrpc.InvalidRequest("%v", err), wire{p})
		case err != nil:
			return true, err
		case jsonrpc.IsBatch(message):
			p.takeBatch(ctx, message)
		default:
			reading = p.take(ctx, message, wire{p})
		}
		if !reading {
			return false, nil
		}
	}
}

// finish waits for the requests in flight: with patience first, and a little
// longer after they were told to stop.
func (p *Peer) finish(cancel func()) {
	idle := make(chan struct{})
	go func() { // ends with the last request
		p.table.work.Wait()
		close(idle)
	}()
	select {
	case <-idle:
		return
	case <-p.closing:
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
// request that enters leaves, answered or not. Put must not keep the response.
type sink interface {
	enter()
	put(ctx context.Context, response []byte)
	leave(ctx context.Context)
}

// wire sends each response by itself.
type wire struct{ p *Peer }

func (wire) enter()                {}
func (wire) leave(context.Context) {}

func (w wire) put(ctx context.Context, response []byte) {
	if err := w.p.transport.Send(lifetime.Uncancelled(ctx), response); err != nil {
		w.p.log.Debug("send response", "error", err)
	}
}

// take serves one message. It reports whether this goroutine still reads.
func (p *Peer) take(ctx context.Context, text []byte, to sink) (reading bool) {
	m, err := p.parser.Parse(text)
	switch {
	case isAnswer(&m):
		p.settle(&m, err)
	case err != nil && m.IsNotification(): // its params are wrong, of which nobody is told
		p.log.Warn("dropped a notification", "method", m.Method, "error", err)
	case err != nil:
		p.reject(ctx, m.ID, err, to)
	case m.IsRequest():
		return p.serve(ctx, &m, to)
	default:
		p.notice(ctx, &m)
	}
	return true
}

// isAnswer reports whether a message is meant as an answer, well-formed or not.
func isAnswer(m *jsonrpc.Message) bool { return m.Result != nil || m.Error != nil }

// settle hands an answer to the call that waits for it and returns that, nil if
// there is none. Bad is what is wrong with the answer.
func (p *Peer) settle(m *jsonrpc.Message, bad error) *outgoing {
	o := p.table.resolve(m, bad)
	if o == nil {
		p.log.Warn("dropped a response that nobody waits for", "id", m.ID.String(), "error", m.Error, "malformed", bad)
	}
	return o
}

// reject answers a message that cannot be read. In quiet mode it only logs.
func (p *Peer) reject(ctx context.Context, id jsonrpc.ID, err error, to sink) {
	if p.opts.Quiet {
		p.log.Warn("skipped what is no message", "error", err)
		return
	}
	p.refuse(ctx, id, err, to)
}

// refuse answers a message that is not served.
func (p *Peer) refuse(ctx context.Context, id jsonrpc.ID, err error, to sink) {
	to.put(ctx, appendFailure(nil, id, err))
}
