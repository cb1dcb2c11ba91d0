package deferred

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

// hub knows who watches which results.
type hub struct {
	mu      sync.Mutex        // taken before that of the Deferrer
	watches map[string]*watch // by id
}

// watch is a result that somebody watches.
type watch struct {
	subs  map[*subscriber]struct{}
	last  int64 // the version that was told last
	final bool  // nothing more will come
}

// subscriber is one open subscription. Its emit never blocks.
type subscriber struct{ emit func(mcp.Event) }

// maxWatched caps the results of one subscription.
const maxWatched = 1000

// listen adds deferred results to a subscription. The state that each has now is
// told first, so that nothing falls between the handle and the subscription.
func (d *Deferrer) listen(ctx context.Context, c *mcp.Call, next mcp.Handler) (any, error) {
	asked := jsonscan.Get(jsonscan.Get(c.Params, "notifications"), "taskIds")
	if asked == nil {
		return next.Handle(ctx, c)
	}
	ids, err := d.watchable(ctx, c, asked)
	if err != nil {
		return nil, err
	}
	result, err := next.Handle(ctx, c)
	sub, ok := result.(*mcp.Subscription)
	if err != nil || !ok || len(ids) == 0 {
		return result, err
	}
	both := *sub
	both.Filter.TaskIDs = ids
	leave := d.watch(ctx, ids, c.Emit)
	both.Stop = func() { leave(); sub.Stop() }
	return &both, nil
}

// watchable returns those of the ids that are the caller's.
func (d *Deferrer) watchable(ctx context.Context, c *mcp.Call, asked []byte) ([]string, error) {
	if !c.Client.Capabilities.Deferred() {
		return nil, mcp.MissingDeferred()
	}
	var ids []string
	if err := json.Unmarshal(asked, &ids); err != nil || len(ids) > maxWatched {
		return nil, jsonrpc.InvalidParams("taskIds must be an array of up to %d ids of tasks", maxWatched)
	}
	slices.Sort(ids)
	var own []string
	for _, id := range slices.Compact(ids) {
		switch _, err := d.owned(ctx, c, id); {
		case err == nil:
			own = append(own, id)
		case !errors.Is(err, errUnknown):
			return nil, err
		}
	}
	return own, nil
}

// watch tells emit of the results, beginning with the states they have now.
func (d *Deferrer) watch(ctx context.Context, ids []string, emit func(mcp.Event)) (leave func()) {
	sub := &subscriber{emit}
	h := &d.hub
	for _, id := range ids {
		h.mu.Lock() // while it is read: a change that is not in it will be published later
		w := h.joinLocked(id, sub)
		if r, err := d.read(ctx, id); err == nil {
			w.last, w.final = max(w.last, r.version), r.Status.Final()
			emit(d.event(r))
		}
		h.mu.Unlock()
	}
	d.mu.Lock()
	d.wakeLocked()
	d.mu.Unlock()
	return func() { h.leave(ids, sub) }
}

func (h *hub) joinLocked(id string, sub *subscriber) *watch {
	if h.watches == nil {
		h.watches = make(map[string]*watch)
	}
	w := h.watches[id]
	if w == nil {
		w = &watch{subs: make(map[*subscriber]struct{})}
		h.watches[id] = w
	}
	w.subs[sub] = struct{}{}
	return w
}

func (h *hub) leave(ids []string, sub *subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range ids {
		if w := h.watches[id]; w != nil {
			delete(w.subs, sub)
			if len(w.subs) == 0 {
				delete(h.watches, id)
			}
		}
	}
}

// publish tells those who watch a record what it has become.
func (d *Deferrer) publish(r *record) { d.hub.publish(r, r.version, d.event) }

// publishNews does the same, unless it was told already.
func (d *Deferrer) publishNews(r *record) { d.hub.publish(r, r.version-1, d.event) }

// publish passes over a record if a version after least was told.
func (h *hub) publish(r *record, least int64, event func(*record) mcp.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.watches[r.ID]
	if w == nil || w.last > least {
		return
	}
	w.last, w.final = r.version, r.Status.Final()
	e := event(r)
	for sub := range w.subs {
		sub.emit(e)
	}
}

// event is the state of a record as subscribers hear of it.
func (d *Deferrer) event(r *record) mcp.Event {
	shown := *r
	d.overlay(&shown)
	return mcp.Event{Method: mcp.NotificationDeferred, Deferred: shown.state(d.opts.PollInterval, true)}
}

// open returns the watched results that are not final.
func (h *hub) open() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var ids []string
	for id, w := range h.watches {
		if !w.final {
			ids = append(ids, id)
		}
	}
	return ids
}
