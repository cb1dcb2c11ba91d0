package streamable

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/bossman-mcp/bossman/jsonrpc"
)

// firstRead is how much room a body gets before any of it has arrived, whatever
// length it claims.
const firstRead = 64 << 10

// body reads the request's body, which then belongs to the caller for good:
// handlers may keep parts of it. If it returns false, the request was answered.
func (x *exchange) body() ([]byte, bool) {
	most := x.e.opts.MaxBody
	if x.r.ContentLength > most {
		return nil, x.badBody(&http.MaxBytesError{Limit: most})
	}
	_ = x.control.SetReadDeadline(time.Now().Add(x.e.opts.BodyTimeout))
	from := http.MaxBytesReader(x.w, x.r.Body, most)
	room := int64(1024)
	if x.r.ContentLength >= 0 {
		room = min(x.r.ContentLength, firstRead) + 1 // the end is found by reading once more
	}
	body := make([]byte, 0, room)
	for {
		n, err := from.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case errors.Is(err, io.EOF):
			x.unhurried()
			return body, true
		case err != nil:
			return nil, x.badBody(err)
		case len(body) == cap(body):
			body = append(make([]byte, 0, x.more(int64(cap(body)))), body...)
		}
	}
}

// more returns how much room a body gets that has filled so much: four times as
// much, so that what is copied and dropped on the way stays small, and no more
// than it can need.
func (x *exchange) more(filled int64) int64 {
	whole := x.e.opts.MaxBody
	if x.r.ContentLength >= 0 {
		whole = x.r.ContentLength
	}
	if 4*filled >= whole {
		return whole + 1 // the end is found by reading once more
	}
	return 4 * filled
}

// unhurried lifts the deadline for reading. A server's read timeout would
// otherwise end the request's context while it is being served.
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
