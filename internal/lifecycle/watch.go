package lifecycle

import (
	"context"
	"errors"
	"fmt"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

func (d *Handshake) subscribe(ctx context.Context, in *Incoming) (any, error) {
	uri, err := uriOf(in)
	if err != nil {
		return nil, err
	}
	if err := d.watch(ctx, uri, mcp.SubscriptionFilter{ResourceSubscriptions: []string{uri}}); err != nil {
		return nil, wireError(d.Revision(), err)
	}
	return struct{}{}, nil
}

func (d *Handshake) unsubscribe(in *Incoming) (any, error) {
	uri, err := uriOf(in)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	stop := d.watches[uri]
	delete(d.watches, uri)
	d.mu.Unlock()
	if stop != nil {
		stop()
	}
	return struct{}{}, nil
}

func uriOf(in *Incoming) (string, error) {
	uri := jsonscan.Unquote(jsonscan.Get(in.Params, "uri"))
	if uri == "" {
		return "", jsonrpc.InvalidParams("uri must be a non-empty string")
	}
	return uri, nil
}

// maxWatches caps the resources that one session watches.
const maxWatches = 1000

// watch subscribes to events under a key, once.
func (d *Handshake) watch(ctx context.Context, key string, filter mcp.SubscriptionFilter) error {
	params, err := (&mcp.SubscriptionsListenParams{Notifications: filter}).AppendJSON(nil)
	if err != nil {
		return fmt.Errorf("write filter: %w", err)
	}
	d.mu.Lock()
	client, known, full := d.client, d.watches[key] != nil, len(d.watches) >= maxWatches
	d.mu.Unlock()
	switch {
	case known:
		return nil
	case full:
		return jsonrpc.InvalidRequest("a session may watch %d resources", maxWatches)
	}
	call := &mcp.Call{Method: mcp.MethodSubscriptionsListen, Params: params, Client: client, Emit: d.box.add}
	result, err := d.handler.Handle(ctx, call)
	if err != nil {
		return err
	}
	sub, ok := result.(*mcp.Subscription)
	if !ok {
		return errors.New("the handler does not hold subscriptions")
	}
	if len(filter.ResourceSubscriptions) > len(sub.Filter.ResourceSubscriptions) { // it has no resources
		sub.Stop()
		return jsonrpc.MethodNotFound(mcp.MethodSubscribe)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.state == shutdown || d.watches[key] != nil {
		sub.Stop()
		return nil
	}
	if d.watches == nil {
		d.watches = make(map[string]func())
	}
	d.watches[key] = sub.Stop
	return nil
}
