package streamable

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

// modern serves a message of the stateless era. The HTTP request is the call: it
// runs on the request's goroutine, and the client hangs up to cancel it.
func (e *Endpoint) modern(x *exchange, m *jsonrpc.Message) {
	switch {
	case m.IsNotification(): // none has a meaning here
		x.status(http.StatusAccepted)
		return
	case m.IsResponse():
		x.refuse(http.StatusBadRequest, jsonrpc.ID{}, jsonrpc.InvalidRequest("clients send no responses in this protocol revision"))
		return
	case e.gate.isClosed():
		x.busy(m.ID, "the server is shutting down")
		return
	}
	if err := checkHeaders(x.r.Header, &x.in.Incoming, e.mirrors); err != nil {
		if m.Method == mcp.MethodInitialize && !x.in.IsStateless() {
			err.Message += "; " + e.stateless.NoHandshake()
		}
		x.refuse(http.StatusBadRequest, m.ID, err)
		return
	}
	if m.Method == mcp.MethodSubscriptionsListen {
		e.listen(x, m)
		return
	}
	a := x.prepare()
	x.in.Notify = a.tell
	defer a.close() // also if the handler ends its goroutine
	ctx := x.r.Context()
	if e.opts.AlwaysStream && e.opts.KeepAlive > 0 {
		defer a.keepAlive().Stop()
	}
	result, err := e.guarded(ctx, &x.in.Incoming, e.stateless)
	a.finish(ctx, result, err)
}

// answer is the response to one modern request: JSON, unless something was said
// before the result, or the options want a stream.
type answer struct {
	x *exchange

	mu    sync.Mutex
	feed  *feed  // nil until something was said
	ahead *ahead // nil until a call says something
	done  bool   // nothing more may be said
}

// prepare returns the answer to the exchange's request.
func (x *exchange) prepare() *answer {
	a := &x.answer
	a.x = x
	return a
}

// notify writes a notification of a subscription. The first one makes the answer an
// event stream.
func (a *answer) notify(ctx context.Context, method string, params any) error {
	buf, err := notification(method, params)
	defer putBuffer(buf)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.done:
		return context.Canceled
	case ctx.Err() != nil:
		return ctx.Err()
	}
	a.streamLocked()
	return a.feed.message(*buf)
}

// streamLocked makes the answer an event stream.
func (a *answer) streamLocked() {
	if a.feed == nil {
		a.feed = a.x.stream()
	}
}

// keepAlive writes comments while the handler runs, so that nothing on the way
// takes the connection for dead.
func (a *answer) keepAlive() *time.Timer {
	every := a.x.e.opts.KeepAlive
	a.mu.Lock()
	defer a.mu.Unlock()
	var beat *time.Timer
	beat = time.AfterFunc(every, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.done {
			return
		}
		a.streamLocked()
		if a.feed.comment(0) == nil {
			beat.Reset(every)
		}
	})
	return beat
}

// finish writes the response, unless the client has hung up.
func (a *answer) finish(ctx context.Context, result any, err error) {
	buf := buffers.Get().(*[]byte)
	defer putBuffer(buf)
	var failure *jsonrpc.Error
	if *buf, failure = a.x.e.appendAnswer((*buf)[:0], &a.x.in.Incoming, result, err); ctx.Err() != nil {
		a.close()
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.done = true
	if failure == nil && a.x.e.opts.AlwaysStream {
		a.streamLocked()
	}
	if a.feed == nil {
		a.x.json(statusOf(failure), *buf)
		return
	}
	h := a.aheadLocked()
	h.add(*buf) // who hung up misses it
	if !h.writing {
		a.writeLocked(h)
	}
	a.settleLocked()
}

// statusOf returns the HTTP status of a response that carries err, nil for a
// result.
func statusOf(err *jsonrpc.Error) int {
	if err == nil {
		return http.StatusOK
	}
	switch err.Code {
	case jsonrpc.CodeMethodNotFound:
		return http.StatusNotFound
	case jsonrpc.CodeParseError, jsonrpc.CodeInvalidRequest, jsonrpc.CodeInvalidParams,
		mcp.CodeHeaderMismatch, mcp.CodeMissingCapability, mcp.CodeUnsupportedVersion:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// close lets nothing more be said. What was said is written when it returns.
func (a *answer) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.done = true
	a.settleLocked()
}
