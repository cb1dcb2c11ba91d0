package streamable

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

// notify takes a change event of the door. It goes to the session's own stream;
// a client that never opened it does not want to know.
func (s *session) notify(_ context.Context, method string, params any) error {
	text, err := jsonrpc.AppendRequest(nil, jsonrpc.ID{}, method, params)
	if err != nil {
		return err
	}
	s.mu.Lock()
	st := s.shelf.byNo[0]
	s.mu.Unlock()
	if st != nil {
		st.say(text, false)
	}
	return nil
}

// tell sends a notification that belongs to a call. It waits for a client that is
// connected and slow.
func (c *call) tell(ctx context.Context, method string, params any) error {
	buf, err := notification(method, params)
	defer putBuffer(buf)
	if err != nil {
		return err
	}
	st := c.stream()
	if st == nil {
		return context.Canceled
	}
	if err := st.await(ctx); err != nil {
		return err
	}
	if !c.inFlight() {
		return context.Canceled
	}
	st.say(bytes.Clone(*buf), false) // if nobody listens, the call goes on none the less
	return nil
}

// stream returns where the call speaks. It is nil if the call has been answered
// without a word before.
func (c *call) stream() *stream {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return c.streamLocked()
}

func (c *call) streamLocked() *stream {
	if c.st == nil && c.s.calls[c.key] == c {
		c.st = c.s.newStreamLocked(c.x)
		c.st.expect()
	}
	return c.st
}

// Hangup lets go of the connection; the client will come back.
func (c *call) Hangup() {
	if st := c.stream(); st != nil {
		st.release()
	}
}

func (c *call) inFlight() bool {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return c.s.calls[c.key] == c
}

// Ask sends a request to the client and waits for the POST that answers it.
func (c *call) Ask(ctx context.Context, method string, params any, result *jsontext.Value) error {
	s := c.s
	q := &question{done: make(chan struct{})}
	s.mu.Lock()
	st := c.streamLocked()
	switch {
	case s.over:
		s.mu.Unlock()
		return errSessionOver
	case st == nil:
		s.mu.Unlock()
		return errClientGone
	}
	s.lastAsk++
	id := jsonrpc.IntID(s.lastAsk)
	if s.asked == nil {
		s.asked = make(map[jsonrpc.ID]*question)
	}
	s.asked[id] = q
	s.mu.Unlock()
	defer s.forget(id)

	text, err := jsonrpc.AppendRequest(nil, id, method, params)
	if err != nil {
		return err
	}
	if !st.say(text, true) {
		return errClientGone
	}
	select {
	case <-ctx.Done():
		if text, err := jsonrpc.AppendRequest(nil, jsonrpc.ID{}, mcp.NotificationCancelled, &cancelledParams{RequestID: id}); err == nil {
			st.say(text, false)
		}
		return ctx.Err()
	case <-q.done:
	}
	switch {
	case !q.answered:
		return errSessionOver
	case q.answer.Error != nil:
		return q.answer.Error
	}
	*result = q.answer.Result
	return nil
}

// cancelledParams tell the client that a question needs no answer any more.
type cancelledParams struct {
	RequestID jsonrpc.ID `json:"requestId"`
}

func (s *session) forget(id jsonrpc.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.asked, id)
}

// resolve hands a response of the client to the question it answers.
func (s *session) resolve(m *jsonrpc.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.asked[m.ID.Key()]
	if q == nil {
		s.e.log.Warn("dropped a response that nobody waits for", "id", fmt.Sprintf("%.40s", m.ID.String()))
		return
	}
	delete(s.asked, m.ID.Key())
	q.answer = *m
	q.answered = true
	close(q.done)
}

// newStreamLocked returns the stream of a POST with a request, with the POST as
// its reader.
func (s *session) newStreamLocked(x *exchange) *stream {
	st := &stream{s: s}
	st.post.init(st, x)
	st.post.ready = true
	st.reader = &st.post
	s.shelf.last++
	st.no, st.spoke = s.shelf.last, s.e.opts.AlwaysStream && s.rev.Resume
	return st
}

// newBatch returns the stream of a POST with several requests. Its reader must be
// told when it is ready.
func (s *session) newBatch(x *exchange) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.newStreamLocked(x)
	st.batch, st.post.ready = true, false
	return st
}

// ownStream returns the stream of what belongs to no POST.
func (s *session) ownStream() *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.shelf.byNo[0]
	if st == nil {
		st = &stream{s: s, closed: s.over}
		s.keepLocked(st)
	}
	return st
}

func (s *session) keepLocked(st *stream) {
	if s.shelf.byNo == nil {
		s.shelf.byNo = make(map[uint64]*stream)
	}
	s.shelf.byNo[st.no] = st
}

// keepStream lets the client come back to a stream, in revisions that have that.
func (s *session) keepStream(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rev.Resume && !s.over {
		s.keepLocked(st)
	}
}

// dropStream forgets a stream of which all was delivered.
func (s *session) dropStream(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shelf.byNo[st.no] == st {
		delete(s.shelf.byNo, st.no)
	}
	s.shelf.parked = slices.DeleteFunc(s.shelf.parked, func(other *stream) bool { return other == st })
}

// leaveStream looks after a stream when a connection has left it or a call on it
// has ended: one that nobody can come back to is closed; of those whose answer
// waits to be fetched only the newest are kept.
func (s *session) leaveStream(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st.mu.Lock()
	attached, unfetched := st.reader != nil, st.waiting == 0 && st.no != 0
	st.mu.Unlock()
	switch {
	case attached:
		return
	case s.shelf.byNo[st.no] != st:
		st.close()
		return
	case !unfetched || slices.Contains(s.shelf.parked, st):
		return
	}
	if s.shelf.parked = append(s.shelf.parked, st); len(s.shelf.parked) > maxParked {
		oldest := s.shelf.parked[0]
		s.shelf.parked = s.shelf.parked[1:]
		if s.shelf.byNo[oldest.no] == oldest {
			delete(s.shelf.byNo, oldest.no)
		}
		oldest.close()
	}
}
