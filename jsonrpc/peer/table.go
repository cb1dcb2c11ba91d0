package peer

import (
	"sync"

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
	closed error // set once; nothing enters afterwards
}

// outgoing is a call of ours that waits for its answer.
type outgoing struct {
	done   chan struct{} // closed after answer or err is set
	answer jsonrpc.Message
	err    error // why no answer will come
}

func (t *table) init() {
	t.in = make(map[jsonrpc.ID]*Request)
	t.out = make(map[jsonrpc.ID]*outgoing)
}

// admit enters a request of theirs, or says why not.
func (t *table) admit(r *Request, most int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed != nil:
		return t.closed
	case t.in[r.key] != nil:
		return jsonrpc.InvalidRequest("id %s is already in flight", r.ID)
	case len(t.in) >= most:
		return jsonrpc.InternalError("too many requests in flight, try again later")
	}
	t.in[r.key] = r
	return nil
}

// retire removes a request and reports whether it may be answered: true once,
// and never after it was cancelled.
func (t *table) retire(r *Request) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.in[r.key] != r {
		return false
	}
	delete(t.in, r.key)
	return true
}

// live reports whether a request is neither answered nor cancelled.
func (t *table) live(r *Request) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.in[r.key] == r
}

// cancel removes a request of theirs and ends its context. An id that is not in
// flight is ignored.
func (t *table) cancel(id jsonrpc.ID) {
	t.mu.Lock()
	r := t.in[id.Key()]
	if r != nil {
		delete(t.in, r.key)
	}
	t.mu.Unlock()
	if r != nil {
		r.cancel()
		r.to.leave()
	}
}

func (t *table) running() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.in)
}

// expect enters a call of ours under a new id.
func (t *table) expect() (jsonrpc.ID, *outgoing, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed != nil {
		return jsonrpc.ID{}, nil, t.closed
	}
	t.nextID++
	id, o := jsonrpc.IntID(t.nextID), &outgoing{done: make(chan struct{})}
	t.out[id] = o
	return id, o, nil
}

// forget removes a call of ours; its answer, if one comes, is dropped. It
// reports whether the call was still waiting, and then adds one to work before
// anyone can be waiting for it to end.
func (t *table) forget(id jsonrpc.ID, work *sync.WaitGroup) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.out[id] == nil {
		return false
	}
	delete(t.out, id)
	work.Add(1)
	return true
}

// resolve hands a response to the call that waits for it.
func (t *table) resolve(m *jsonrpc.Message) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	o := t.out[m.ID.Key()]
	if o == nil {
		return false
	}
	delete(t.out, m.ID.Key())
	o.answer = *m
	close(o.done)
	return true
}

// close fails every call of ours. Requests of theirs stay until they retire.
func (t *table) close(reason error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = reason
	for id, o := range t.out {
		delete(t.out, id)
		o.err = reason
		close(o.done)
	}
}
