package streamable

import (
	"context"
	"sync"
	"sync/atomic"
)

// gate counts what an endpoint is doing, and closes when it shuts down. Every
// request passes it twice, so it has no lock.
type gate struct {
	inside  atomic.Int64
	closed  atomic.Bool
	closing chan struct{} // closed by close
	empty   chan struct{} // closed when closed and nobody is inside

	onceClosed, onceEmpty sync.Once
}

func newGate() *gate {
	return &gate{closing: make(chan struct{}), empty: make(chan struct{})}
}

// enter counts one more. It does not refuse: see isClosed.
func (g *gate) enter() { g.inside.Add(1) }

func (g *gate) leave() {
	if g.inside.Add(-1) == 0 && g.closed.Load() {
		g.settle()
	}
}

func (g *gate) isClosed() bool { return g.closed.Load() }

func (g *gate) close() {
	g.onceClosed.Do(func() {
		g.closed.Store(true) // who leaves from here on settles
		close(g.closing)
		if g.inside.Load() == 0 {
			g.settle()
		}
	})
}

func (g *gate) settle() { g.onceEmpty.Do(func() { close(g.empty) }) }

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
