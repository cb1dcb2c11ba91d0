package streamable

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/internal/lifecycle"
	"github.com/bossman-mcp/bossman/internal/lifetime"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
)

// session is one client between initialize and its end. While nothing happens it
// is data and no more: there are no goroutines but those of requests.
type session struct {
	e     *Endpoint
	id    string
	owner owner
	door  *lifecycle.Handshake
	rev   *revision.Revision // what initialize agreed on

	mu       sync.Mutex
	used     time.Time // when it was last seen to be in use
	touched  bool      // a request was over since then
	ready    bool      // the client confirmed initialize
	over     bool
	requests int                      // HTTP requests being served
	calls    map[jsonrpc.ID]*call     // in flight, by ID.Key
	asked    map[jsonrpc.ID]*question // ours to the client
	lastAsk  int64
	shelf    shelf
}

// shelf holds the streams of a session that its client can come back to.
type shelf struct {
	byNo   map[uint64]*stream
	parked []*stream // of byNo: finished, and nobody has fetched the answer
	last   uint64    // the number of the newest stream, kept or not
}

// call is a request of the client while it is in flight.
type call struct {
	s    *session
	x    *exchange // the POST that it came with
	in   *lifecycle.Incoming
	key  jsonrpc.ID
	life lifetime.Context // what the handler's context is

	// st is where the call speaks, nil while there was nothing to say: most calls
	// have no more than their answer. It is set while the call is in flight, under
	// s.mu.
	st *stream
}

// question is a request to the client that waits for its answer.
type question struct {
	done     chan struct{} // closed after answer is set, or at the session's end
	answered bool
	answer   jsonrpc.Message
}

// owner is who opened a session.
type owner struct {
	known bool
	name  string
}

func ownerOf(p *mcp.Principal) owner { return owner{p != nil, p.ID()} }

const (
	maxCalls  = 1000            // in flight in one session
	maxParked = 64              // streams of one session that wait to be fetched
	halfOpen  = 2 * time.Minute // how long a client may take to confirm initialize
)

var (
	errSessionOver = errors.New("the session is over")
	errClientGone  = errors.New("the client has hung up")
	errTooMany     = jsonrpc.InternalError("too many requests in flight, try again later")
)

func (e *Endpoint) newSession(p *mcp.Principal) *session {
	s := &session{e: e, id: rand.Text(), owner: ownerOf(p), used: time.Now()}
	s.door = lifecycle.NewHandshake(context.Background(), e.handler, s.notify, &e.doors)
	return s
}

// idle reports whether nothing has happened in the session for so long that it
// may go. Requests do not look at the clock: it is here that they are noticed.
func (s *session) idle(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.touched {
		s.used, s.touched = now, false
	}
	most := s.e.opts.SessionIdle
	if !s.ready {
		most = min(most, halfOpen)
	}
	return len(s.calls) == 0 && s.requests == 0 && now.Sub(s.used) >= most
}

// enter counts a request that keeps the session from being idle, and reports
// whether there still is a session.
func (s *session) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return false
	}
	s.requests++
	return true
}

func (s *session) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaveLocked()
}

func (s *session) leaveLocked() {
	s.requests--
	s.touched = true
}

// end cancels what is in flight and closes all streams. The session must be out
// of the table.
func (s *session) end() {
	s.mu.Lock()
	if s.over {
		s.mu.Unlock()
		return
	}
	for _, c := range s.calls {
		c.streamLocked()
	}
	calls, asked, streams := s.calls, s.asked, s.shelf.byNo
	s.over, s.calls, s.asked, s.shelf = true, nil, nil, shelf{last: s.shelf.last}
	s.mu.Unlock()
	for _, c := range calls {
		c.life.Cancel()
		c.st.close()
	}
	for _, q := range asked {
		close(q.done)
	}
	for _, st := range streams {
		st.close()
	}
	s.door.Close()
	s.door.Wait()
	if err := s.e.opts.Events.Forget(context.Background(), s.id); err != nil {
		s.e.log.Error("forget the events of a session", "error", err)
	}
}

// begin lets a request, c.in, into flight, and enters the POST that has nothing
// else. It is up to the caller to run it.
func (s *session) begin(c *call, x *exchange) error {
	c.init(s, x)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.admitLocked(c); err != nil {
		return err
	}
	s.requests++
	if s.e.opts.AlwaysStream && s.rev.Resume {
		c.streamLocked()
	}
	return nil
}

// join lets a request, c.in, into flight that is part of a batch.
func (s *session) join(c *call, st *stream) error {
	c.init(s, st.post.x)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.admitLocked(c); err != nil {
		return err
	}
	c.st = st
	st.expect()
	return nil
}

// init prepares a call, whose context is of the request but does not end when the
// connection breaks.
func (c *call) init(s *session, x *exchange) {
	c.s, c.x, c.key = s, x, c.in.ID.Key()
	c.in.Notify, c.in.Ask = c.tell, c
	c.life.Values = x.r.Context()
}

func (s *session) admitLocked(c *call) error {
	switch {
	case s.over:
		return errNoSession
	case s.calls[c.key] != nil:
		return jsonrpc.InvalidRequest("id %s is already in flight", c.in.ID)
	case len(s.calls) >= maxCalls:
		return errTooMany
	}
	if s.calls == nil {
		s.calls = make(map[jsonrpc.ID]*call)
	}
	s.calls[c.key] = c
	return nil
}

// retire takes a call out of flight and reports whether it may be answered: true
// once, and never after it was cancelled. If the answer is all there is to say,
// so that c.st is nil and stays so, the POST leaves as well.
func (s *session) retire(c *call) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls[c.key] != c {
		return false
	}
	delete(s.calls, c.key)
	if c.st == nil {
		s.leaveLocked()
	}
	return true
}

// serve answers the one call of a POST.
func (c *call) serve() {
	c.run()
	if c.st != nil {
		c.st.post.conclude()
		c.s.leave()
	}
}

// run answers a call.
func (c *call) run() {
	defer c.life.Cancel()
	result, err := c.s.e.guarded(&c.life, c.in, c.s.door)
	if !c.s.retire(c) {
		return
	}
	buf := buffers.Get().(*[]byte)
	defer putBuffer(buf)
	*buf, _ = c.s.e.appendAnswer((*buf)[:0], c.in, result, err)
	if c.st == nil {
		c.x.json(http.StatusOK, *buf)
		return
	}
	c.st.answer(bytes.Clone(*buf))
	c.s.leaveStream(c.st)
}

// cancel gives up a call because the client said so. An id that is not in flight
// is ignored.
func (s *session) cancel(params []byte) {
	id, err := jsonrpc.ParseID(jsonscan.Get(params, "requestId"))
	if err != nil {
		s.e.log.Debug("ignored a cancellation", "error", err)
		return
	}
	s.mu.Lock()
	c := s.calls[id.Key()]
	if c != nil {
		c.streamLocked() // which answers while the call may run on
		delete(s.calls, c.key)
	}
	s.mu.Unlock()
	if c != nil {
		c.life.Cancel()
		c.st.answer(nil)
	}
}
