// Package lifetime has a context that is a part of what it belongs to.
package lifetime

import (
	"context"
	"sync"
	"time"
)

// Context is the context of one request, or of a connection. It is part of what
// it belongs to, and costs nothing more until somebody waits for its end. It has no
// parent: whoever has a table of requests ends those in it, so that no chain of
// contexts has to be kept.
type Context struct {
	// Values is the context whose values count; when it ends does not matter. It
	// must be set before anything else is called.
	Values context.Context

	mu    sync.Mutex
	err   error         // set when it is over
	done  chan struct{} // made for whoever asks first
	after map[*func()]struct{}
}

// Deadline returns that there is none: a requester who is tired says so.
func (l *Context) Deadline() (time.Time, bool) { return time.Time{}, false }

// Value returns one of those of Values, but not what package context keeps there
// to know of its end.
func (l *Context) Value(key any) any { return Uncancelled(l.Values).Value(key) }

// Err returns context.Canceled once it is over.
func (l *Context) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Done returns a channel that is closed when it is over.
func (l *Context) Done() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done == nil {
		l.done = make(chan struct{})
		if l.err != nil {
			close(l.done)
		}
	}
	return l.done
}

// AfterFunc lets package context follow this one without a goroutine. It calls f
// when it is over; stop prevents that and reports whether it could.
func (l *Context) AfterFunc(f func()) (stop func() bool) {
	l.mu.Lock()
	over := l.err != nil
	if !over {
		if l.after == nil {
			l.after = make(map[*func()]struct{})
		}
		l.after[&f] = struct{}{}
	}
	l.mu.Unlock()
	if over {
		go f() // ends at once: f is package context's, which may hold its lock now
	}
	return func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		_, waiting := l.after[&f]
		delete(l.after, &f)
		return waiting
	}
}

// Cancel ends it; more than once is as good as once.
func (l *Context) Cancel() {
	l.mu.Lock()
	if l.err != nil {
		l.mu.Unlock()
		return
	}
	l.err = context.Canceled
	if l.done != nil {
		close(l.done)
	}
	after := l.after
	l.after = nil
	l.mu.Unlock()
	for f := range after {
		(*f)()
	}
}

// Uncancelled returns ctx for its values only: it is never done.
func Uncancelled(ctx context.Context) context.Context {
	if l, ok := ctx.(*Context); ok {
		ctx = l.Values
	}
	if ctx.Done() == nil {
		return ctx
	}
	return context.WithoutCancel(ctx)
}
