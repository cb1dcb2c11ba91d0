package peer

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bossman-mcp/bossman/jsonrpc"
)

// table is everything that is in flight, both ways. All of a connection's
// mutable state is here and changes only in these methods, so that each request
// ends exactly once: answered, cancelled, or dropped at the close.
type table struct {
	mu     sync.Mutex
	in     map[jsonrpc.ID]*Request  // theirs, by ID.Key
	out    map[jsonrpc.ID]*outgoing // ours
	nextID int64
	lone   atomic.Int32 // calls of ours since others were in flight; changes with the lock held, but for the reader's start over
	spare  []*outgoing  // of calls that are over
	closed error        // set once; nothing enters afterwards

	handlers int       // that run, for requests in flight or cancelled
	open     int       // requests in flight whose handler has returned
	writing  int       // requests that were answered and whose answer is being sent
	written  sync.Cond // writing got smaller, or closed was set

	// work is what the end of a connection waits for. It grows only while closed
	// is nil, so never while someone waits.
	work sync.WaitGroup
}

// outgoing is a call of ours that waits for its answer.
type outgoing struct {
	done   chan struct{} // gets one after answer or err is set
	answer jsonrpc.Message
	err    error // why no answer will come
}

// finishLocked tells the caller that answer or err is set. It is called once, by whoever
// took the call out of the table, with the lock held.
func (o *outgoing) finishLocked() {
	select {
	case o.done <- struct{}{}:
	default: // a Waiter wakes it at this moment
	}
}

func (t *table) init() {
	t.in = make(map[jsonrpc.ID]*Request)
	t.out = make(map[jsonrpc.ID]*outgoing)
	t.written.L = &t.mu
}

// admit enters a request of theirs and adds its handler to work, or says why
// not. A cancelled request counts until its handler returns: otherwise a
// requester who cancels at once could have any number run. It blocks while most
// answers wait for a requester who does not read.
func (t *table) admit(r *Request, most int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.writing >= most && t.closed == nil {
		t.written.Wait()
	}
	switch {
	case t.closed != nil:
		return errClosing()
	case t.in[r.key] != nil:
		return jsonrpc.InvalidRequest("id %s is already in flight", r.ID)
	case t.handlers+t.open >= most:
		return jsonrpc.InternalError("too many requests in flight, try again later")
	}
	t.in[r.key] = r
	t.handlers++
	t.work.Add(1)
	return nil
}

func errClosing() error { return jsonrpc.InternalError("the connection is closing") }

// join adds one to work and reports whether it could: not after the close.
func (t *table) join() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed != nil {
		return false
	}
	t.work.Add(1)
	return true
}

// returned notes that the handler of r has, and left it open.
func (t *table) returned(r *Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.returnedLocked(r)
}

func (t *table) returnedLocked(r *Request) {
	r.returned = true
	t.handlers--
	if t.in[r.key] == r {
		t.open++
	}
}

// retire removes a request and reports whether it may be answered: true once,
// and never after it was cancelled. Whoever gets true calls sent afterwards.
// Returned says that the handler has at this moment.
func (t *table) retire(r *Request, returned bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if returned {
		t.returnedLocked(r)
	}
	if t.in[r.key] != r {
		return false
	}
	t.removeLocked(r)
	t.writing++
	return true
}

// sent notes that an answer is no longer on its way.
func (t *table) sent() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.writing--
	t.written.Signal()
}

// cancel removes a request of theirs and returns it, or nil if the id is not in
// flight.
func (t *table) cancel(id jsonrpc.ID) *Request {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.in[id.Key()]
	if r != nil {
		t.removeLocked(r)
	}
	return r
}

func (t *table) removeLocked(r *Request) {
	delete(t.in, r.key)
	if r.returned {
		t.open--
	}
}

// cancelAll ends the contexts of the requests that are in flight. They stay in
// flight until they retire.
func (t *table) cancelAll() {
	t.mu.Lock()
	all := slices.Collect(maps.Values(t.in))
	t.mu.Unlock()
	for _, r := range all {
		r.life.Cancel()
	}
}

// live reports whether a request is neither answered nor cancelled.
func (t *table) live(r *Request) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.in[r.key] == r
}

func (t *table) running() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.handlers
}

// expect enters a call of ours under a new id.
func (t *table) expect() (jsonrpc.ID, *outgoing, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed != nil {
		return jsonrpc.ID{}, nil, t.closed
	}
	t.nextID++
	id, o := jsonrpc.IntID(t.nextID), t.spareLocked()
	t.out[id] = o
	if len(t.out) == 1 {
		t.lone.Add(1)
	} else {
		t.lone.Store(0)
	}
	return id, o, nil
}

func (t *table) spareLocked() *outgoing {
	last := len(t.spare) - 1
	if last < 0 {
		return &outgoing{done: make(chan struct{}, 1)}
	}
	o := t.spare[last]
	t.spare = t.spare[:last]
	return o
}

// release keeps what a call needed for another. The call must be out of the table.
func (t *table) release(o *outgoing) {
	select {
	case <-o.done: // the caller did not wait for it
	default:
	}
	o.answer, o.err = jsonrpc.Message{}, nil
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.spare) < maxSpare {
		t.spare = append(t.spare, o)
	}
}

// maxSpare is how many calls at once find what they need at hand.
const maxSpare = 64

// forget removes a call of ours; its answer, if one comes, is dropped. It
// reports whether the call was still waiting: otherwise it is done.
func (t *table) forget(id jsonrpc.ID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.out[id] == nil {
		return false
	}
	delete(t.out, id)
	return true
}

// resolve hands a response to the call that waits for it and returns that, nil if
// none does. A response that could not be read, which bad says, fails the call.
func (t *table) resolve(m *jsonrpc.Message, bad error) *outgoing {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := m.ID.Key()
	o := t.out[key]
	if o == nil {
		return nil
	}
	delete(t.out, key)
	if bad != nil {
		o.err = fmt.Errorf("read answer: %v", bad) // not wrapped: it is no error that they sent
	}
	o.answer = *m
	o.finishLocked()
	return o
}

// vacate lets the next caller receive its answer itself. It reports false if a call
// waits for an answer now, which nobody would receive, or none will any more.
func (t *table) vacate(l *loan) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.out) > 0 || t.closed != nil {
		return false
	}
	l.holder.Store(nobody)
	return true
}

// over reports whether the table is closed.
func (t *table) over() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.closed != nil
}

// close fails every call of ours. Requests of theirs stay until they retire.
// The first reason counts.
func (t *table) close(reason error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed != nil {
		return
	}
	t.closed = reason
	t.written.Broadcast()
	for id, o := range t.out {
		delete(t.out, id)
		o.err = reason
		o.finishLocked()
	}
}
