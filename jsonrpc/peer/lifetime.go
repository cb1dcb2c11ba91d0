package peer

import (
	"context"
	"sync"
	"time"
)

// lifetime is the context of one request, or of a connection. It is part of what
// it belongs to, and costs nothing more until somebody waits for its end. To a
// request the end of the connection comes by way of the table, which knows every
// request, so that no chain of contexts has to be kept.
type lifetime struct {
	values context.Context // whose values count; never done

	mu    sync.Mutex
	err   error         // set when it is over
	done  chan struct{} // made for whoever asks first
	after map[*func()]struct{}
}

// Deadline returns that there is none: a requester who is tired says so.
func (l *lifetime) Deadline() (time.Time, bool) { return time.Time{}, false }

// Value returns a value of the context that Run was given.
func (l *lifetime) Value(key any) any { return l.values.Value(key) }

// Err returns context.Canceled once it is over.
func (l *lifetime) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Done returns a channel that is closed when it is over.
func (l *lifetime) Done() <-chan struct{} {
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
func (l *lifetime) AfterFunc(f func()) (stop func() bool) {
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

// cancel ends it; more than once is as good as once.
func (l *lifetime) cancel() {
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

// uncancelled returns ctx for its values only: it is never done.
func uncancelled(ctx context.Context) context.Context {
	if l, ok := ctx.(*lifetime); ok {
		return l.values
	}
	if ctx.Done() == nil {
		return ctx
	}
	return context.WithoutCancel(ctx)
}
