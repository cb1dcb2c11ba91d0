package login

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrTooMany is matched by the error of an [Authorizer] that has logged in three
// times in a row, and was refused each time. It will try again after a minute.
var ErrTooMany = errors.New("too many logins in a row")

const (
	patience  = time.Minute // that a login must last to be a success
	maxLogins = 3           // in a row without one
)

// row counts logins that follow each other.
type row struct {
	length int
	last   time.Time // when the last one ended
	err    error     // how; nil: with a token
}

// begin counts one more login, unless there were too many.
func (r *row) begin(now time.Time, why *challenge) error {
	if why.ended || now.Sub(r.last) >= patience {
		*r = row{}
	}
	switch {
	case r.length < maxLogins:
		r.length++
		return nil
	case r.err != nil:
		return fmt.Errorf("%w: %w", ErrTooMany, r.err)
	default:
		return fmt.Errorf("%w: the server still answers with status %d", ErrTooMany, why.status)
	}
}

// depart is called by a grant when it is about to ask somebody for a token. It
// fails if that has been done too often.
func (t *trip) depart() error {
	if t.away {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.row.begin(time.Now(), t.why); err != nil {
		return err
	}
	t.away = true
	return nil
}

// arrive notes how the trip ended, if it began.
func (t *trip) arrive(err error) {
	if !t.away {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.row.last, t.row.err = time.Now(), err
}

// kind tells apart what a flight is for.
type kind int

const (
	renewing kind = iota // before a request
	entering             // after a refusal
)

// flight is work that is done by one caller for all that wait for it.
type flight struct {
	kind kind
	done chan struct{} // closed at the end; then the rest may be read
	err  error
	lost bool // the caller gave up: its error says nothing to others
}

// together does work, unless settled finds, under the lock, that there is no need
// for it. One caller at a time works; the others wait, and share its error if
// they wanted the same.
func (a *Authorizer) together(ctx context.Context, k kind, settled func() bool, work func() error) error {
	for {
		a.mu.Lock()
		if settled() {
			a.mu.Unlock()
			return nil
		}
		f := a.flight
		if f == nil {
			f = &flight{kind: k, done: make(chan struct{})}
			a.flight = f
			a.mu.Unlock()
			return a.lead(ctx, f, work)
		}
		a.mu.Unlock()
		select {
		case <-f.done:
		case <-ctx.Done():
			return fmt.Errorf("wait for a login: %w", ctx.Err())
		}
		if f.kind == k && f.err != nil && !f.lost {
			return f.err
		}
	}
}

func (a *Authorizer) lead(ctx context.Context, f *flight, work func() error) error {
	f.lost = true // in case of a panic
	defer func() {
		a.mu.Lock()
		a.flight = nil
		a.mu.Unlock()
		close(f.done)
	}()
	f.err = work()
	f.lost = f.err != nil && ctx.Err() != nil
	return f.err
}
