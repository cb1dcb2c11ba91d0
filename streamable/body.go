package streamable

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/bossman-mcp/bossman/jsonrpc"
)

// Bodies of unknown or middling length are first read into scratch, which is
// used again: how much has really come is known before room is made for it.
const (
	smallBody = 4 << 10
	scratch   = 64 << 10
)

var scratches = sync.Pool{New: func() any { return new([scratch]byte) }}

// body reads the request's body, which then belongs to the caller for good:
// handlers may keep parts of it. If it returns false, the request was answered.
func (x *exchange) body() ([]byte, bool) {
	most, length := x.e.opts.MaxBody, x.r.ContentLength
	if length > most {
		return nil, x.badBody(&http.MaxBytesError{Limit: most})
	}
	x.hurry()
	var body []byte
	var err error
	if 0 <= length && length <= smallBody {
		body, err = x.read(make([]byte, 0, length+1)) // the end is found by reading once more
	} else {
		body, err = x.largeBody(most)
	}
	switch {
	case err == nil, int64(len(body)) > most:
		return nil, x.badBody(&http.MaxBytesError{Limit: most})
	case err != io.EOF:
		return nil, x.badBody(err)
	}
	return body, true
}

// read fills the room in buf. It returns nil if that was not enough, and else what
// came last: io.EOF, or what went wrong.
func (x *exchange) read(buf []byte) ([]byte, error) {
	for len(buf) < cap(buf) {
		n, err := x.r.Body.Read(buf[len(buf):cap(buf)])
		if buf = buf[:len(buf)+n]; err != nil {
			return buf, err
		}
	}
	return buf, nil
}

// largeBody reads a body by scratch. Beyond that it makes room for four times what
// has come, so that lengths that are only claimed cost little, and what is copied
// and dropped on the way stays small.
func (x *exchange) largeBody(most int64) ([]byte, error) {
	if x.r.ContentLength > 0 {
		most = x.r.ContentLength
	}
	first := scratches.Get().(*[scratch]byte)
	defer scratches.Put(first)
	body, err := x.read(first[:0:min(scratch, most+1)])
	if err != nil {
		return bytes.Clone(body), err
	}
	for err == nil && int64(len(body)) <= most {
		room := 4 * int64(len(body))
		if room >= most {
			room = most + 1
		}
		body, err = x.read(append(make([]byte, 0, room), body...))
	}
	return body, err
}

// hurry gives the body until the timeout from now on, unless the server is as
// strict by itself. Net/http lifts either deadline once it has read the body: from
// there on it waits for the client to hang up.
func (x *exchange) hurry() {
	server, ok := x.r.Context().Value(http.ServerContextKey).(*http.Server)
	if !ok || server.ReadTimeout <= 0 || server.ReadTimeout > x.e.opts.BodyTimeout {
		_ = x.control.SetReadDeadline(time.Now().Add(x.e.opts.BodyTimeout))
	}
}

// unhurried lifts the deadline for reading of a request whose body nobody reads. A
// server's read timeout would otherwise end its context while it is being served.
func (x *exchange) unhurried() { _ = x.control.SetReadDeadline(time.Time{}) }

// badBody answers for a body that did not arrive. It returns false.
func (x *exchange) badBody(err error) bool {
	x.w.Header().Set("Connection", "close")
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		x.refuse(http.StatusRequestEntityTooLarge, jsonrpc.ID{}, jsonrpc.InvalidRequest("a body may have %d bytes", tooLarge.Limit))
	case errors.Is(err, os.ErrDeadlineExceeded):
		x.refuse(http.StatusRequestTimeout, jsonrpc.ID{}, jsonrpc.InvalidRequest("the body took too long"))
	default:
		x.refuse(http.StatusBadRequest, jsonrpc.ID{}, jsonrpc.InvalidRequest("the body broke off"))
	}
	return false
}

// isJSON reports whether the request's body is declared as JSON in UTF-8, plain.
// A page in a browser can send other types without asking first.
func isJSON(h http.Header) bool {
	types := h["Content-Type"]
	if len(types) != 1 || len(h["Content-Encoding"]) > 0 {
		return false
	}
	if types[0] == "application/json" {
		return true
	}
	essence, params, _ := strings.Cut(types[0], ";")
	if !strings.EqualFold(strings.TrimSpace(essence), "application/json") {
		return false
	}
	for params != "" {
		var param string
		param, params, _ = strings.Cut(params, ";")
		name, value, _ := strings.Cut(strings.TrimSpace(param), "=")
		if strings.EqualFold(name, "charset") && !strings.EqualFold(strings.Trim(value, `"`), "utf-8") {
			return false
		}
	}
	return true
}

// acceptsBoth reports whether the client takes JSON and event streams.
func acceptsBoth(h http.Header) bool {
	lists := h["Accept"]
	if len(lists) == 1 && lists[0] == "application/json, text/event-stream" { // as most write it
		return true
	}
	return accepts(h, "application/json") && accepts(h, "text/event-stream")
}

// accepts reports whether the client takes answers of a type, such as
// "text/event-stream". A client that says nothing takes anything.
func accepts(h http.Header, mediaType string) bool {
	lists := h["Accept"]
	if len(lists) == 0 {
		return true
	}
	major, _, _ := strings.Cut(mediaType, "/")
	for _, list := range lists {
		for list != "" {
			var entry string
			entry, list, _ = strings.Cut(list, ",")
			essence, params, _ := strings.Cut(entry, ";")
			essence = strings.TrimSpace(essence)
			matches := strings.EqualFold(essence, mediaType) || essence == "*/*" ||
				len(essence) == len(major)+2 && strings.EqualFold(essence[:len(major)], major) && essence[len(major):] == "/*"
			if matches && !refusedByWeight(params) {
				return true
			}
		}
	}
	return false
}

// refusedByWeight reports whether the parameters of an Accept entry give it the
// weight 0.
func refusedByWeight(params string) bool {
	weight, ok := strings.CutPrefix(strings.TrimSpace(params), "q=0")
	return ok && strings.Trim(weight, ".0") == ""
}
