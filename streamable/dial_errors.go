package streamable

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/bossman-mcp/bossman/jsonrpc/peer"
)

// ErrSessionLost says that the server does not know the session any more. No
// message but initialize can be sent until that has opened another, so it matches
// [peer.ErrClosed].
var ErrSessionLost = fmt.Errorf("session lost: %w", peer.ErrClosed)

// HTTPError is a response of the server that is no JSON-RPC.
type HTTPError struct {
	Method string      // of the request: POST or GET
	URL    string      // without what may be secret
	Status int         // such as 404; 2xx if the answer was of the wrong kind
	Header http.Header // of the response
	Body   string      // the first 512 bytes at most, on one line, printable
	Reason string      // what is wrong, if Status does not say it
}

func (e *HTTPError) Error() string {
	text := fmt.Sprintf("%s %s: %d %s", e.Method, e.URL, e.Status, http.StatusText(e.Status))
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	if e.Body != "" {
		text += ": " + e.Body
	}
	return text
}

// RedirectError is a redirect that was not followed, so that nothing, no header
// and no body, went to where it points.
type RedirectError struct {
	Method string // of the request
	Status int    // such as 307
	From   string // where the request was sent, without what may be secret
	To     string // where it was to go instead
	Reason string // why it was not followed
}

func (e *RedirectError) Error() string {
	return fmt.Sprintf("%s %s: redirect (%d) to %q was not followed: %s", e.Method, e.From, e.Status, e.To, e.Reason)
}

// httpError describes a response with the start of its body.
func httpError(method string, u *url.URL, res *http.Response, body []byte) *HTTPError {
	return &HTTPError{Method: method, URL: plainURL(u), Status: res.StatusCode, Header: res.Header, Body: excerpt(body)}
}

// plainURL returns a URL without user, query and fragment.
func plainURL(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}

// excerpt returns the start of a text for people, on one line and without what
// could move their cursor.
func excerpt(body []byte) string {
	const most = 512
	cut := len(body) > most
	text := strings.ToValidUTF8(string(body[:min(len(body), most)]), "")
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if cut {
		text += "…"
	}
	return text
}
