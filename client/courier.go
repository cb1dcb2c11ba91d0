package client

import (
	"context"
	"log/slog"
	"runtime/debug"
	"sync"

	"github.com/bossman-mcp/bossman/mcp"
)

// courier delivers callbacks in order, from one goroutine that exists only while
// there is something to deliver: the reader of a connection must not wait for
// them, and they may make calls.
type courier struct {
	crew *crew
	log  *slog.Logger

	mu      sync.Mutex
	queue   []letter
	waiting map[topic]struct{} // of the letters in queue
	running bool
	dropped bool // letters, since the queue was last empty
}

// letter is one callback.
type letter struct {
	about   topic
	deliver func()
}

// topic says that two letters mean the same, so that one is enough. The zero
// topic is never the same as another.
type topic struct {
	to    any // a listener, or nil for the functions of Options
	event mcp.Event
}

// maxLetters is how many callbacks wait for a callback that is slow. More are
// dropped.
const maxLetters = 1_000

func newCourier(log *slog.Logger) *courier {
	return &courier{crew: newCrew(), log: log, waiting: make(map[topic]struct{})}
}

// post adds a callback, unless the same is waiting.
func (c *courier) post(about topic, deliver func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if about != (topic{}) {
		if _, same := c.waiting[about]; same {
			return
		}
	}
	if len(c.queue) >= maxLetters {
		if !c.dropped {
			c.log.Warn("callbacks are too slow, notifications are dropped")
		}
		c.dropped = true
		return
	}
	if about != (topic{}) {
		c.waiting[about] = struct{}{}
	}
	c.queue = append(c.queue, letter{about, deliver})
	if !c.running {
		c.running = c.crew.start(c.run)
	}
}

func (c *courier) run(ctx context.Context) {
	for {
		c.mu.Lock()
		if len(c.queue) == 0 || ctx.Err() != nil {
			c.running, c.dropped, c.queue = false, false, nil
			c.mu.Unlock()
			return
		}
		l := c.queue[0]
		c.queue = c.queue[1:]
		delete(c.waiting, l.about)
		c.mu.Unlock()
		c.deliver(l)
	}
}

// deliver calls back; a panic costs this callback only.
func (c *courier) deliver(l letter) {
	defer func() {
		if v := recover(); v != nil {
			c.log.Error("callback panicked", "panic", v, "stack", string(debug.Stack()))
		}
	}()
	l.deliver()
}
