package parked

import (
	"sync"
	"time"
)

// ends is the queue of sockets whose owners are to be told that they ended. Very
// many may end at once, so one goroutine tells one after the other. If it is held
// up, others go on.
type ends struct {
	mu      sync.Mutex
	waiting []*socket   // oldest first
	tellers int         // goroutines
	begun   int         // sockets that were taken since the timer last looked
	look    *time.Timer // runs while there are tellers
}

// aMoment is for how long a queue may stand still.
const aMoment = 20 * time.Millisecond

func (q *ends) add(s *socket) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, s)
	if q.tellers == 0 {
		q.startLocked(1)
		q.begun, q.look = 0, time.AfterFunc(aMoment, q.hasten)
	}
}

func (q *ends) startLocked(count int) {
	q.tellers += count
	for range count {
		go q.tell() // Ended is the last it does of note, so owners can wait for it
	}
}

// hasten starts as many goroutines as there are if none of them got on, so that
// the number that is held up does not matter much to the rest.
func (q *ends) hasten() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.tellers == 0 {
		return
	}
	if q.begun == 0 {
		q.startLocked(min(q.tellers, len(q.waiting)))
	}
	q.begun = 0
	q.look.Reset(aMoment)
}

func (q *ends) tell() {
	for s := q.next(); s != nil; s = q.next() {
		s.owner.Ended(s.gone)
	}
}

// next returns nil if the goroutine has nothing to do any more.
func (q *ends) next() *socket {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.waiting = nil
		if q.tellers--; q.tellers == 0 {
			q.look.Stop()
		}
		return nil
	}
	s := q.waiting[0]
	q.waiting[0] = nil
	q.waiting = q.waiting[1:]
	q.begun++
	return s
}
