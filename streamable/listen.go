package streamable

import (
	"github.com/bossman-mcp/bossman/internal/lifecycle"
	"github.com/bossman-mcp/bossman/internal/lifetime"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

// listening is an open subscription. There may be very many, so that it has
// nothing of the request that opened it but the id.
type listening struct {
	id     jsonrpc.ID
	answer answer
	life   lifetime.End // of the handler's context
	held   *lifecycle.Held
}

// listen serves a subscription. Its stream may outlive the request's goroutine:
// events are written by those who bring them.
func (e *Endpoint) listen(x *exchange, m *jsonrpc.Message) {
	if !e.streams.take() {
		x.busy(m.ID, "too many streams are open")
		return
	}
	l := &listening{id: m.ID, answer: answer{x: x}}
	x.in.Notify = l.answer.notify
	ctx := x.lasting(&l.life)
	result, err := e.guarded(ctx, &x.in.Incoming, e.stateless)
	held, ok := result.(*lifecycle.Held)
	if err != nil || !ok {
		defer e.streams.give()
		defer l.life.Cancel()
		l.answer.finish(ctx, result, err)
		return
	}
	l.held = held
	f := l.answer.release()
	f.keep(true, func(closing bool) {
		l.end(f, closing)
		e.streams.give()
	})
}

// end ends a subscription, with its result if the client can hear it.
func (l *listening) end(f *feed, closing bool) {
	l.held.Close()
	l.answer.close()
	if closing {
		buf := buffers.Get().(*[]byte)
		defer putBuffer(buf)
		in := lifecycle.Incoming{ID: l.id, Method: mcp.MethodSubscriptionsListen}
		*buf, _ = f.e.appendAnswer((*buf)[:0], &in, l.held.Last(), nil)
		_ = f.message(*buf) // who hung up misses it
	}
	l.life.Cancel()
}

// release returns the feed of an answer to which a stream was begun, and lets its
// exchange go.
func (a *answer) release() *feed {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.x = nil
	return a.feed
}
