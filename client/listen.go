package client

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/lifecycle"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/mcp"
)

// Subscription is an open ear for changes. It outlives connections: when one
// ends, the next is dialled and asked for the same again, and since nobody knows
// what was missed, everything it listens for is reported as changed.
type Subscription struct {
	client *Client
	filter mcp.SubscriptionFilter
	on     func(mcp.Event)
	cancel context.CancelFunc
	opened chan struct{} // closed when the server first agreed
	done   chan struct{} // closed at the end, after err is set
	err    error

	mu     sync.Mutex
	agreed mcp.SubscriptionFilter
	before bool // the server agreed before
}

// Listen asks the server to tell of changes, and calls on for each, as it does
// the On… functions of [Options], which hear of them too. It returns when the
// server has agreed. The subscription lasts until ctx ends or it is closed. A nil
// function will do if those of Options are enough.
func (c *Client) Listen(ctx context.Context, filter mcp.SubscriptionFilter, on func(mcp.Event)) (*Subscription, error) {
	if isEmpty(filter) {
		return nil, localf(mcp.MethodSubscriptionsListen, "the filter picks nothing")
	}
	s, err := c.subscribe(ctx, filter, on)
	if err != nil {
		return nil, err
	}
	limit := ctx
	if c.opts.Timeout > 0 {
		var cancel context.CancelFunc
		limit, cancel = context.WithTimeoutCause(ctx, c.opts.Timeout, &TimeoutError{After: c.opts.Timeout})
		defer cancel()
	}
	select {
	case <-s.opened:
		return s, nil
	case <-s.done:
		err = s.err
	case <-limit.Done():
		err = explain(limit, mcp.MethodSubscriptionsListen, limit.Err())
	}
	s.Close()
	if err == nil {
		err = ErrClosed
	}
	return nil, final(mcp.MethodSubscriptionsListen, err)
}

func isEmpty(f mcp.SubscriptionFilter) bool {
	return !f.ToolsListChanged && !f.PromptsListChanged && !f.ResourcesListChanged &&
		len(f.ResourceSubscriptions) == 0 && len(f.TaskIDs) == 0
}

func (c *Client) subscribe(ctx context.Context, filter mcp.SubscriptionFilter, on func(mcp.Event)) (*Subscription, error) {
	s := &Subscription{client: c, filter: filter, on: on, opened: make(chan struct{}), done: make(chan struct{})}
	ctx, s.cancel = context.WithCancel(ctx)
	started := c.crew.start(func(life context.Context) {
		defer close(s.done)
		defer context.AfterFunc(life, s.cancel)()
		defer s.cancel()
		s.err = s.run(ctx)
	})
	if !started {
		s.cancel()
		return nil, localf(mcp.MethodSubscriptionsListen, "%w", ErrClosed)
	}
	return s, nil
}

// Filter returns the part of the filter that the server honours, as it said last.
func (s *Subscription) Filter() mcp.SubscriptionFilter {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.agreed
}

// Done is closed when the subscription has ended.
func (s *Subscription) Done() <-chan struct{} { return s.done }

// Err returns why the subscription ended: nil before that, and if it was closed.
func (s *Subscription) Err() error {
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}

// Close ends the subscription. Events that are on their way may still arrive.
func (s *Subscription) Close() {
	s.cancel()
	<-s.done
}

// run keeps the subscription open until ctx ends or the server refuses it.
func (s *Subscription) run(ctx context.Context) error {
	r := &request{method: mcp.MethodSubscriptionsListen}
	for falls := 1; ; falls++ {
		began := time.Now()
		err := s.attend(ctx, r)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil && s.isFinal(err) {
			return final(r.method, err)
		}
		if time.Since(began) >= steadyAge {
			falls, r.resends = 1, 0
		}
		if r.resends == 0 && sleep(ctx, pauseAfter(falls)) != nil {
			return nil
		}
	}
}

