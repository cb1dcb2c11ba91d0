package streamable

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/bossman-mcp/bossman/internal/lifecycle"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

// exchange is one HTTP request and the way to answer it: by one goroutine, or by
// a feed.
type exchange struct {
	e         *Endpoint
	w         http.ResponseWriter
	r         *http.Request
	control   http.ResponseController
	principal *mcp.Principal // nil where nobody checked
	outlive   func() bool    // see lasting; nil for most

	// What a POST needs is here, so that it is allocated at once.
	in     lifecycle.Received // the message, if it is a request
	answer answer             // to a modern request
	call   call               // what a request is in a session
}

// Header values that never change, so that answers can share them.
var (
	typeJSON   = []string{"application/json"}
	typeEvents = []string{"text/event-stream"}
	noCache    = []string{"no-cache, no-transform"}
	unbuffered = []string{"no"}
	empty      = []string{"0"}
)

// buffers holds what answers are encoded into. Buffers that grew very large are
// left to the collector.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

const maxPooled = 1 << 20

func putBuffer(buf *[]byte) {
	if cap(*buf) <= maxPooled {
		buffers.Put(buf)
	}
}

// notification writes one to a buffer that the caller puts back, whatever the error.
func notification(method string, params any) (buf *[]byte, err error) {
	buf = buffers.Get().(*[]byte)
	*buf, err = jsonrpc.AppendRequest((*buf)[:0], jsonrpc.ID{}, method, params)
	return buf, err
}

// maxUnmeasured is how long an answer may be that net/http measures by itself,
// which costs less than to tell it: as much as it holds back until the request's
// goroutine is done.
const maxUnmeasured = 2 << 10

// json answers with one JSON text.
func (x *exchange) json(status int, body []byte) {
	x.w.Header()["Content-Type"] = typeJSON
	if len(body) > maxUnmeasured || x.e.gate.isClosed() {
		x.measure(body)
	}
	x.patience()
	x.w.WriteHeader(status)
	_, _ = x.w.Write(body)
	x.end()
}

// measure says how long the answer will be, for one that may leave before the
// request's goroutine is done.
func (x *exchange) measure(body []byte) {
	x.w.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
}

// refuse answers with an error. A zero id says that it answers no request in
// particular.
func (x *exchange) refuse(status int, id jsonrpc.ID, err error) {
	buf := buffers.Get().(*[]byte)
	*buf = jsonrpc.AppendError((*buf)[:0], id, wireError(err))
	x.measure(*buf)
	x.json(status, *buf)
	putBuffer(buf)
}

// busy refuses for now.
func (x *exchange) busy(id jsonrpc.ID, why string) {
	x.w.Header().Set("Retry-After", "5")
	x.refuse(http.StatusServiceUnavailable, id, jsonrpc.InternalError(why+", try again later"))
}

// disallow answers a method that is not served here.
func (x *exchange) disallow(allowed string) {
	x.w.Header().Set("Allow", allowed)
	x.refuse(http.StatusMethodNotAllowed, jsonrpc.ID{}, jsonrpc.InvalidRequest("%s is not served here", x.r.Method))
}

// status answers without a body.
func (x *exchange) status(code int) {
	if code != http.StatusNoContent {
		x.w.Header()["Content-Length"] = empty
	}
	x.patience()
	x.w.WriteHeader(code)
	x.end()
}

// patience gives the client until the write timeout from now on. Net/http lifts
// the deadline after the request. Writers that cannot do that are wrapped ones, and
// their owner's choice.
func (x *exchange) patience() {
	_ = x.control.SetWriteDeadline(time.Now().Add(x.e.opts.WriteTimeout))
}

// end ends a plain answer. It leaves when the request's goroutine is done: to send
// it before that is not cheap, since net/http would see the client's next request
// come while it still serves this one. An endpoint that shuts down does send it,
// for nobody may wait for net/http.
func (x *exchange) end() {
	if x.e.gate.isClosed() {
		x.flush()
	}
}

// flush sends what was written.
func (x *exchange) flush() { _ = x.control.Flush() }
