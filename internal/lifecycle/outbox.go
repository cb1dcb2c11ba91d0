package lifecycle

import (
	"context"
	"slices"
	"sync"

	"github.com/bossman-mcp/bossman/mcp"
)

// outbox takes change events without ever blocking and sends them in order, from
// a goroutine that exists only while there is something to send. An event takes
// the place of one about the same thing that is waiting: the client will look
// after it anyway.
// So a client that does not read costs one small slice.
type outbox struct {
	ctx  context.Context
	send func(context.Context, mcp.Event) error

	mu      sync.Mutex
	waiting []mcp.Event
	started bool // events may leave
	sending bool // the goroutine exists
	closed  bool
	done    sync.WaitGroup
}

// maxWaiting caps the updates of different resources that wait for one client;
// beyond it new ones are dropped.
const maxWaiting = 1_000

func newOutbox(ctx context.Context, send func(context.Context, mcp.Event) error) *outbox {
	return &outbox{ctx: ctx, send: send}
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
		o.done.Go(o.drain) // wait waits for it
	}
}

func (o *outbox) drain() {
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
