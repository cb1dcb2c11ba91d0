// Package errands runs very many short errands on few goroutines. The runtime keeps
// the record of every goroutine until the process ends, so that a goroutine for each
// would leave a server large that once had much to do at the same time.
package errands

import (
	"sync"
	"time"
)

// Queue runs errands, oldest first, one after the other. An errand may block: if none
// was begun for a moment, others run beside it, so that even many that are held up
// do not keep the rest for long. Its zero value is ready, and it has goroutines only
// while there is something to run.
type Queue struct {
	mu      sync.Mutex
	waiting []func()
	workers int         // goroutines
	begun   bool        // an errand was, since the timer was set
	timer   *time.Timer // nil until something had to wait
	set     bool        // the timer is
}

// moment is for how long the queue may stand still.
const moment = 20 * time.Millisecond

// Add lets an errand be run. It does not block.
func (q *Queue) Add(errand func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, errand)
	if q.workers == 0 {
		q.startLocked(1)
	} else {
		q.watchLocked()
	}
}

func (q *Queue) startLocked(count int) {
	q.workers += count
	for range count {
		go q.work() // ends when nothing waits: whoever adds an errand knows when it was run
	}
}

// watchLocked sees to it that the queue is looked after while something waits.
func (q *Queue) watchLocked() {
	if q.set {
		return
	}
	q.set, q.begun = true, false
	if q.timer == nil {
		q.timer = time.AfterFunc(moment, q.hasten)
	} else {
		q.timer.Reset(moment)
	}
}

// hasten doubles the goroutines if none of them got on.
func (q *Queue) hasten() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.set = false
	if len(q.waiting) == 0 {
		return
	}
	if !q.begun {
		q.startLocked(min(q.workers, len(q.waiting)))
	}
	q.watchLocked()
}

func (q *Queue) work() {
	for errand := q.next(); errand != nil; errand = q.next() {
		errand()
	}
}

// next returns nil if the goroutine has nothing to do any more.
func (q *Queue) next() func() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.waiting = nil // it may have been long
		q.workers--
		return nil
	}
	errand := q.waiting[0]
	q.waiting[0] = nil
	q.waiting = q.waiting[1:]
	q.begun = true
	return errand
}
