package client

import (
	"context"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

// listening is a subscription on one connection.
type listening struct {
	*Subscription
	end context.CancelFunc // when the server wants it
}

// join notes which request a subscription is.
func (k *conn) join(id jsonrpc.ID, l *listening) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.numbered[id.Key()] = l
}

func (k *conn) leave(id jsonrpc.ID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.numbered, id.Key())
}

// find returns the subscription that a notification belongs to, nil if there is
// none.
func (k *conn) find(params []byte) *listening {
	id, err := jsonrpc.ParseID(jsonscan.Get(jsonscan.Get(params, "_meta"), mcp.MetaSubscriptionID))
	if err != nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.numbered[id.Key()]
}

// cancelled ends a subscription that the server cancelled. Servers of the
// handshake era have other ids in mind.
func (k *conn) cancelled(id jsonrpc.ID) {
	if a := k.agreement.Load(); a == nil || !a.Stateless {
		return
	}
	k.mu.Lock()
	l := k.numbered[id.Key()]
	k.mu.Unlock()
	if l != nil {
		l.end()
	}
}

func (k *conn) attach(s *Subscription) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.listeners = append(k.listeners, s)
}

func (k *conn) detach(s *Subscription) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.listeners = slices.DeleteFunc(k.listeners, func(other *Subscription) bool { return other == s })
}

// watched reports whether a subscription other than s wants a resource.
func (k *conn) watched(uri string, s *Subscription) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.ContainsFunc(k.listeners, func(other *Subscription) bool {
		return other != s && slices.Contains(other.filter.ResourceSubscriptions, uri)
	})
}

// acknowledged takes the server's consent to a subscription.
func (k *conn) acknowledged(params []byte) {
	l := k.find(params)
	if l == nil {
		k.client.log.Debug("passed over an acknowledgement of nothing")
		return
	}
	var agreed mcp.SubscriptionFilter
	if err := json.Unmarshal(jsonscan.Get(params, "notifications"), &agreed); err != nil {
		k.client.log.Warn("the server acknowledged a subscription without saying to what", "error", err)
	}
	l.acknowledged(agreed)
}

// changed takes an event: the cache is told in any case, listeners if they asked.
func (k *conn) changed(e mcp.Event, params []byte) {
	c := k.client
	c.outdate(e)
	if a := k.agreement.Load(); a == nil || a.Stateless {
		if l := k.find(params); l != nil && picks(&l.filter, e) {
			l.emit(e)
			c.tell(e)
		} else {
			c.log.Debug("passed over an event that nobody asked for", "method", e.Method)
		}
		return
	}
	k.mu.Lock()
	listeners := slices.Clone(k.listeners)
	k.mu.Unlock()
	for _, s := range listeners {
		if picks(&s.filter, e) {
			s.emit(e)
		}
	}
	c.tell(e)
}

// picks reports whether a filter asks for an event. The resource may be a part of
// the one that was asked for, so any will do.
func picks(f *mcp.SubscriptionFilter, e mcp.Event) bool {
	switch e.Method {
	case mcp.NotificationToolsListChanged:
		return f.ToolsListChanged
	case mcp.NotificationPromptsListChanged:
		return f.PromptsListChanged
	case mcp.NotificationResourcesListChanged:
		return f.ResourcesListChanged
	case mcp.NotificationDeferred:
		return len(f.TaskIDs) > 0
	}
	return len(f.ResourceSubscriptions) > 0
}

// eventsOf returns one event for everything that a filter picks.
func eventsOf(f mcp.SubscriptionFilter) []mcp.Event {
	var all []mcp.Event
	for _, method := range []string{mcp.NotificationToolsListChanged, mcp.NotificationPromptsListChanged, mcp.NotificationResourcesListChanged} {
		if e := (mcp.Event{Method: method}); picks(&f, e) {
			all = append(all, e)
		}
	}
	for _, uri := range f.ResourceSubscriptions {
		all = append(all, mcp.Event{Method: mcp.NotificationResourceUpdated, URI: uri})
	}
	return all
}

// tell calls the functions of Options.
func (c *Client) tell(e mcp.Event) {
	var call func()
	switch e.Method {
	case mcp.NotificationToolsListChanged:
		call = c.opts.OnToolsChanged
	case mcp.NotificationPromptsListChanged:
		call = c.opts.OnPromptsChanged
	case mcp.NotificationResourcesListChanged:
		call = c.opts.OnResourcesChanged
	case mcp.NotificationResourceUpdated:
		if on := c.opts.OnResourceUpdated; on != nil {
			call = func() { on(e.URI) }
		}
	}
	if call != nil {
		c.courier.post(topic{nil, e}, call)
	}
}

// standLocked opens the subscription that the functions of Options need, on the
// first connection and where an older server had refused it.
func (c *Client) standLocked() {
	filter := mcp.SubscriptionFilter{
		ToolsListChanged:     c.opts.OnToolsChanged != nil,
		PromptsListChanged:   c.opts.OnPromptsChanged != nil,
		ResourcesListChanged: c.opts.OnResourcesChanged != nil,
	}
	if isEmpty(filter) {
		return
	}
	if s := c.state.standing; s != nil {
		select {
		case <-s.done:
		default:
			return
		}
	}
	s, err := c.subscribe(context.Background(), filter, nil)
	if err == nil { // else the client is closed
		c.state.standing = s
	}
}

// standPatience is how long Connect waits for a server to agree to tell of
// changes.
const standPatience = 5 * time.Second

func (c *Client) awaitStanding(ctx context.Context) {
	c.mu.Lock()
	s := c.state.standing
	c.mu.Unlock()
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, standPatience)
	defer cancel()
	select {
	case <-s.opened:
	case <-s.done:
		c.log.Warn("the server does not tell of changes", "error", s.err)
	case <-ctx.Done():
		c.log.Warn("the server has not agreed to tell of changes", "within", standPatience)
	}
}
