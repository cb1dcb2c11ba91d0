package streamable

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bossman-mcp/bossman/jsonrpc/peer"
)

const (
	maxRedirects  = 3 // of one request
	maxChallenges = 4 // of one request: one more than package login makes, which then says why it gives up
)

const eventStream = "text/event-stream"

// acceptBoth is a header's value that never changes.
var acceptBoth = []string{"application/json, " + eventStream}

// requester makes the HTTP requests of a connection.
type requester struct {
	sender http.RoundTripper
	jar    http.CookieJar // nil: no cookies
	auth   Authorizer     // nil: none
	header http.Header    // of every request
	host   string         // instead of the URL's; empty: the URL's
	hangUp func()         // closes connections that nobody uses
	login  waiting
}

// waiting knows whether requests wait for the authorizer.
type waiting struct {
	many atomic.Int32
	last atomic.Int64 // when one last did, in Unix nanoseconds; 0: never
}

func (w *waiting) begin() { w.many.Add(1) }

func (w *waiting) end() {
	w.last.Store(time.Now().UnixNano())
	w.many.Add(-1)
}

// ask is a request before it is authorized.
type ask struct {
	method string
	url    *url.URL
	header http.Header // the protocol's, not shared
	body   []byte      // belongs to it
}

// do sends a request and follows where it is sent: to the authorizer, and to
// redirects within the same origin, after which a.url is where it ended. The
// response has any status but those of redirects.
func (q *requester) do(ctx context.Context, a *ask) (*http.Response, error) {
	for name, values := range q.header {
		if _, ours := a.header[name]; !ours {
			a.header[name] = values
		}
	}
	redirects, challenges := 0, 0
	for {
		res, err := q.try(ctx, a)
		if err != nil {
			return nil, err
		}
		switch status := res.StatusCode; {
		case isRedirect(status):
			discard(res)
			next, reason := a.follow(res, redirects)
			if reason != "" {
				return nil, &RedirectError{Method: a.method, Status: status, From: plainURL(a.url), To: excerpt([]byte(res.Header.Get("Location"))), Reason: reason}
			}
			redirects++
			a.url = next
		case q.auth != nil && challenges < maxChallenges && (status == http.StatusUnauthorized || status == http.StatusForbidden):
			again, err := q.challenge(ctx, a, res)
			if err != nil {
				return nil, err
			}
			if !again {
				return res, nil
			}
			challenges++
		default:
			return res, nil
		}
	}
}

// try sends a request once.
func (q *requester) try(ctx context.Context, a *ask) (*http.Response, error) {
	r := (&http.Request{
		Method: a.method, URL: a.url, Host: q.host, Header: a.header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	if a.body != nil {
		r.Body, r.GetBody, r.ContentLength = a.payload(), a.again, int64(len(a.body))
	}
	if q.auth != nil || q.jar != nil { // each attempt has credentials of its own
		target := *a.url
		r.URL, r.Header = &target, a.header.Clone()
	}
	if q.jar != nil {
		for _, cookie := range q.jar.Cookies(a.url) {
			r.AddCookie(cookie)
		}
	}
	if q.auth != nil {
		if err := q.auth.Authorize(ctx, r); err != nil {
			return nil, fmt.Errorf("%s %s: %w: %w", a.method, plainURL(a.url), peer.ErrUnauthorized, err)
		}
	}
	res, err := q.sender.RoundTrip(r)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", a.method, plainURL(a.url), err)
	}
	if q.jar != nil {
		q.jar.SetCookies(a.url, res.Cookies())
	}
	return res, nil
}

// challenge asks the authorizer what to do about a response, whose body can be
// read afterwards in any case.
func (q *requester) challenge(ctx context.Context, a *ask, res *http.Response) (again bool, err error) {
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxRefusal)) // what came is good enough
	_ = res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(body))
	if res.Request == nil {
		res.Request = &http.Request{Method: a.method, URL: a.url}
	}
	q.login.begin()
	again, err = q.auth.Challenge(ctx, res)
	q.login.end()
	if err != nil {
		return false, fmt.Errorf("%s %s: %w: %w", a.method, plainURL(a.url), peer.ErrUnauthorized, err)
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return again, nil
}

// payload is the body of a request.
type payload struct{ bytes.Reader }

// Close does nothing.
func (*payload) Close() error { return nil }

func (a *ask) payload() io.ReadCloser {
	p := new(payload)
	p.Reset(a.body)
	return p
}

func (a *ask) again() (io.ReadCloser, error) { return a.payload(), nil }

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// follow returns where a redirect leads, or why it is not followed.
func (a *ask) follow(res *http.Response, before int) (next *url.URL, reason string) {
	next, err := a.url.Parse(res.Header.Get("Location"))
	keeps := res.StatusCode == http.StatusTemporaryRedirect || res.StatusCode == http.StatusPermanentRedirect
	switch {
	case err != nil || res.Header.Get("Location") == "":
		return nil, "it leads nowhere"
	case !sameOrigin(a.url, next):
		return nil, "it leads to another origin"
	case !keeps && a.method != http.MethodGet:
		return nil, "it would change the request"
	case before >= maxRedirects:
		return nil, "there were too many before it"
	}
	next.User, next.Fragment = nil, ""
	return next, ""
}

// sameOrigin reports whether two URLs have the same scheme, host and port.
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && portOf(a) == portOf(b)
}

func portOf(u *url.URL) string {
	switch port := u.Port(); {
	case port != "":
		return port
	case u.Scheme == "https":
		return "443"
	default:
		return "80"
	}
}

// readBody reads a body of at most most bytes; length is what was announced, -1
// if nothing was.
func readBody(body io.Reader, length int64, most int) ([]byte, error) {
	if length > int64(most) {
		return nil, fmt.Errorf("%w: %d bytes, %d are allowed", peer.ErrTooLong, length, most)
	}
	if length >= 0 && length <= maxRefusal { // beyond, memory grows with what really comes
		text := make([]byte, length)
		_, err := io.ReadFull(body, text)
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return text, err
	}
	text, err := io.ReadAll(io.LimitReader(body, int64(most)+1))
	if err == nil && len(text) > most {
		err = fmt.Errorf("%w: more than %d bytes", peer.ErrTooLong, most)
	}
	return text, err
}

// discard reads a response that is short to its end, so that the connection can be used
// again, and closes it.
func discard(res *http.Response) {
	if essence(res.Header) != eventStream {
		_, _ = io.CopyN(io.Discard, res.Body, 16<<10) // a longer one costs the connection
	}
	_ = res.Body.Close()
}

// essence returns the media type of a response, in lower case, without its
// parameters.
func essence(h http.Header) string {
	value := h.Get("Content-Type")
	switch value {
	case "application/json", eventStream: // what nearly all send
		return value
	}
	value, _, _ = strings.Cut(value, ";")
	return strings.ToLower(strings.TrimSpace(value))
}
