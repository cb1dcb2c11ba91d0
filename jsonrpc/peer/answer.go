package peer

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/internal/lifetime"
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
	Note   any            // of the handler's own, see [Options.Kind]

	peer     *Peer
	key      jsonrpc.ID
	to       sink
	life     lifetime.Context // what the handler's context is
	returned bool             // the handler has; changed only by the table
	speaking sync.RWMutex     // read-held while a notification is sent, so that none follows the answer
	pace     *pace            // of its kind; may be nil
	took     time.Duration
	turn     uint64 // at the desk, if the reader answers it itself; else 0
	held     bool   // the answer is held back
}

// Peer returns the connection that the request came on.
func (r *Request) Peer() *Peer { return r.peer }

// Notify sends a notification that belongs to this request. It sends nothing,
// and returns context.Canceled, once the request was answered or cancelled.
func (r *Request) Notify(ctx context.Context, method string, params any) error {
	r.peer.desk.handOver(r.turn) // it may have to wait for the other side
	r.speaking.RLock()
	defer r.speaking.RUnlock()
	if !r.peer.table.live(r) {
		return context.Canceled
	}
	return r.peer.tell(ctx, method, params)
}

// Finish answers a request that was left [Open]. Nothing is written if it was
// answered or cancelled before. It blocks while the other side is not reading;
// of ctx only the values count.
func (r *Request) Finish(ctx context.Context, result any, err error) {
	r.finish(lifetime.Uncancelled(ctx), result, err, false)
}

// finish is Finish; returned says that the handler has at this moment. The
// context is never done.
func (r *Request) finish(ctx context.Context, result any, err error, returned bool) {
	r.speaking.Lock()
	mine := r.peer.table.retire(r, returned)
	r.speaking.Unlock()
	if !mine {
		return
	}
	defer r.peer.table.sent()
	r.life.Cancel()
	buf := buffers.Get().(*[]byte)
	defer recycle(buf)
	if raw, ok := result.(jsontext.Value); ok && err == nil && len(raw) > maxHeld && r.putLong(ctx, buf, raw) {
		return
	}
	*buf = r.peer.encode((*buf)[:0], r, result, err)
	if len(*buf) > maxHeld && r.peer.gather != nil {
		*buf = append(*buf, '\n') // which ends the line: it will not be copied
	}
	if !r.peer.hold(r, *buf) {
		r.to.put(ctx, *buf)
	}
	r.to.leave(ctx)
}

// putLong sends a long result from where it is, if the transport can.
func (r *Request) putLong(ctx context.Context, head *[]byte, result []byte) bool {
	_, alone := r.to.(wire)
	if r.peer.gather == nil || !alone {
		return false
	}
	*head = jsonrpc.AppendResultHead((*head)[:0], r.ID)
	if err := r.peer.gather.SendParts(ctx, *head, result, []byte("}")); err != nil {
		r.peer.log.Debug("send response", "error", err)
	}
	return true
}

// buffers holds what messages are encoded into. Buffers that grew very large are
// left to the collector at once, others when it comes round.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

const maxPooled = 1 << 20

func recycle(buf *[]byte) {
	if cap(*buf) <= maxPooled {
		buffers.Put(buf)
	}
}

// serve answers one request: on a goroutine of its own, or on this one if it must
// be answered in order or is going to be short. It reports whether this goroutine
// still reads.
func (p *Peer) serve(ctx context.Context, m *jsonrpc.Message, to sink) (reading bool) {
	r := &Request{ID: m.ID, Method: m.Method, Params: m.Params, peer: p, key: m.ID.Key(), to: to}
	r.life.Values = lifetime.Uncancelled(ctx)
	if err := p.table.admit(r, p.opts.MaxInFlight); err != nil {
		p.refuse(ctx, m.ID, err, to)
		return true
	}
	to.enter()
	r.pace = p.paces.of(r.Method, p.kind(r))
	_, alone := to.(wire) // and not part of a batch, the rest of which waits to be read
	switch {
	case p.opts.InOrder != nil && p.opts.InOrder(m.Method):
		p.answer(r)
	case alone && r.pace.isShort():
		return p.answerHere(r)
	case alone && p.gather != nil && !p.gather.Ready():
		p.desk.cede() // whoever reads next would only wait, so that starting it is not what the answer waits for
		p.answer(r)
		return false
	default:
		go p.answer(r) // Run waits for it: admit has added it to the table's work
	}
	return true
}