// isFinal reports whether there is no use in trying again. Before the server has
// agreed once, every error is the caller's to see.
func (s *Subscription) isFinal(err error) bool {
	select {
	case <-s.opened:
	default:
		return true
	}
	var refused *jsonrpc.Error
	if !errors.As(err, &refused) {
		return errors.Is(err, errNoSubscribe) || errors.Is(err, ErrClosed)
	}
	switch refused.Code {
	case jsonrpc.CodeMethodNotFound, jsonrpc.CodeInvalidParams, jsonrpc.CodeInvalidRequest, mcp.CodeMissingCapability:
		return true
	}
	return false
}

// attend keeps the subscription open on one connection, and returns nil when the
// server ended it in good order or wants it sent again.
func (s *Subscription) attend(ctx context.Context, r *request) error {
	k, err := s.client.connection(ctx)
	if err != nil {
		return localf(r.method, "%w", err)
	}
	if !k.agreement.Load().Stateless {
		return s.watch(ctx, k)
	}
	err = s.hold(ctx, k)
	if err != nil && ctx.Err() == nil && r.resends < maxResends && s.client.mend(ctx, k, r, err) {
		r.resends++
		return nil
	}
	r.resends = 0
	return err
}

// hold sends the request of the stateless era that stays open.
func (s *Subscription) hold(ctx context.Context, k *conn) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var id jsonrpc.ID
	out := &lifecycle.Outgoing{Params: &mcp.SubscriptionsListenParams{Notifications: s.filter}}
	out.Numbered = func(number jsonrpc.ID) {
		id = number
		k.join(id, &listening{s, cancel})
	}
	defer func() { k.leave(id) }()
	var result jsontext.Value
	err := k.peer.Call(ctx, mcp.MethodSubscriptionsListen, k.agreement.Load().Wrap(out), &result)
	if err != nil && errors.Is(err, context.Canceled) {
		return nil // by the server, or by our own context, which the caller looks at
	}
	return err
}

var errNoSubscribe = errors.New("the server does not tell of changes to resources")

// watch does the same in the handshake era: resources are subscribed to one by
// one, changes of lists come by themselves.
func (s *Subscription) watch(ctx context.Context, k *conn) error {
	have := k.agreement.Load().Capabilities
	if len(s.filter.ResourceSubscriptions) > 0 && (have.Resources == nil || !have.Resources.Subscribe) {
		return localf(mcp.MethodSubscribe, "%w", errNoSubscribe)
	}
	k.attach(s)
	defer k.detach(s)
	for _, uri := range s.filter.ResourceSubscriptions {
		if err := k.peer.Call(ctx, mcp.MethodSubscribe, &mcp.SubscribeParams{URI: uri}, nil); err != nil {
			return err
		}
	}
	s.acknowledged(mcp.SubscriptionFilter{
		ToolsListChanged:      s.filter.ToolsListChanged && have.Tools != nil && have.Tools.ListChanged,
		PromptsListChanged:    s.filter.PromptsListChanged && have.Prompts != nil && have.Prompts.ListChanged,
		ResourcesListChanged:  s.filter.ResourcesListChanged && have.Resources != nil && have.Resources.ListChanged,
		ResourceSubscriptions: s.filter.ResourceSubscriptions,
	})
	select {
	case <-k.lost:
		return peer.ErrClosed
	case <-ctx.Done():
		s.unwatch(context.WithoutCancel(ctx), k)
		return ctx.Err()
	}
}

// unwatch ends the server's part for resources that nobody else watches. What the
// server says to that does not matter.
func (s *Subscription) unwatch(ctx context.Context, k *conn) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	for _, uri := range s.filter.ResourceSubscriptions {
		if !k.watched(uri, s) && k.peer.Call(ctx, mcp.MethodUnsubscribe, &mcp.UnsubscribeParams{URI: uri}, nil) != nil {
			return
		}
	}
}

// acknowledged notes that the server agreed.
func (s *Subscription) acknowledged(agreed mcp.SubscriptionFilter) {
	s.mu.Lock()
	again := s.before
	s.agreed, s.before = agreed, true
	s.mu.Unlock()
	if !again {
		close(s.opened)
		return
	}
	for _, e := range eventsOf(agreed) {
		s.client.outdate(e)
		s.emit(e)
		s.client.tell(e)
	}
}

// emit calls back.
func (s *Subscription) emit(e mcp.Event) {
	if s.on != nil {
		s.client.courier.post(topic{s, e}, func() { s.on(e) })
	}
}
