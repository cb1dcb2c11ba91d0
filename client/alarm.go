package client

import (
	"sync"
	"time"
)

// alarm rings for the calls of a connection whose time is up. It has one timer for
// all of them, which is set for the first; a call that ends in time does not touch
// it.
type alarm struct {
	mu    sync.Mutex
	calls []*limit
	timer *time.Timer
	next  time.Time // when the timer goes off; zero: it is not set
}

// alarmEntry is the alarm's part of a limit.
type alarmEntry struct {
	index int // among the calls, from 1; 0: it is not there
	due   time.Time
}

func (a *alarm) add(l *limit, due time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = append(a.calls, l)
	l.entry = alarmEntry{len(a.calls), due}
	a.setLocked(due)
}

// move changes the time of a call that has not ended.
func (a *alarm) move(l *limit, due time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if l.entry.index != 0 {
		l.entry.due = due
		a.setLocked(due)
	}
}

func (a *alarm) remove(l *limit) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := l.entry.index - 1
	if i < 0 {
		return
	}
	last := len(a.calls) - 1
	a.calls[i] = a.calls[last]
	a.calls[i].entry.index = i + 1
	a.calls[last] = nil
	a.calls = a.calls[:last]
	l.entry.index = 0
}

// setLocked sees to it that the timer goes off in time.
func (a *alarm) setLocked(due time.Time) {
	switch {
	case !a.next.IsZero() && !due.Before(a.next):
		return
	case a.timer == nil:
		a.timer = time.AfterFunc(time.Until(due), a.ring)
	default:
		a.timer.Reset(time.Until(due))
	}
	a.next = due
}

// ring tells the calls whose time is up, and sets the timer for the next.
func (a *alarm) ring() {
	for _, l := range a.due() {
		if again, ok := l.ring(); ok {
			a.move(l, again)
		} else {
			a.remove(l)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range a.calls {
		a.setLocked(l.entry.due)
	}
}

func (a *alarm) due() (due []*limit) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.next = time.Time{}
	now := time.Now()
	for _, l := range a.calls {
		if !l.entry.due.After(now) {
			due = append(due, l)
		}
	}
	return due
}

// stop ends the alarm of a connection that is gone.
func (a *alarm) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timer != nil {
		a.timer.Stop()
	}
}
