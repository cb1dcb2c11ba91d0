package server

import (
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

// hub tells subscribers of changes.
type hub struct {
	mu   sync.Mutex
	subs map[*subscriber]struct{}
}

// subscriber is one open subscription. Its emit never blocks.
type subscriber struct {
	methods map[string]bool
	uris    map[string]bool
	emit    func(mcp.Event)
}

func (h *hub) publish(e mcp.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for sub := range h.subs {
		if sub.methods[e.Method] || sub.uris[e.URI] {
			sub.emit(e)
		}
	}
}

func (h *hub) add(sub *subscriber) (stop func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.subs == nil {
		h.subs = make(map[*subscriber]struct{})
	}
	h.subs[sub] = struct{}{}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.subs, sub)
	}
}

// maxWatched caps the resources of one subscription.
const maxWatched = 10_000

// listen opens a subscription to what the server has.
func (s *Server) listen(c *mcp.Call) (any, error) {
	var params mcp.SubscriptionsListenParams
	if err := json.Unmarshal(c.Params, &params); err != nil || jsonscan.Get(c.Params, "notifications") == nil {
		return nil, jsonrpc.InvalidParams("notifications must be an object of the kinds of events to hear of")
	}
	asked := params.Notifications
	if len(asked.ResourceSubscriptions) > maxWatched {
		return nil, jsonrpc.InvalidParams("resourceSubscriptions may name %d resources", maxWatched)
	}
	changes := !s.opts.FixedLists
	honoured := mcp.SubscriptionFilter{
		ToolsListChanged:     asked.ToolsListChanged && changes && s.tools.used(),
		PromptsListChanged:   asked.PromptsListChanged && changes && s.prompts.used(),
		ResourcesListChanged: asked.ResourcesListChanged && changes && s.hasResources(),
	}
	if s.hasResources() {
		honoured.ResourceSubscriptions = asked.ResourceSubscriptions
	}
	sub := &subscriber{emit: c.Emit, methods: map[string]bool{
		mcp.NotificationToolsListChanged:     honoured.ToolsListChanged,
		mcp.NotificationPromptsListChanged:   honoured.PromptsListChanged,
		mcp.NotificationResourcesListChanged: honoured.ResourcesListChanged,
	}}
	if len(honoured.ResourceSubscriptions) > 0 {
		sub.uris = make(map[string]bool, len(honoured.ResourceSubscriptions))
		for _, uri := range honoured.ResourceSubscriptions {
			sub.uris[uri] = uri != ""
		}
	}
	return &mcp.Subscription{Filter: honoured, Stop: s.events.add(sub)}, nil
}

// changed tells subscribers that a list is not what it was.
func (s *Server) changed(method string) {
	s.discovered.Store(nil)
	if !s.opts.FixedLists {
		s.events.publish(mcp.Event{Method: method})
	}
}

// ResourceUpdated tells those who watch the resource at uri that it changed.
func (s *Server) ResourceUpdated(uri string) {
	s.events.publish(mcp.Event{Method: mcp.NotificationResourceUpdated, URI: uri})
}
