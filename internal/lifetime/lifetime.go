// Package lifetime has contexts that are a part of what they belong to.
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
	End
}

// Value returns one of those of Values, but not what package context keeps there
// to know of its end.
func (l *Context) Value(key any) any { return Uncancelled(l.Values).Value(key) }

// End is a context without values, over when Cancel is called. Its zero value is
// ready.
type End struct {
	mu    sync.Mutex
	err   error         // set when it is over
	done  chan struct{} // made for whoever asks first
	after map[*func()]struct{}
}

// With returns a context that is over when e is, and has the values of another;
// when that ends does not matter. E does not keep it, so the values are kept only by
// those who use them.
func (e *End) With(values context.Context) context.Context { return &lasting{values, e} }

// lasting is what With returns.
type lasting struct {
	values context.Context
	*End
}

func (l *lasting) Value(key any) any { return Uncancelled(l.values).Value(key) }

// EndOf returns ctx without its values where they can be told from its end, for
// those who would keep it for long and need no values; else ctx.
func EndOf(ctx context.Context) context.Context {
	if l, ok := ctx.(*lasting); ok {
		return l.End
	}
	return ctx
}

// Value returns nil: it has none.
func (e *End) Value(any) any { return nil }

// Deadline returns that there is none: a requester who is tired says so.
func (e *End) Deadline() (time.Time, bool) { return time.Time{}, false }

// Err returns context.Canceled once it is over.
func (e *End) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// Done returns a channel that is closed when it is over.
func (e *End) Done() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.done == nil {
		e.done = make(chan struct{})
		if e.err != nil {
			close(e.done)
		}
	}
	return e.done
}

// AfterFunc lets package context follow this one without a goroutine. It calls f
// when it is over; stop prevents that and reports whether it could.
func (e *End) AfterFunc(f func()) (stop func() bool) {
	e.mu.Lock()
	over := e.err != nil
	if !over {
		if e.after == nil {
			e.after = make(map[*func()]struct{})
		}
		e.after[&f] = struct{}{}
	}
	e.mu.Unlock()
	if over {
		go f() // ends at once: f is package context's, which may hold its lock now
	}
	return func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		_, waiting := e.after[&f]
		delete(e.after, &f)
		return waiting
	}
}

// Cancel ends it; more than once is as good as once.
func (e *End) Cancel() {
	e.mu.Lock()
	if e.err != nil {
		e.mu.Unlock()
		return
	}
	e.err = context.Canceled
	if e.done != nil {
		close(e.done)
	}
	after := e.after
	e.after = nil
	e.mu.Unlock()
	for f := range after {
		(*f)()
	}
}

// Uncancelled returns ctx for its values only: it is never done.
func Uncancelled(ctx context.Context) context.Context {
	switch l := ctx.(type) {
	case *Context:
		ctx = l.Values
	case *lasting:
		ctx = l.values
	}
	if ctx.Done() == nil {
		return ctx
	}
	return context.WithoutCancel(ctx)
}
