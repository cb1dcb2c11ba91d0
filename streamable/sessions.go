package streamable

import (
	"sync"
	"time"
)

// sessions is the table of an endpoint's open sessions. One timer looks after
// them all, and runs only while there are any.
type sessions struct {
	e *Endpoint

	mu     sync.Mutex
	byID   map[string]*session
	closed bool
	sweep  *time.Timer // nil while it does not run
}

func (t *sessions) init(e *Endpoint) {
	t.e = e
	t.byID = make(map[string]*session)
}

// interval is how often idle sessions are looked for.
func (t *sessions) interval() time.Duration {
	return min(max(t.e.opts.SessionIdle/4, 10*time.Millisecond), time.Minute)
}

func (t *sessions) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.byID)
}

// full reports whether there is no room for another session.
func (t *sessions) full() bool { return t.count() >= t.e.opts.MaxSessions }

// add enters a session and reports whether there was room.
func (t *sessions) add(s *session) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || len(t.byID) >= t.e.opts.MaxSessions {
		return false
	}
	t.byID[s.id] = s
	if t.sweep == nil {
		t.sweep = time.AfterFunc(t.interval(), t.reap)
	}
	return true
}

// find returns the session with an id if it belongs to who asks, else nil. To
// others it does not exist.
func (t *sessions) find(id string, who owner) *session {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.byID[id]; s != nil && s.owner == who {
		return s
	}
	return nil
}

// remove takes a session out and ends it.
func (t *sessions) remove(s *session) {
	t.mu.Lock()
	if t.byID[s.id] == s {
		delete(t.byID, s.id)
	}
	t.mu.Unlock()
	s.end()
}

// reap ends the sessions that were idle for too long.
func (t *sessions) reap() {
	now := time.Now()
	t.mu.Lock()
	var idle []*session
	for id, s := range t.byID {
		if s.idle(now) {
			idle = append(idle, s)
			delete(t.byID, id)
		}
	}
	switch {
	case t.closed:
	case len(t.byID) > 0:
		t.sweep.Reset(t.interval())
	default:
		t.sweep = nil
	}
	t.mu.Unlock()
	for _, s := range idle {
		s.end()
	}
}

// close ends all sessions. No more are added.
func (t *sessions) close() {
	t.mu.Lock()
	all := t.byID
	t.byID, t.closed = make(map[string]*session), true
	if t.sweep != nil {
		t.sweep.Stop()
	}
	t.mu.Unlock()
	for _, s := range all {
		s.end()
	}
}
