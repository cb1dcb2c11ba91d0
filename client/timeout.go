package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bossman-mcp/bossman/internal/lifecycle"
)

// limit is the context of a call that may wait for so long only. It is the
// caller's context, and ends besides when the alarm of its connection says so: a
// call needs neither a timer of its own nor a context that follows another.
type limit struct {
	context.Context // the caller's
	conn            *conn
	idle            time.Duration // in silence; negative: any time
	most            time.Duration // in all; negative: any time
	moves           bool          // what goes on at the connection moves the time
	start           time.Time
	late            atomic.Pointer[TimeoutError] // set when the time is up

	entry alarmEntry

	mu     sync.Mutex
	wake   chan<- struct{} // of whoever waits for the answer; nil: nobody
	whole  context.Context // ends with either; made for whoever asks for Done
	cancel context.CancelFunc
}

// bound puts the limits of a call on a context, nil if there are none; stop
// releases them. The time moves only with progress, while a server of the
// handshake era asks us something, or while a person logs in.
func bound(ctx context.Context, k *conn, a *lifecycle.Agreement, opts *CallOptions) *limit {
	first := opts.Timeout
	if first < 0 || opts.MaxTimeout >= 0 && opts.MaxTimeout <= first {
		first = opts.MaxTimeout
	}
	if first < 0 {
		return nil
	}
	l := &limit{
		Context: ctx, conn: k, idle: opts.Timeout, most: opts.MaxTimeout,
		moves: !a.Stateless || opts.OnProgress != nil || k.waiter != nil, start: time.Now(),
	}
	k.alarm.add(l, l.start.Add(first))
	return l
}

// context returns the context to call with: that of the caller if there is no
// limit.
func (l *limit) context(otherwise context.Context) context.Context {
	if l == nil {
		return otherwise
	}
	return l
}

// stop ends the limit.
func (l *limit) stop() {
	if l == nil {
		return
	}
	l.conn.alarm.remove(l)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cancel != nil {
		l.cancel()
	}
}

// extend starts the time of silence anew; the upper limit stays.
func (l *limit) extend() { l.conn.alarm.move(l, l.capped(l.idle)) }

// capped returns when d from now is over, or the upper limit if that is sooner.
func (l *limit) capped(d time.Duration) time.Time {
	now := time.Now()
	end := l.start.Add(l.most)
	if l.most >= 0 && (d < 0 || end.Before(now.Add(d))) {
		return end
	}
	return now.Add(d)
}

// ring is called when the time is up. It reports when to ring again, if the time
// has moved; otherwise the call is over.
func (l *limit) ring() (again time.Time, ok bool) {
	if l.most >= 0 && time.Since(l.start) >= l.most {
		l.expire(&TimeoutError{After: l.most, InAll: true})
		return time.Time{}, false
	}
	if l.moves {
		if rest := l.conn.moreOf(l.idle); rest > 0 {
			return l.capped(rest), true
		}
	}
	l.expire(&TimeoutError{After: l.idle})
	return time.Time{}, false
}

// moreOf returns how much of a time of silence is left, since the server could not
// go on while it waited for us or for a person.
func (k *conn) moreOf(idle time.Duration) time.Duration {
	busy, last := k.busy()
	if busy {
		return idle
	}
	return max(0, idle-time.Since(last))
}

// patient is a context that ends after d, but for the time in which a person logs
// in on the newest connection.
func (c *Client) patient(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	var timer *time.Timer
	ready := make(chan struct{})
	timer = time.AfterFunc(d, func() {
		<-ready
		if k := c.newest.Load(); k != nil {
			if rest := k.moreOf(d); rest > 0 {
				timer.Reset(rest)
				return
			}
		}
		cancel(&TimeoutError{After: d})
	})
	close(ready)
	return ctx, func() {
		timer.Stop()
		cancel(nil)
	}
}

func (l *limit) expire(late *TimeoutError) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.late.Store(late)
	if l.wake != nil {
		select {
		case l.wake <- struct{}{}:
		default: // it is awake already
		}
	}
	if l.cancel != nil {
		l.cancel()
	}
}

// Await waits for an answer and reports whether it is there, and not the end of
// the context; see peer.Call.
func (l *limit) Await(answered chan struct{}) bool {
	l.wakeBy(answered)
	defer l.wakeBy(nil)
	if l.isLate() {
		return false
	}
	done := l.Context.Done()
	if done == nil { // there is but one thing to wait for
		<-answered
		return !l.isLate()
	}
	select {
	case <-answered:
		return !l.isLate()
	case <-done:
		return false
	}
}

func (l *limit) wakeBy(wake chan<- struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wake = wake
}

// Done returns a channel that is closed when the caller's context ends or the time
// is up.
func (l *limit) Done() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.whole == nil {
		l.whole, l.cancel = context.WithCancel(l.Context)
		if l.isLate() {
			l.cancel()
		}
	}
	return l.whole.Done()
}

func (l *limit) isLate() bool { return l.late.Load() != nil }

// Err returns why Done is closed.
func (l *limit) Err() error {
	if err := l.Context.Err(); err != nil {
		return err
	}
	if l.isLate() {
		return context.DeadlineExceeded
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.whole != nil {
		return l.whole.Err() // as stop leaves it
	}
	return nil
}

// Cause tells the server why nobody waits any more; see peer.Call.
func (l *limit) Cause() error {
	if late := l.late.Load(); late != nil {
		return late
	}
	return context.Cause(l.Context)
}

// explain names the limit in the error of a call that reached it.
func explain(bounded context.Context, method string, err error) error {
	if err == nil || bounded.Err() == nil || !errors.Is(err, bounded.Err()) {
		return err
	}
	cause := context.Cause(bounded)
	if l, ok := bounded.(*limit); ok {
		cause = l.Cause()
	}
	var late *TimeoutError
	if !errors.As(cause, &late) {
		return err
	}
	return fmt.Errorf("call %s: %w", method, late)
}
