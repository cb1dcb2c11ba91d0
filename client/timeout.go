package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bossman-mcp/bossman/internal/lifecycle"
)

// limit is how long a call may wait.
type limit struct {
	idle time.Duration // in silence; negative: any time
	most time.Duration // in all; negative: any time
	conn *conn

	start  time.Time
	timer  *time.Timer // nil when the limit cannot be moved
	cancel context.CancelCauseFunc
}

// bound puts the limits of a call on a context; stop releases them. The time
// moves only with progress, while a server of the handshake era asks us
// something, or while a person logs in; otherwise a plain deadline will do, and l is nil.
func bound(ctx context.Context, k *conn, a *lifecycle.Agreement, opts *CallOptions) (bounded context.Context, l *limit, stop func()) {
	first, inAll := opts.Timeout, false
	if first < 0 || opts.MaxTimeout >= 0 && opts.MaxTimeout <= first {
		first, inAll = opts.MaxTimeout, true
	}
	switch {
	case first < 0:
		return ctx, nil, func() {}
	case a.Stateless && opts.OnProgress == nil && k.waiter == nil:
		bounded, cancel := context.WithTimeoutCause(ctx, first, &TimeoutError{After: first, InAll: inAll})
		return bounded, nil, cancel
	}
	l = &limit{idle: opts.Timeout, most: opts.MaxTimeout, conn: k, start: time.Now()}
	bounded, l.cancel = context.WithCancelCause(ctx)
	l.timer = time.AfterFunc(first, l.expire)
	return bounded, l, l.stop
}

func (l *limit) stop() {
	l.timer.Stop()
	l.cancel(nil)
}

// extend starts the time of silence anew; the upper limit stays.
func (l *limit) extend() { l.reset(l.idle) }

// reset lets the timer run for d, or until the upper limit.
func (l *limit) reset(d time.Duration) {
	if l.most >= 0 {
		rest := l.most - time.Since(l.start)
		if d < 0 || rest < d {
			d = max(0, rest)
		}
	}
	l.timer.Reset(d)
}

func (l *limit) expire() {
	busy, last := l.conn.busy()
	switch {
	case l.most >= 0 && time.Since(l.start) >= l.most:
		l.cancel(&TimeoutError{After: l.most, InAll: true})
	case busy: // the server waits for us
		l.extend()
	case time.Since(last) < l.idle: // and could not go on before that
		l.reset(l.idle - time.Since(last))
	default:
		l.cancel(&TimeoutError{After: l.idle})
	}
}

// patient is a context that ends after d, but for the time in which a person logs
// in on the newest connection.
func (c *Client) patient(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	l := &limit{idle: d, most: -1, cancel: cancel}
	ready := make(chan struct{})
	l.timer = time.AfterFunc(d, func() {
		<-ready
		if l.conn = c.newest.Load(); l.conn == nil {
			cancel(&TimeoutError{After: d})
			return
		}
		l.expire()
	})
	close(ready)
	return ctx, l.stop
}

// explain names the limit in the error of a call that reached it.
func explain(bounded context.Context, method string, err error) error {
	if err == nil || bounded.Err() == nil || !errors.Is(err, bounded.Err()) {
		return err
	}
	var late *TimeoutError
	if !errors.As(context.Cause(bounded), &late) {
		return err
	}
	return fmt.Errorf("call %s: %w", method, late)
}
