package peer

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
)

// CancelMethod is the notification by which either side gives up a request of
// its own. It carries the id as requestId.
const CancelMethod = "notifications/cancelled"

// Open is the result of a request that stays in flight after its handler
// returned: its context lives on until the request is cancelled, the connection
// closes, or [Request.Finish] answers it.
var Open any = open{}

type open struct{}

// Request is a request of the other side while it is in flight.
type Request struct {
	ID     jsonrpc.ID
	Method string
	Params jsontext.Value // an object or nil; belongs to the request, no one else writes to it

	peer   *Peer
	key    jsonrpc.ID
	to     sink
	cancel context.CancelFunc
}

// Peer returns the connection that the request came on.
func (r *Request) Peer() *Peer { return r.peer }

// Notify sends a notification that belongs to this request. It sends nothing,
// and returns context.Canceled, once the request was answered or cancelled.
func (r *Request) Notify(ctx context.Context, method string, params any) error {
	if !r.peer.table.live(r) {
		return context.Canceled
	}
	return r.peer.Notify(ctx, method, params)
}

// Finish answers a request that was left [Open]. Nothing is written if it was
// answered or cancelled before.
func (r *Request) Finish(ctx context.Context, result any, err error) {
	if !r.peer.table.retire(r) {
		return
	}
	r.cancel()
	buf := buffers.Get().(*[]byte)
	*buf = r.peer.encode((*buf)[:0], r, result, err)
	r.to.put(ctx, *buf)
	r.to.leave()
	if cap(*buf) <= maxPooled {
		buffers.Put(buf)
	}
}

// buffers holds what responses are encoded into. Buffers that grew large are
// left to the collector.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

const maxPooled = 64 << 10

// serve answers one request, on a goroutine of its own unless it must be
// answered in order.
func (p *Peer) serve(ctx context.Context, m *jsonrpc.Message, to sink) {
	r := &Request{ID: m.ID, Method: m.Method, Params: m.Params, peer: p, key: m.ID.Key(), to: to}
	ctx, r.cancel = context.WithCancel(ctx)
	if err := p.table.admit(r, p.opts.MaxInFlight); err != nil {
		r.cancel()
		p.refuse(ctx, m.ID, err, to)
		return
	}
	to.enter()
	if p.opts.InOrder != nil && p.opts.InOrder(m.Method) {
		p.answer(ctx, r)
		return
	}
	p.calls.Go(func() { p.answer(ctx, r) }) // Run waits for it
}

func (p *Peer) answer(ctx context.Context, r *Request) {
	result, err := p.guarded(ctx, r)
	if result == Open && err == nil {
		return
	}
	r.Finish(ctx, result, err)
	r.cancel()
}

// guarded calls the handler; a panic costs this request only.
func (p *Peer) guarded(ctx context.Context, r *Request) (result any, err error) {
	defer func() {
		if v := recover(); v != nil {
			p.log.Error("handler panicked", "method", r.Method, "panic", v, "stack", string(debug.Stack()))
			result, err = nil, jsonrpc.InternalError("the handler failed")
		}
	}()
	return p.handler.Answer(ctx, r)
}

// encode writes the response to r. A result that cannot be written as JSON is
// an internal error.
func (p *Peer) encode(dst []byte, r *Request, result any, err error) []byte {
	if err == nil {
		out, encErr := jsonrpc.AppendResult(dst, r.ID, result)
		if encErr == nil {
			return out
		}
		p.log.Error("encode result", "method", r.Method, "error", encErr)
		err = jsonrpc.InternalError("the result could not be encoded")
	}
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) {
		p.log.Error("request failed", "method", r.Method, "error", err)
	}
	return appendFailure(dst[:0], r.ID, err)
}

// appendFailure appends the error response for err. What is no [*jsonrpc.Error]
// says nothing about our insides.
func appendFailure(dst []byte, id jsonrpc.ID, err error) []byte {
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) {
		wire = jsonrpc.InternalError("the request failed")
	}
	return jsonrpc.AppendError(dst, id, wire)
}

// notice takes a notification: a cancellation itself, the rest by the handler.
func (p *Peer) notice(ctx context.Context, m *jsonrpc.Message) {
	defer func() {
		if v := recover(); v != nil {
			p.log.Error("handler panicked", "method", m.Method, "panic", v, "stack", string(debug.Stack()))
		}
	}()
	if m.Method != CancelMethod {
		p.handler.Notice(ctx, m.Method, m.Params)
		return
	}
	id, err := jsonrpc.ParseID(jsonscan.Get(m.Params, "requestId"))
	if err != nil {
		p.log.Debug("ignored a cancellation", "error", err)
		return
	}
	p.table.cancel(id)
}
