package client

import (
	"context"
	"sync"
	"time"
)

// crew is a set of goroutines with one end: whoever calls end waits for them.
type crew struct {
	call func(func(ctx context.Context)) // with the crew's own context
	stop context.CancelFunc

	mu   sync.Mutex
	over bool
	work sync.WaitGroup
}

func newCrew() *crew {
	ctx, cancel := context.WithCancel(context.Background())
	return &crew{call: func(f func(context.Context)) { f(ctx) }, stop: cancel}
}

// start runs f on a goroutine of its own, and reports false instead after the
// end. The context ends with the crew.
func (c *crew) start(f func(ctx context.Context)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return false
	}
	c.work.Go(func() { c.call(f) }) // end waits for it
	return true
}

// end tells the goroutines to stop and waits for them, but no longer than
// patience.
func (c *crew) end(patience time.Duration) {
	c.mu.Lock()
	c.over = true
	c.mu.Unlock()
	c.stop()
	idle := make(chan struct{})
	go func() { // ends with the last of the crew
		c.work.Wait()
		close(idle)
	}()
	select {
	case <-idle:
	case <-time.After(patience):
	}
}
