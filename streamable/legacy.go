package streamable

import (
	"context"
	"errors"
	"net/http"
	"runtime/debug"
	"sync"

	"github.com/bossman-mcp/bossman/internal/lifecycle"
	"github.com/bossman-mcp/bossman/internal/sse"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

// errNoSession is for a session id that is unknown, over, or somebody else's.
var errNoSession = jsonrpc.InvalidRequest("no such session: send initialize to open one")

// legacyPost serves one message of the handshake era.
func (e *Endpoint) legacyPost(x *exchange, m *jsonrpc.Message) {
	if m.IsRequest() && e.gate.isClosed() { // answers to our questions may still come
		x.busy(m.ID, "the server is shutting down")
		return
	}
	if m.IsRequest() && m.Method == mcp.MethodInitialize && !e.hasSession(x) {
		e.open(x, m)
		return
	}
	id := m.ID
	if m.IsResponse() { // its id is not ours to answer
		id = jsonrpc.ID{}
	}
	s := e.lookUp(x, id)
	if s == nil {
		return
	}
	if m.IsRequest() {
		x.call.in = &x.in.Incoming
		if err := s.begin(&x.call, x); err != nil {
			s.refuse(x, m.ID, err)
			return
		}
		x.call.serve()
		return
	}
	if !s.enter() {
		x.refuse(http.StatusNotFound, id, errNoSession)
		return
	}
	defer s.leave()
	if m.IsNotification() {
		s.notice(x.r.Context(), m)
	} else {
		s.resolve(m)
	}
	x.status(http.StatusAccepted)
}

// legacyBatch serves an array of messages, in the one revision that has them.
func (e *Endpoint) legacyBatch(x *exchange, body []byte) {
	s := e.session(x, jsonrpc.ID{})
	if s == nil {
		return
	}
	defer s.leave()
	if !s.rev.Batch {
		x.refuse(http.StatusBadRequest, jsonrpc.ID{}, jsonrpc.InvalidRequest("batches are not part of protocol revision %s", s.rev.Name))
		return
	}
	texts, err := jsonrpc.ParseBatch(body, e.opts.MaxBatch)
	if err != nil {
		x.refuse(http.StatusBadRequest, jsonrpc.ID{}, err)
		return
	}
	st := s.newBatch(x)
	answered := false // some member wants an answer
	var calls []func()
	for _, text := range texts {
		m, err := jsonrpc.Parse(text)
		switch {
		case err == nil && m.IsNotification():
			s.notice(x.r.Context(), &m)
			continue
		case err == nil && m.IsResponse():
			s.resolve(&m)
			continue
		case err != nil && (m.Result != nil || m.Error != nil):
			continue // a response that cannot be read is not answered
		case err == nil && m.Method == mcp.MethodInitialize:
			err = jsonrpc.InvalidRequest("initialize must not be part of a batch")
		case err == nil && e.gate.isClosed():
			err = jsonrpc.InternalError("the server is shutting down")
		}
		answered = true
		if err == nil {
			c := &call{in: &lifecycle.Incoming{ID: m.ID, Method: m.Method, Params: m.Params, Principal: x.principal}}
			if err = s.join(c, st); err == nil {
				calls = append(calls, c.run)
			}
		}
		if err != nil {
			st.expect()
			st.answer(jsonrpc.AppendError(nil, m.ID, wireError(err)))
		}
	}
	if !answered {
		x.status(http.StatusAccepted)
		return
	}
	st.post.start()
	var running sync.WaitGroup
	for _, run := range calls {
		running.Go(run) // awaited below
	}
	running.Wait()
	st.post.conclude()
}

// open answers initialize, and enters a session only once that went well.
func (e *Endpoint) open(x *exchange, m *jsonrpc.Message) {
	if err := e.checkVersion(x.r.Header); err != nil {
		x.refuse(http.StatusBadRequest, m.ID, err)
		return
	}
	if e.sessions.full() {
		x.busy(m.ID, "too many sessions are open")
		return
	}
	s := e.newSession(x.principal)
	in := &lifecycle.Incoming{ID: m.ID, Method: m.Method, Params: m.Params, Principal: x.principal}
	result, err := e.guarded(x.r.Context(), in, s.door)
	if err == nil {
		if s.rev = s.door.Revision(); !e.sessions.add(s) {
			s.end()
			x.busy(m.ID, "too many sessions are open")
			return
		}
	}
	body, failure := e.appendAnswer(nil, in, result, err)
	switch {
	case failure == nil:
		x.w.Header()[headerSession] = []string{s.id}
		x.json(http.StatusOK, body)
		return
	case failure.Code == jsonrpc.CodeInternalError:
		x.json(http.StatusOK, body)
	default:
		x.json(http.StatusBadRequest, body)
	}
	e.sessions.remove(s)
}

// legacyGet opens the session's own stream, or takes up one that broke. It may
// stay open after the request is over.
func (e *Endpoint) legacyGet(x *exchange) {
	x.unhurried()
	if !e.hasSessionHeader(x) {
		x.disallow("POST")
		return
	}
	s := e.session(x, jsonrpc.ID{})
	if s == nil {
		return
	}
	switch {
	case !accepts(x.r.Header, "text/event-stream"):
		x.refuse(http.StatusNotAcceptable, jsonrpc.ID{}, jsonrpc.InvalidRequest("Accept must list text/event-stream"))
	case e.gate.isClosed():
		x.busy(jsonrpc.ID{}, "the server is shutting down")
	case !e.streams.take():
		x.busy(jsonrpc.ID{}, "too many streams are open")
	default:
		s.follow(x, func() {
			e.streams.give()
			s.leave()
		})
		return
	}
	s.leave()
}

// follow serves a GET, and calls end when that is over.
func (s *session) follow(x *exchange, end func()) {
	if ids := x.r.Header[headerLastEvent]; len(ids) > 0 && s.rev.Resume {
		s.resume(x, ids, end)
		return
	}
	st := s.ownStream()
	rd := st.attach(x, false)
	if rd == nil {
		defer end()
		x.refuse(http.StatusConflict, jsonrpc.ID{}, jsonrpc.InvalidRequest("the session has such a stream already"))
		return
	}
	f := x.stream()
	err := st.prime(f)
	if err == nil && !s.rev.EarlyClose {
		err = f.send([]byte(sse.KeepAlive)) // so that the client sees the stream begin
	}
	if err != nil {
		f.cut()
	}
	rd.follow(f, 0, end)
}

// resume goes on with a stream after the last event that the client has, and
// with no other stream.
func (s *session) resume(x *exchange, ids []string, end func()) {
	no, seq, ok := parseEventID(ids[0])
	if !ok || len(ids) > 1 {
		defer end()
		x.refuse(http.StatusBadRequest, jsonrpc.ID{}, jsonrpc.InvalidRequest("Last-Event-ID is none of ours"))
		return
	}
	s.mu.Lock()
	st := s.shelf.byNo[no]
	s.mu.Unlock()
	var rd *reader
	if st != nil {
		rd = st.attach(x, true)
	}
	missed, err := x.e.opts.Events.After(x.r.Context(), s.id, no, seq)
	if err != nil {
		x.e.log.Error("read kept events", "error", err)
	}
	if st == nil && len(missed) == 0 {
		defer end()
		x.refuse(http.StatusBadRequest, jsonrpc.ID{}, jsonrpc.InvalidRequest("nothing is left of the stream of event %s", ids[0]))
		return
	}
	f := x.stream()
	err = s.replay(f, no, missed)
	if st == nil {
		end()
		return
	}
	if err != nil {
		f.cut()
	}
	if len(missed) > 0 {
		seq = missed[len(missed)-1].Seq
	}
	rd.follow(f, seq, end)
}

// replay begins a stream that is taken up with what the client missed.
func (s *session) replay(f *feed, no uint64, missed []StoredEvent) error {
	text := []byte(sse.KeepAlive)
	if s.rev.EarlyClose {
		text = (&sse.Event{Retry: f.e.opts.Retry}).Append(text)
	}
	st := &stream{s: s, no: no}
	for _, e := range missed {
		text = st.appendEvent(text, e.Seq, e.Message)
	}
	return f.send(text)
}

// legacyDelete ends a session because its client is done.
func (e *Endpoint) legacyDelete(x *exchange) {
	if !e.hasSessionHeader(x) {
		x.disallow("POST")
		return
	}
	s := e.session(x, jsonrpc.ID{})
	if s == nil {
		return
	}
	s.leave()
	e.sessions.remove(s)
	x.status(http.StatusNoContent)
}

// hasSessionHeader reports whether a request without a body means a session. In
// the stateless era none does.
func (e *Endpoint) hasSessionHeader(x *exchange) bool {
	return len(x.r.Header[headerSession]) > 0 && e.speaksHandshake() && !e.headerIsStateless(x.r.Header)
}

// hasSession reports whether the request names a session that is open, and the
// caller's.
func (e *Endpoint) hasSession(x *exchange) bool {
	ids := x.r.Header[headerSession]
	return len(ids) == 1 && e.sessions.find(ids[0], ownerOf(x.principal)) != nil
}

// session finds the session that a request belongs to and counts the request
// until leave. If it returns nil, the request was answered.
func (e *Endpoint) session(x *exchange, id jsonrpc.ID) *session {
	s := e.lookUp(x, id)
	if s != nil && !s.enter() {
		x.refuse(http.StatusNotFound, id, errNoSession)
		return nil
	}
	return s
}

// lookUp finds the session that a request belongs to. If it returns nil, the
// request was answered.
func (e *Endpoint) lookUp(x *exchange, id jsonrpc.ID) *session {
	ids := x.r.Header[headerSession]
	if len(ids) != 1 {
		way := "send initialize to open one"
		if e.speaksStateless() {
			way += ", or requests whose _meta names " + mcp.MetaProtocolVersion
		}
		x.refuse(http.StatusBadRequest, id, jsonrpc.InvalidRequest("%s must name a session: %s", headerSession, way))
		return nil
	}
	s := e.sessions.find(ids[0], ownerOf(x.principal))
	if s == nil {
		x.refuse(http.StatusNotFound, id, errNoSession)
		return nil
	}
	if versions := x.r.Header[headerVersion]; s.rev.VersionHeader && (len(versions) != 1 || versions[0] != s.rev.Name) {
		if err := e.checkVersion(x.r.Header); err != nil {
			x.refuse(http.StatusBadRequest, id, err)
			return nil
		}
	}
	return s
}

// checkVersion refuses a version header that names no revision of ours. A missing
// one is fine: the session knows.
func (e *Endpoint) checkVersion(h http.Header) error {
	for _, value := range h[headerVersion] {
		if e.doors.Revisions.Lookup(value) == nil || len(h[headerVersion]) > 1 {
			return jsonrpc.InvalidRequest("unsupported protocol version %q in %s", value, headerVersion)
		}
	}
	return nil
}

// refuse answers a request that was not let into flight.
func (s *session) refuse(x *exchange, id jsonrpc.ID, err error) {
	switch {
	case errors.Is(err, errNoSession):
		s.refuseOver(x)
	case errors.Is(err, errTooMany):
		x.w.Header().Set("Retry-After", "1")
		x.refuse(http.StatusTooManyRequests, id, err)
	default:
		x.refuse(http.StatusBadRequest, id, err)
	}
}

// notice takes a notification; a panic costs no more than that.
func (s *session) notice(ctx context.Context, m *jsonrpc.Message) {
	defer func() {
		if v := recover(); v != nil {
			s.e.log.Error("handler panicked", "method", m.Method, "panic", v, "stack", string(debug.Stack()))
		}
	}()
	switch m.Method {
	case mcp.NotificationCancelled:
		s.cancel(m.Params)
		return
	case mcp.NotificationInitialized, "initialized": // as the door takes it
		s.mu.Lock()
		s.ready = true
		s.mu.Unlock()
	}
	s.door.Notice(ctx, m.Method)
}
