package login

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bossman-mcp/bossman/oauth"
)

// ErrRedirect is matched by the errors for redirects that are not followed: all
// that lead to another origin, and all from endpoints that are sent secrets.
var ErrRedirect = errors.New("redirect not followed")

const (
	maxDocument  = 1 << 20 // bytes
	fetchTimeout = 10 * time.Second
	maxRedirects = 3
)

// fetcher speaks to whoever a server named.
type fetcher struct {
	guard  *guard
	client *http.Client
}

func newFetcher(g *guard, transport http.RoundTripper) *fetcher {
	if transport == nil {
		transport = g.transport()
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &fetcher{guard: g, client: &http.Client{Transport: transport, CheckRedirect: stay}}
}

// reply is a response that has been read.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// get fetches a document. It returns nil without an error if there is none: the
// server says so, in whatever words, with a status of 400 to 499.
func (f *fetcher) get(ctx context.Context, address string, header http.Header) ([]byte, error) {
	for range maxRedirects + 1 {
		r, err := f.send(ctx, http.MethodGet, address, header, "")
		switch {
		case err != nil:
			return nil, fmt.Errorf("fetch %s: %w", plain(address), err)
		case r.status == http.StatusOK:
			return r.body, nil
		case r.status >= 400 && r.status < 500:
			return nil, nil
		case !isRedirect(r.status):
			return nil, fmt.Errorf("fetch %s: status %d", plain(address), r.status)
		}
		next, err := follow(address, r.header.Get("Location"))
		if err != nil {
			return nil, fmt.Errorf("fetch %s: %w", plain(address), err)
		}
		address = next
	}
	return nil, fmt.Errorf("fetch %s: %w: more than %d", plain(address), ErrRedirect, maxRedirects)
}

// post sends what may hold secrets, to the one address and no further.
func (f *fetcher) post(ctx context.Context, address string, header http.Header, body string) (*reply, error) {
	r, err := f.send(ctx, http.MethodPost, address, header, body)
	if err == nil && isRedirect(r.status) {
		err = fmt.Errorf("%w: status %d, to %s", ErrRedirect, r.status, plain(r.header.Get("Location")))
	}
	if err != nil {
		return nil, fmt.Errorf("post to %s: %w", plain(address), err)
	}
	return r, nil
}

func (f *fetcher) send(ctx context.Context, method, address string, header http.Header, body string) (*reply, error) {
	if err := f.guard.check(address); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return nil, oauth.ErrAddress // the error would repeat the URL
	}
	for name, values := range header {
		req.Header[name] = values
	}
	req.Header.Set("Accept", "application/json")
	res, err := f.client.Do(req)
	if err != nil {
		return nil, bare(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxDocument+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the answer: %w", err)
	case len(data) > maxDocument:
		return nil, fmt.Errorf("read the answer: more than %d bytes", maxDocument)
	}
	return &reply{res.StatusCode, res.Header, data}, nil
}

// bare takes the URL out of an error of package http.
func bare(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// follow returns where a redirect of a document leads, within its origin.
func follow(address, location string) (string, error) {
	from, err := url.Parse(address)
	if err != nil {
		return "", oauth.ErrAddress
	}
	to, err := from.Parse(location)
	if err != nil || location == "" {
		return "", fmt.Errorf("%w: it leads nowhere", ErrRedirect)
	}
	if to.Scheme != from.Scheme || hostPort(to) != hostPort(from) {
		return "", fmt.Errorf("%w: to %s", ErrRedirect, plain(to.String()))
	}
	return to.String(), nil
}

func isRedirect(status int) bool { return status >= 300 && status < 400 }

// plain returns a URL in a form that can be shown: without user information,
// query and fragment, in ASCII, and not too long.
func plain(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "a malformed URL"
	}
	const most = 200
	text := (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
	return clean(text, most)
}

// clean makes text from a stranger fit to be shown: visible ASCII of at most so
// many bytes.
func clean(text string, most int) string {
	if len(text) > most {
		text = text[:most] + "..."
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text)
}
