package streamable

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/bossman-mcp/bossman/internal/lifecycle"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
)

// Endpoint is an MCP endpoint: an http.Handler for every protocol revision. Make
// one with [Handler].
type Endpoint struct {
	handler mcp.Handler
	opts    Options
	log     *slog.Logger
	doors   lifecycle.Options
	guard   guard
	gate    *gate
	streams limit // those without an end of their own
	lines   lines

	stateless *lifecycle.Stateless
	mirrors   mirroring // nil if the handler's tools have no parameters in headers
	sessions  sessions
	pairs     pairs
}

// mirroring is a handler whose tools have parameters that clients repeat in
// headers.
type mirroring interface {
	HeaderParams(tool string) []mcp.HeaderParam
}

// Handler serves h over HTTP. If h has a method HeaderParams, as a server.Server
// does, it says which parameters of a tool the requests repeat in headers.
func Handler(h mcp.Handler, opts *Options) *Endpoint {
	e := &Endpoint{handler: h, opts: opts.withDefaults(), gate: newGate()}
	e.log = e.opts.Logger
	spoken, err := revision.Select(e.opts.Revision)
	if err != nil {
		panic("streamable: " + err.Error())
	}
	e.doors = lifecycle.Options{Revisions: spoken, Sealer: lifecycle.NewSealer(e.opts.StateSecret, e.opts.OtherStateSecrets...), Logger: e.log}
	e.guard = newGuard(&e.opts)
	e.streams.most = e.opts.MaxStreams
	e.stateless = lifecycle.NewStateless(h, &e.doors)
	e.mirrors, _ = h.(mirroring)
	e.lines.e = e
	e.sessions.init(e)
	e.pairs.byID = make(map[string]*pair)
	return e
}

// ServeHTTP serves one request.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.gate.enter()
	defer e.gate.leave()
	x := e.exchange(w, r)
	if !e.guard.admit(x) {
		return
	}
	switch r.Method {
	case http.MethodPost:
		e.post(x)
	case http.MethodGet:
		e.legacyGet(x)
	case http.MethodDelete:
		e.legacyDelete(x)
	default:
		x.disallow("POST, GET, DELETE")
	}
}

func (e *Endpoint) exchange(w http.ResponseWriter, r *http.Request) *exchange {
	return &exchange{e: e, w: w, r: r, control: *http.NewResponseController(w), principal: mcp.PrincipalFrom(r.Context())}
}

// post reads a message and forks, once, by the era it belongs to.
func (e *Endpoint) post(x *exchange) {
	if !acceptsBoth(x.r.Header) {
		x.refuse(http.StatusNotAcceptable, jsonrpc.ID{}, jsonrpc.InvalidRequest("Accept must list application/json and text/event-stream"))
		return
	}
	body, ok := x.jsonBody()
	if !ok {
		return
	}
	if jsonrpc.IsBatch(body) {
		if e.headerIsStateless(x.r.Header) || !e.speaksHandshake() {
			x.refuse(http.StatusBadRequest, jsonrpc.ID{}, jsonrpc.InvalidRequest("batches are not part of this protocol revision"))
			return
		}
		e.legacyBatch(x, body)
		return
	}
	notes := notebooks.Get().(*lifecycle.Notes)
	defer dispose(notes)
	m, err := x.parse(body, notes)
	if err != nil {
		id := m.ID
		if m.Result != nil || m.Error != nil { // a response: its id is not ours to answer
			id = jsonrpc.ID{}
		}
		x.refuse(http.StatusBadRequest, id, err)
		return
	}
	if e.isModern(x.r.Header, &x.in.Incoming) {
		e.modern(x, &m)
	} else {
		e.legacyPost(x, &m)
	}
}

// parsers tell of the members of params, and of the members of those.
var parsers = sync.Pool{New: func() any { return &jsonrpc.Parser{Deep: 2} }}

// notebooks are empty.
var notebooks = sync.Pool{New: func() any { return new(lifecycle.Notes) }}

func dispose(notes *lifecycle.Notes) {
	*notes = lifecycle.Notes{}
	notebooks.Put(notes)
}

// parse takes a message apart.
func (x *exchange) parse(body []byte, notes *lifecycle.Notes) (jsonrpc.Message, error) {
	p := parsers.Get().(*jsonrpc.Parser)
	m, err := p.Parse(body)
	if err == nil {
		in := &x.in.Incoming
		in.ID, in.Method, in.Params, in.Principal = m.ID, m.Method, m.Params, x.principal
		x.in.Read(p.Members(), notes)
	}
	p.Forget()
	parsers.Put(p)
	return m, err
}