func (p *Peer) kind(r *Request) []byte {
	if p.opts.Kind == nil {
		return nil
	}
	defer p.parser.Forget() // or an idle connection would keep its last message
	return p.opts.Kind(r, p.parser.Members())
}

func (p *Peer) answer(r *Request) {
	defer p.table.work.Done()
	var result any
	err := errUnreturned // unless it returns: it may end its goroutine
	defer func() {
		if result == Open && err == nil {
			p.table.returned(r)
			return
		}
		r.finish(r.life.Values, result, err, true)
		r.life.Cancel()
	}()
	start := time.Now()
	result, err = p.guarded(r)
	r.took = time.Since(start)
	r.pace.note(r.took, len(r.Params))
}

// errUnreturned is what a requester is told of a handler that did not return.
var errUnreturned error = jsonrpc.InternalError("the handler failed")

// guarded calls the handler; a panic costs this request only.
func (p *Peer) guarded(r *Request) (result any, err error) {
	defer func() {
		if v := recover(); v != nil {
			p.logPanic(r.Method, v)
			result, err = nil, errUnreturned
		}
	}()
	return p.handler.Answer(&r.life, r)
}

func (p *Peer) logPanic(method string, v any) {
	p.log.Error("handler panicked", "method", method, "panic", v, "stack", string(debug.Stack()))
}

// encode writes the response to r. A result that cannot be written as JSON is
// an internal error, also when it panics.
func (p *Peer) encode(dst []byte, r *Request, result any, err error) (out []byte) {
	defer func() {
		if v := recover(); v != nil {
			p.logPanic(r.Method, v)
			out = appendFailure(dst[:0], r.ID, jsonrpc.InternalError("the result could not be encoded"))
		}
	}()
	if err == nil {
		out, encErr := jsonrpc.AppendResult(dst, r.ID, result)
		if encErr == nil {
			return out
		}
		p.log.Error("encode result", "method", r.Method, "error", encErr)
		err = jsonrpc.InternalError("the result could not be encoded")
	}
	if wireError(err) == nil {
		p.log.Error("request failed", "method", r.Method, "error", err)
	}
	return appendFailure(dst[:0], r.ID, err)
}

// appendFailure appends the error response for err. What is no [*jsonrpc.Error]
// says nothing about our insides.
func appendFailure(dst []byte, id jsonrpc.ID, err error) []byte {
	e := wireError(err)
	if e == nil {
		e = jsonrpc.InternalError("the request failed")
	}
	return jsonrpc.AppendError(dst, id, e)
}

// wireError returns the error in err that may be sent, nil if there is none.
func wireError(err error) *jsonrpc.Error {
	var e *jsonrpc.Error
	errors.As(err, &e)
	return e
}

// notice takes a notification: a cancellation itself, the rest by the handler.
func (p *Peer) notice(ctx context.Context, m *jsonrpc.Message) {
	defer func() {
		if v := recover(); v != nil {
			p.logPanic(m.Method, v)
		}
	}()
	switch {
	case m.Method == CancelMethod:
		p.drop(ctx, m.Params)
	case !p.table.over():
		p.handler.Notice(ctx, m.Method, m.Params)
	}
}

// drop gives up the request that a cancellation names, unanswered. Cancellations
// of anything else are ignored.
func (p *Peer) drop(ctx context.Context, params []byte) {
	id, err := jsonrpc.ParseID(jsonscan.Get(params, "requestId"))
	if err != nil {
		p.log.Debug("ignored a cancellation", "error", err)
		return
	}
	r := p.table.cancel(id)
	if r == nil {
		if p.opts.OnCancel != nil {
			p.opts.OnCancel(id)
			return
		}
		p.log.Debug("ignored a cancellation", "id", id.String(), "error", "it is not in flight")
		return
	}
	p.log.Debug("request cancelled", "id", id.String(), "method", r.Method, "reason", jsonscan.Unquote(jsonscan.Get(params, "reason")))
	r.life.Cancel()
	r.to.leave(ctx)
}
