package login

import (
	"context"
	"fmt"
	"net/http"

	"github.com/bossman-mcp/bossman/oauth"
)

// UserAgent takes a person to an authorization server, and brings the answer
// back. See [Loopback] and [Direct].
type UserAgent interface {
	// Visit gets ready for an answer, and calls begin once with the redirect URI
	// at which it will come: prefer if it is not empty and can be had. Then it shows
	// the person the page that begin returns, and returns the query of the
	// redirect, undecoded. It fails when ctx ends, and with begin's error.
	Visit(ctx context.Context, prefer string, begin func(redirectURI string) (page string, err error)) (query string, err error)
}

// Direct is a user agent without a person: it fetches the page and expects to be
// redirected at once, as by a server in a test. It follows nothing.
type Direct struct {
	// RedirectURI is where the answer would go. Empty: a path of this machine, to
	// which nobody listens.
	RedirectURI string
	// Transport fetches the page. Nil: http.DefaultTransport.
	Transport http.RoundTripper
}

// Visit fetches the page.
func (d Direct) Visit(ctx context.Context, _ string, begin func(string) (string, error)) (string, error) {
	redirectURI := d.RedirectURI
	if redirectURI == "" {
		redirectURI = "http://127.0.0.1:8976/callback"
	}
	page, err := begin(redirectURI)
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	if err != nil {
		return "", oauth.ErrAddress
	}
	transport := d.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	res, err := transport.RoundTrip(req)
	if err != nil {
		return "", fmt.Errorf("fetch %s: %w", plain(page), bare(err))
	}
	defer res.Body.Close()
	to, err := res.Location()
	if !isRedirect(res.StatusCode) || err != nil {
		return "", fmt.Errorf("fetch %s: status %d, not a redirect", plain(page), res.StatusCode)
	}
	query := to.RawQuery
	if to.RawQuery, to.Fragment = "", ""; to.String() != redirectURI {
		return "", fmt.Errorf("fetch %s: %w: it leads elsewhere", plain(page), ErrRedirect)
	}
	return query, nil
}
