package streamable

import (
	"context"
	"sync"
)

// gate counts what an endpoint is doing, and closes when it shuts down.
type gate struct {
	closing chan struct{} // closed by close

	mu     sync.Mutex
	inside int
	closed bool
	empty  chan struct{} // closed when closed and nobody is inside
}

func newGate() *gate {
	return &gate{closing: make(chan struct{}), empty: make(chan struct{})}
}

// enter counts one more. It does not refuse: see isClosed.
func (g *gate) enter() {
	g.mu.Lock()
	g.inside++
	g.mu.Unlock()
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	g.settleLocked()
}

func (g *gate) isClosed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.closed = true
		close(g.closing)
		g.settleLocked()
	}
}

func (g *gate) settleLocked() {
	if !g.closed || g.inside > 0 {
		return
	}
	select {
	case <-g.empty:
	default:
		close(g.empty)
	}
}

// wait returns when nobody is inside a closed gate, or with ctx's error.
func (g *gate) wait(ctx context.Context) error {
	select {
	case <-g.empty:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// limit counts things of which there may be so many at once.
type limit struct {
	most int

	mu   sync.Mutex
	have int
	peak int // the largest have since fell last said yes
}

// take reports whether there was room for one more.
func (l *limit) take() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.have >= l.most {
		return false
	}
	l.have++
	l.peak = max(l.peak, l.have)
	return true
}

func (l *limit) give() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.have--
}

func (l *limit) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.have
}

// fell reports whether by or more have gone since there were most, and begins to
// count anew if so.
func (l *limit) fell(by int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.peak-l.have < by {
		return false
	}
	l.peak = l.have
	return true
}
