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
	tools, prompts, resources bool // it wants to know of changes of these lists
	uris                      map[string]bool
	emit                      func(mcp.Event)
}

func (sub *subscriber) wants(e mcp.Event) bool {
	switch e.Method {
	case mcp.NotificationToolsListChanged:
		return sub.tools
	case mcp.NotificationPromptsListChanged:
		return sub.prompts
	case mcp.NotificationResourcesListChanged:
		return sub.resources
	}
	return sub.uris[e.URI]
}

func (h *hub) publish(e mcp.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for sub := range h.subs {
		if sub.wants(e) {
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
		if delete(h.subs, sub); len(h.subs) == 0 {
			h.subs = nil // a map does not shrink
		}
	}
}

// maxWatched caps the resources of one subscription.
const maxWatched = 10_000

// listen opens a subscription to what the server has.
func (s *Server) listen(c *mcp.Call) (any, error) {
	asked, err := readFilter(jsonscan.Get(c.Params, "notifications"))
	if err != nil {
		return nil, jsonrpc.InvalidParams("notifications must be an object of the kinds of events to hear of")
	}
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
	sub := &subscriber{
		tools: honoured.ToolsListChanged, prompts: honoured.PromptsListChanged, resources: honoured.ResourcesListChanged,
		emit: c.Emit,
	}
	if len(honoured.ResourceSubscriptions) > 0 {
		sub.uris = make(map[string]bool, len(honoured.ResourceSubscriptions))
		for _, uri := range honoured.ResourceSubscriptions {
			sub.uris[uri] = uri != ""
		}
	}
	return &mcp.Subscription{Filter: honoured, Stop: s.events.add(sub)}, nil
}

// readFilter reads what a subscriber wants to hear of, as package json would. Every
// session of an older client has one, so that the usual ones do without it.
func readFilter(text []byte) (f mcp.SubscriptionFilter, err error) {
	usual := jsonscan.KindOf(text) == jsonscan.Object
	for name, value := range jsonscan.Members(text) {
		var to *bool
		switch string(name) {
		case "toolsListChanged":
			to = &f.ToolsListChanged
		case "promptsListChanged":
			to = &f.PromptsListChanged
		case "resourcesListChanged":
			to = &f.ResourcesListChanged
		case "resourceSubscriptions", "taskIds":
			usual = false
			continue
		default:
			continue
		}
		*to = string(value) == "true"
		usual = usual && jsonscan.KindOf(value) == jsonscan.Bool
	}
	if usual {
		return f, nil
	}
	f = mcp.SubscriptionFilter{}
	return f, json.Unmarshal(text, &f)
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
