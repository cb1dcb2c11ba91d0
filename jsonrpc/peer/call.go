package peer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/jsonrpc"
)

// Call sends a request and waits for its answer, which it decodes into result
// unless that is nil. An error of the other side is a [*jsonrpc.Error]; any
// other error is local, and matches [ErrNotSent] when the request never left.
// When ctx ends first, the other side is told by [CancelMethod] and Call returns
// ctx's error. Params that are [Numbered] are told the request's id.
func (p *Peer) Call(ctx context.Context, method string, params, result any) error {
	p.desk.free()
	id, o, err := p.table.expect()
	if err != nil {
		return notSent{fmt.Errorf("call %s: %w", method, err)}
	}
	if n, ok := params.(Numbered); ok {
		n.Number(id)
	}
	defer p.table.release(o)
	if err := p.send(ctx, id, method, params); err != nil {
		p.table.forget(id)
		return notSent{fmt.Errorf("call %s: %w", method, err)}
	}
	if p.lead(ctx, o) || await(ctx, o.done) || !p.table.forget(id) { // it was answered, or is at this moment
		return o.decode(method, result)
	}
	if p.table.join() {
		go p.giveUp(id, causeOf(ctx)) // Run waits for it
	}
	return fmt.Errorf("call %s: %w", method, ctx.Err())
}

// Waiter is a context that knows a cheaper way to wait than by its channel, which
// it may have to make first. [Peer.Call] uses it.
type Waiter interface {
	context.Context
	// Await returns true when there is something in answered, and false when the
	// context has ended. To wake itself it may have something put there, if there is
	// room; not after it has returned.
	Await(answered chan struct{}) bool
	// Cause returns why it has ended.
	Cause() error
}

func await(ctx context.Context, answered chan struct{}) bool {
	if w, ok := ctx.(Waiter); ok {
		return w.Await(answered)
	}
	select {
	case <-answered:
		return true
	case <-ctx.Done():
		return false
	}
}

func causeOf(ctx context.Context) error {
	if w, ok := ctx.(Waiter); ok {
		return w.Cause()
	}
	return context.Cause(ctx)
}

// Numbered is implemented by params that need to know the id of the request they
// belong to, as those of a subscription do.
type Numbered interface {
	// Number is called once, before the request is sent and so before anything
	// can come back that refers to it.
	Number(id jsonrpc.ID)
}

// ErrNotSent is what errors of [Peer.Call] match when the transport took nothing
// of the request, so that it may be sent again elsewhere.
var ErrNotSent = errors.New("request not sent")

type notSent struct{ error }

func (e notSent) Unwrap() error        { return e.error }
func (e notSent) Is(target error) bool { return target == ErrNotSent }

func (o *outgoing) decode(method string, result any) error {
	switch {
	case o.err != nil:
		return fmt.Errorf("call %s: %w", method, o.err)
	case o.answer.Error != nil:
		return o.answer.Error
	case result == nil:
		return nil
	}
	if raw, ok := result.(*jsontext.Value); ok {
		*raw = o.answer.Result
		return nil
	}
	if err := json.Unmarshal(o.answer.Result, result); err != nil {
		return fmt.Errorf("call %s: read result: %v", method, err) // not wrapped: it is no error that they sent
	}
	return nil
}

// giveUp tells the other side that nobody waits for id any more. A peer that is
// not reading must not hold the caller up, so it happens aside.
func (p *Peer) giveUp(id jsonrpc.ID, reason error) {
	defer p.table.work.Done()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	params := struct {
		RequestID jsonrpc.ID `json:"requestId"`
		Reason    string     `json:"reason"`
	}{id, reason.Error()}
	if err := p.Notify(ctx, CancelMethod, params); err != nil {
		p.log.Debug("send cancellation", "error", err)
	}
}

// Notify sends a notification. Nil params are left out.
func (p *Peer) Notify(ctx context.Context, method string, params any) error {
	if err := p.send(ctx, jsonrpc.ID{}, method, params); err != nil {
		return fmt.Errorf("notify %s: %w", method, err)
	}
	return nil
}

// tell is Notify for those who may have much to say: with most transports, several
// notifications leave in one write.
func (p *Peer) tell(ctx context.Context, method string, params any) error {
	if p.gather == nil {
		return p.Notify(ctx, method, params)
	}
	buf := buffers.Get().(*[]byte)
	defer recycle(buf)
	err := appendRequest(buf, jsonrpc.ID{}, method, params)
	if err == nil {
		err = p.gather.SendSoon(ctx, *buf)
	}
	if err != nil {
		return fmt.Errorf("notify %s: %w", method, err)
	}
	return nil
}

// send sends a request, or a notification when id is zero.
func (p *Peer) send(ctx context.Context, id jsonrpc.ID, method string, params any) error {
	buf := buffers.Get().(*[]byte)
	defer recycle(buf)
	if err := appendRequest(buf, id, method, params); err != nil {
		return err
	}
	return p.transport.Send(ctx, *buf)
}

// appendRequest writes a request, or a notification when id is zero, into a buffer.
func appendRequest(buf *[]byte, id jsonrpc.ID, method string, params any) error {
	message, err := jsonrpc.AppendRequest((*buf)[:0], id, method, params)
	if err != nil {
		return fmt.Errorf("encode params: %v", err) // not wrapped: it is no error that they sent
	}
	*buf = message
	return nil
}
