package streamable

import (
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/bossman-mcp/bossman/internal/lifecycle"
	"github.com/bossman-mcp/bossman/internal/sse"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
)

// SSE returns the pair of endpoints of the oldest revision, HTTP with SSE, as one
// handler: GET opens the stream on which all answers come, and POST to the same
// path with a session id, as the stream's first event tells it, brings messages.
// Mount it beside the endpoint, by custom at /sse. It has a path of its own
// because on the endpoint's a GET without a session must be refused: newer
// clients try that and take a stream for a promise.
//
// It shares the endpoint's options, limits and Shutdown. An endpoint that is held
// to the stateless era has no such pair: every request gets 404.
func (e *Endpoint) SSE() http.Handler { return http.HandlerFunc(e.servePair) }

// pairs is the table of the open streams of [Endpoint.SSE].
type pairs struct {
	mu     sync.Mutex
	byID   map[string]*pair
	closed bool
}

// add enters a pair and reports whether the endpoint still takes any.
func (t *pairs) add(p *pair) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.byID[p.id] = p
	return true
}

// close lets no more messages come in; the sessions end when they have answered.
func (t *pairs) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for _, p := range t.byID {
		p.endInput()
	}
}

func (t *pairs) remove(p *pair) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byID, p.id)
}

func (t *pairs) find(id string, who owner) *pair {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.byID[id]; p != nil && p.owner == who {
		return p
	}
	return nil
}

func (t *pairs) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.byID)
}

func (e *Endpoint) servePair(w http.ResponseWriter, r *http.Request) {
	e.gate.enter()
	defer e.gate.leave()
	x := e.exchange(w, r)
	if !e.guard.admit(x) {
		return
	}
	if !e.speaksHandshake() {
		x.refuse(http.StatusNotFound, jsonrpc.ID{}, jsonrpc.InvalidRequest("%s", e.stateless.NoHandshake()))
		return
	}
	switch r.Method {
	case http.MethodGet:
		e.openPair(x)
	case http.MethodPost:
		e.postPair(x)
	default:
		x.disallow("GET, POST")
	}
}

// openPair serves a session for as long as its stream is open.
func (e *Endpoint) openPair(x *exchange) {
	x.unhurried()
	switch {
	case !accepts(x.r.Header, "text/event-stream"):
		x.refuse(http.StatusNotAcceptable, jsonrpc.ID{}, jsonrpc.InvalidRequest("Accept must list text/event-stream"))
		return
	case !e.streams.take():
		x.busy(jsonrpc.ID{}, "too many streams are open")
		return
	}
	defer e.streams.give()
	p := &pair{id: rand.Text(), owner: ownerOf(x.principal), in: make(chan []byte, 16), done: make(chan struct{})}
	if !e.pairs.add(p) {
		x.busy(jsonrpc.ID{}, "the server is shutting down")
		return
	}
	defer e.pairs.remove(p)
	defer p.Close()
	p.feed = x.stream()
	where := (&url.URL{Path: pathOf(x.r), RawQuery: "sessionId=" + p.id}).String()
	if p.feed.event(&sse.Event{Name: "endpoint", Data: []byte(where)}) != nil {
		return
	}
	p.beatLater()
	if err := lifecycle.Serve(x.r.Context(), p, e.handler, &lifecycle.ConnOptions{Options: e.doors, Principal: x.principal}); err != nil {
		e.log.Debug("a stream broke", "error", err)
	}
}

// pathOf returns the path that the client used, before any part of it was
// stripped on the way here.
func pathOf(r *http.Request) string {
	if u, err := url.ParseRequestURI(r.RequestURI); err == nil && u.Path != "" {
		return u.Path
	}
	return r.URL.Path
}

// postPair takes a message of a session. Its answer comes on the stream.
func (e *Endpoint) postPair(x *exchange) {
	body, ok := x.jsonBody()
	if !ok {
		return
	}
	p := e.pairs.find(x.r.URL.Query().Get("sessionId"), ownerOf(x.principal))
	if p == nil {
		x.refuse(http.StatusNotFound, requestIn(body), errNoSession)
		return
	}
	select {
	case p.in <- body:
		x.status(http.StatusAccepted)
	case <-p.done:
		x.refuse(http.StatusNotFound, requestIn(body), errNoSession)
	case <-x.r.Context().Done():
	}
}

// requestIn returns the id of the request in a body, zero if there is none.
func requestIn(body []byte) jsonrpc.ID {
	if m, err := jsonrpc.Parse(body); err == nil && m.IsRequest() {
		return m.ID
	}
	return jsonrpc.ID{}
}

// pair is one such session: a peer.Transport whose messages leave on a stream
// and arrive by POST.
type pair struct {
	feed  *feed
	id    string
	owner owner
	in    chan []byte
	done  chan struct{} // closed by endInput
	once  sync.Once

	mu     sync.Mutex // one writes at a time
	closed bool
	beat   *time.Timer
}

// endInput makes Receive report the end.
func (p *pair) endInput() { p.once.Do(func() { close(p.done) }) }

// Send writes a message as an event.
func (p *pair) Send(_ context.Context, message []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return peer.ErrClosed
	}
	return p.feed.message(message)
}

// Receive waits for the next POST.
func (p *pair) Receive(ctx context.Context) ([]byte, error) {
	select {
	case message := <-p.in:
		return message, nil
	case <-p.done:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close lets nothing more be written.
func (p *pair) Close() error {
	p.endInput()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.beat != nil {
		p.beat.Stop()
	}
	return nil
}

// beatLater keeps the stream alive with comments.
func (p *pair) beatLater() {
	every := p.feed.e.opts.KeepAlive
	if every < 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.beat = time.AfterFunc(every, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if !p.closed && p.feed.comment(0) == nil {
			p.beat.Reset(every)
		}
	})
}
