package lifecycle

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/lifetime"
	"github.com/bossman-mcp/bossman/mcp"
)

// Held is the result of a request that stays open: a subscription. The transport
// keeps it until the client goes away, then calls Close; if the server ends it,
// the transport calls Close and then sends Last as the request's result.
//
// There may be very many, and they wait for long: it keeps nothing of the request
// but what it needs.
type Held struct {
	box    outbox
	stop   func()
	notify func(ctx context.Context, method string, params any) error
	mark   jsontext.Value // _meta of all that is sent: the request's id
	self   *identity      // of the door
}

// listen opens a subscription: acknowledged first, then events, each marked with
// the request's id.
func (d *Stateless) listen(ctx context.Context, in *Incoming, call *mcp.Call) (any, error) {
	h := &Held{notify: in.Notify, mark: append(append([]byte(`{"`+mcp.MetaSubscriptionID+`":`), in.ID.String()...), '}')}
	h.box.ctx, h.box.send, h.box.queue = lifetime.EndOf(ctx), h.send, &d.events
	call.Emit = h.box.add
	result, err := d.handler.Handle(ctx, call)
	if err != nil {
		return nil, wireError(d.rev, err)
	}
	sub, ok := result.(*mcp.Subscription)
	if !ok {
		return d.shape(ctx, in, result)
	}
	h.stop = sub.Stop
	ack := &mcp.SubscriptionsAcknowledgedParams{Meta: h.mark, Notifications: sub.Filter}
	if err := in.Notify(ctx, mcp.NotificationSubscriptionsAcknowledged, ack); err != nil {
		h.stop()
		return nil, err
	}
	h.box.start()
	h.self = d.identity(ctx)
	return h, nil
}

// Close ends the subscription. It does not wait for an event that is being sent.
func (h *Held) Close() {
	h.stop()
	h.box.close()
}

// Last returns the result of a subscription that the server ends.
func (h *Held) Last() any {
	last := &mcp.SubscriptionsListenResult{Meta: h.mark, ResultType: mcp.ResultComplete}
	return completed{last, h.self, needsHints(mcp.MethodSubscriptionsListen)}
}

func (h *Held) send(ctx context.Context, e mcp.Event) error {
	if e.Deferred == nil {
		return h.notify(ctx, e.Method, &eventParams{Meta: h.mark, URI: e.URI})
	}
	state := *e.Deferred
	state.Meta = h.mark
	return h.notify(ctx, e.Method, &state)
}

// eventParams are the params of every other change notification.
type eventParams struct {
	Meta jsontext.Value `json:"_meta,omitzero"`
	URI  string         `json:"uri,omitzero"`
}
