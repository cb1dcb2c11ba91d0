package streamable

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/bossman-mcp/bossman/internal/lifecycle"
	"github.com/bossman-mcp/bossman/internal/sse"
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
	if err := checkHeaders(x.r.Header, m, e.mirrors); err != nil {
		if m.Method == mcp.MethodInitialize && !lifecycle.IsStateless(m.Params) {
			err.Message += "; " + e.stateless.NoHandshake()
		}
		x.refuse(http.StatusBadRequest, m.ID, err)
		return
	}
	if m.Method == mcp.MethodSubscriptionsListen {
		if !e.streams.take() {
			x.busy(m.ID, "too many streams are open")
			return
		}
		defer e.streams.give()
	}
	a := &answer{x: x}
	a.in = lifecycle.Incoming{ID: m.ID, Method: m.Method, Params: m.Params, Principal: x.principal, Notify: a.notify}
	ctx := x.r.Context()
	if e.opts.AlwaysStream && e.opts.KeepAlive > 0 && m.Method != mcp.MethodSubscriptionsListen {
		defer a.keepAlive().Stop()
	}
	result, err := e.guarded(ctx, &a.in, e.stateless)
	if held, ok := result.(*lifecycle.Held); ok && err == nil {
		a.hold(ctx, held)
		return
	}
	a.finish(ctx, result, err)
}

// answer is the response to one modern request: JSON, unless something was said
// before the result, or the options want a stream.
type answer struct {
	x  *exchange
	in lifecycle.Incoming

	mu        sync.Mutex
	streaming bool
	done      bool // nothing more may be written
}

// notify writes a notification. The first one makes the answer an event stream.
func (a *answer) notify(ctx context.Context, method string, params any) error {
	buf := buffers.Get().(*[]byte)
	defer putBuffer(buf)
	var err error
	if *buf, err = jsonrpc.AppendRequest((*buf)[:0], jsonrpc.ID{}, method, params); err != nil {
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
	return a.x.message(&sse.Event{Name: "message", Data: *buf})
}

// streamLocked makes the answer an event stream.
func (a *answer) streamLocked() {
	if !a.streaming {
		a.streaming = true
		a.x.stream()
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
		if a.x.send([]byte(sse.KeepAlive)) == nil {
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
	if *buf, failure = a.x.e.appendAnswer((*buf)[:0], &a.in, result, err); ctx.Err() != nil {
		a.close()
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.done = true
	if failure == nil && a.x.e.opts.AlwaysStream {
		a.streamLocked()
	}
	if !a.streaming {
		a.x.json(statusOf(failure), *buf)
		return
	}
	a.x.settle(a.x.message(&sse.Event{Name: "message", Data: *buf}))
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

// close lets nothing more be written.
func (a *answer) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.done = true
}

// hold keeps a subscription's stream open until the client hangs up or the
// endpoint shuts down, which the client is told. The request's goroutine waits
// here; events are written by those who bring them.
func (a *answer) hold(ctx context.Context, held *lifecycle.Held) {
	defer a.close()
	defer held.Close()
	beat := newBeat(a.x.e.opts.KeepAlive)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.x.e.gate.closing:
			held.Close()
			a.finish(ctx, held.Last, nil)
			return
		case <-beat.C:
			if a.comment() != nil {
				return
			}
			beat.Reset(a.x.e.opts.KeepAlive)
		}
	}
}

// comment keeps a quiet stream alive.
func (a *answer) comment() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.x.send([]byte(sse.KeepAlive))
}

// newBeat returns a timer that fires after d, or never if d is negative.
func newBeat(d time.Duration) *time.Timer {
	t := time.NewTimer(max(d, 0))
	if d < 0 {
		t.Stop()
	}
	return t
}