// jsonBody reads the body of a request that declares it as JSON. If it returns
// false, the request was answered.
func (x *exchange) jsonBody() ([]byte, bool) {
	if !isJSON(x.r.Header) {
		x.refuse(http.StatusUnsupportedMediaType, jsonrpc.ID{}, jsonrpc.InvalidRequest("Content-Type must be application/json"))
		return nil, false
	}
	return x.body()
}

// isModern reports whether a message is of the stateless era: it describes
// itself in _meta, or its header says so. An initialize that does not describe
// itself opens a session, whatever the header says. Where only one era is spoken
// everything is of that one.
func (e *Endpoint) isModern(h http.Header, in *lifecycle.Incoming) bool {
	switch {
	case !e.speaksStateless():
		return false
	case !e.speaksHandshake():
		return true
	case in.IsStateless():
		return true
	case in.Method == mcp.MethodInitialize:
		return false
	case in.Method == mcp.MethodDiscover, in.Method == mcp.MethodSubscriptionsListen:
		return len(h[headerSession]) == 0 || e.headerIsStateless(h)
	}
	return e.headerIsStateless(h)
}

func (e *Endpoint) speaksHandshake() bool { return len(e.doors.Revisions.Handshake) > 0 }
func (e *Endpoint) speaksStateless() bool { return len(e.doors.Revisions.Stateless) > 0 }

// headerIsStateless reports whether the version header names a revision of ours
// without sessions.
func (e *Endpoint) headerIsStateless(h http.Header) bool {
	for _, value := range h[headerVersion] {
		if rev := e.doors.Revisions.Lookup(value); rev != nil && rev.Stateless {
			return true
		}
	}
	return false
}

// guarded runs a door; a panic costs this request only.
func (e *Endpoint) guarded(ctx context.Context, in *lifecycle.Incoming, door door) (result any, err error) {
	defer func() {
		if v := recover(); v != nil {
			e.log.Error("handler panicked", "method", in.Method, "panic", v, "stack", string(debug.Stack()))
			result, err = nil, jsonrpc.InternalError("the handler failed")
		}
	}()
	return door.Answer(ctx, in)
}

// door is either of lifecycle's.
type door interface {
	Answer(ctx context.Context, in *lifecycle.Incoming) (any, error)
}

// appendAnswer appends the response to a request and returns the error in it, nil
// for a result. What is no [*jsonrpc.Error] is logged, and told to nobody.
func (e *Endpoint) appendAnswer(dst []byte, in *lifecycle.Incoming, result any, err error) ([]byte, *jsonrpc.Error) {
	if err == nil {
		out, encodeErr := jsonrpc.AppendResult(dst, in.ID, result)
		if encodeErr == nil {
			return out, nil
		}
		err = encodeErr
	}
	var known *jsonrpc.Error
	if !errors.As(err, &known) {
		e.log.Error("request failed", "method", in.Method, "error", err)
	}
	known = wireError(err)
	return jsonrpc.AppendError(dst, in.ID, known), known
}

// wireError returns what a client may know of an error.
func wireError(err error) *jsonrpc.Error {
	var known *jsonrpc.Error
	if errors.As(err, &known) {
		return known
	}
	return jsonrpc.InternalError("the request failed")
}

// Stats says what an endpoint holds at the moment.
type Stats struct {
	Sessions int // open sessions, those of [Endpoint.SSE] included
	Streams  int // open streams without an end of their own
}

// Stats returns the endpoint's figures.
func (e *Endpoint) Stats() Stats {
	return Stats{Sessions: e.sessions.count() + e.pairs.count(), Streams: e.streams.count()}
}

// Shutdown ends the endpoint in good order: new requests get 503, subscriptions
// their closing result, and calls in flight finish. It returns nil when all that
// is done. When ctx ends first, it cancels the calls of sessions and returns
// ctx's error; http.Server.Close then cancels the rest.
func (e *Endpoint) Shutdown(ctx context.Context) error {
	e.gate.close()
	e.lines.close()
	e.pairs.close()
	err := e.gate.wait(ctx)
	e.sessions.close()
	if err != nil {
		e.lines.sever()
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 400*time.Millisecond)
		defer cancel()
		_ = e.gate.wait(grace) // cancelled calls end soon, or belong to http.Server.Close
	}
	return err
}
