package lifecycle

import (
	"context"
	"slices"
	"sync"

	"github.com/bossman-mcp/bossman/internal/errands"
	"github.com/bossman-mcp/bossman/mcp"
)

// outbox takes change events without ever blocking and sends them in order. An
// event takes the place of one about the same thing that is waiting: the client
// will look after it anyway. Many boxes may share a queue, which sends for one after
// the other, since a change concerns all subscribers at once.
// So a client that does not read costs one small slice.
type outbox struct {
	ctx   context.Context
	send  func(context.Context, mcp.Event) error
	queue *errands.Queue

	mu      sync.Mutex
	waiting []mcp.Event
	started bool // events may leave
	sending bool // drain runs, or is in the queue
	closed  bool
	done    sync.WaitGroup
}

// maxWaiting caps the updates of different resources that wait for one client;
// beyond it new ones are dropped.
const maxWaiting = 1_000

// newOutbox returns a box with a queue of its own.
func newOutbox(ctx context.Context, send func(context.Context, mcp.Event) error) *outbox {
	return &outbox{ctx: ctx, send: send, queue: new(errands.Queue)}
}

func (o *outbox) add(e mcp.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	if i := slices.IndexFunc(o.waiting, e.Replaces); i >= 0 {
		o.waiting[i] = e
		return
	}
	if len(o.waiting) >= maxWaiting {
		return
	}
	o.waiting = append(o.waiting, e)
	o.wakeLocked()
}

// start lets events leave; until then they gather.
func (o *outbox) start() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.started = true
	o.wakeLocked()
}

func (o *outbox) wakeLocked() {
	if o.started && !o.sending && !o.closed && len(o.waiting) > 0 {
		o.sending = true
		o.done.Add(1)
		o.queue.Add(o.drain)
	}
}

func (o *outbox) drain() {
	defer o.done.Done()
	for {
		o.mu.Lock()
		if o.closed || len(o.waiting) == 0 {
			o.sending = false
			o.mu.Unlock()
			return
		}
		e := o.waiting[0]
		o.waiting = o.waiting[1:]
		o.mu.Unlock()
		if o.send(o.ctx, e) != nil {
			o.close()
		}
	}
}

// close drops what waits. It does not wait for a send under way.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed, o.waiting = true, nil
}

// wait returns when no send is under way; call it after close, and after the
// transport can no longer block.
func (o *outbox) wait() { o.done.Wait() }
