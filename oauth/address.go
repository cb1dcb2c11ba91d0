package oauth

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// ErrAddress is matched by the errors for URLs that this package refuses.
var ErrAddress = errors.New("unfit URL")

// CheckURL refuses what no OAuth endpoint or document may be: anything but an
// absolute https URL with a host, without user information and without spaces
// or control characters. Plain http passes for this machine only: localhost and
// the loopback addresses. The name is not resolved.
func CheckURL(text string) error {
	u, err := parseURL(text)
	if err != nil {
		return err
	}
	if u.Scheme == "http" && !loopback(u.Hostname()) {
		return fmt.Errorf("%w: plain http to another machine", ErrAddress)
	}
	return nil
}

// Canonical writes a resource identifier with its scheme and host in lower case,
// the form in which two of them are compared. It changes nothing else: a final
// slash makes another resource. The identifier must be an absolute http or https
// URL without a fragment.
func Canonical(resource string) (string, error) {
	if _, err := parseIdentifier(resource); err != nil {
		return "", err
	}
	origin, rest := splitOrigin(resource)
	return strings.ToLower(origin) + rest, nil
}

// parseURL reads an absolute http or https URL. Its errors do not repeat the
// text, which may come from a stranger.
func parseURL(text string) (*url.URL, error) {
	for i := range len(text) {
		if text[i] <= ' ' || text[i] >= 0x7f || text[i] == '\\' {
			return nil, fmt.Errorf("%w: a character that must be escaped", ErrAddress)
		}
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: bad syntax", ErrAddress)
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, fmt.Errorf("%w: neither https nor http", ErrAddress)
	case u.Opaque != "" || u.Hostname() == "":
		return nil, fmt.Errorf("%w: no host", ErrAddress)
	case u.User != nil:
		return nil, fmt.Errorf("%w: user information", ErrAddress)
	}
	return u, nil
}

// parseIdentifier reads the URL that names a resource or an issuer.
func parseIdentifier(text string) (*url.URL, error) {
	u, err := parseURL(text)
	if err != nil {
		return nil, err
	}
	if strings.Contains(text, "#") {
		return nil, fmt.Errorf("%w: a fragment", ErrAddress)
	}
	return u, nil
}

// splitOrigin cuts a URL after its host and port, byte for byte as it is
// written: identifiers are compared as text.
func splitOrigin(text string) (origin, rest string) {
	start := strings.Index(text, "://") + len("://")
	if i := strings.IndexAny(text[start:], "/?#"); i >= 0 {
		return text[:start+i], text[start+i:]
	}
	return text, ""
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
