package peer

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/jsonrpc"
)

// Call sends a request and waits for its answer, which it decodes into result
// unless that is nil. An error of the other side is a [*jsonrpc.Error]; any
// other error is local. When ctx ends first, the other side is told by
// [CancelMethod] and Call returns ctx's error.
func (p *Peer) Call(ctx context.Context, method string, params, result any) error {
	id, o, err := p.table.expect()
	if err != nil {
		return fmt.Errorf("call %s: %w", method, err)
	}
	message, err := jsonrpc.AppendRequest(nil, id, method, params)
	if err == nil {
		err = p.transport.Send(ctx, message)
	}
	if err != nil {
		if p.table.forget(id, &p.calls) {
			p.calls.Done()
		}
		return fmt.Errorf("call %s: %w", method, err)
	}
	select {
	case <-o.done:
		return o.decode(method, result)
	case <-ctx.Done():
		if p.table.forget(id, &p.calls) {
			go p.giveUp(id, context.Cause(ctx)) // Run waits for it
		}
		return fmt.Errorf("call %s: %w", method, ctx.Err())
	}
}

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
		return fmt.Errorf("call %s: read result: %w", method, err)
	}
	return nil
}

// giveUp tells the other side that nobody waits for id any more. A peer that is
// not reading must not hold the caller up, so it happens aside.
func (p *Peer) giveUp(id jsonrpc.ID, reason error) {
	defer p.calls.Done()
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
	buf := buffers.Get().(*[]byte)
	message, err := jsonrpc.AppendRequest((*buf)[:0], jsonrpc.ID{}, method, params)
	if err == nil {
		err = p.transport.Send(ctx, message)
	}
	if *buf = message; cap(message) <= maxPooled {
		buffers.Put(buf)
	}
	if err != nil {
		return fmt.Errorf("notify %s: %w", method, err)
	}
	return nil
}
