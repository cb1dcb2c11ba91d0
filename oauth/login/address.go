package login

import (
	"net/url"
	"strings"

	"github.com/bossman-mcp/bossman/oauth"
)

// address is where the MCP server is, in several forms.
type address struct {
	typed  string // as it was given
	server string // canonical
	name   string // fit to be shown
	origin string // without the path
	base   *url.URL
}

// newAddress reads the URL of a server that may be sent tokens.
func newAddress(typed string) (*address, error) {
	canonical, err := oauth.Canonical(typed)
	if err != nil {
		return nil, err
	}
	if err := oauth.CheckURL(typed); err != nil {
		return nil, err
	}
	base, err := url.Parse(canonical)
	if err != nil {
		return nil, oauth.ErrAddress // the error would repeat the URL
	}
	return &address{typed: typed, server: canonical, name: plain(canonical), origin: base.Scheme + "://" + base.Host, base: base}, nil
}

// owns reports whether a URL is of the server's own origin.
func (a *address) owns(text string) bool {
	u, err := url.Parse(text)
	return err == nil && a.sameOrigin(u)
}

func (a *address) sameOrigin(u *url.URL) bool {
	return strings.EqualFold(u.Scheme, a.base.Scheme) && hostPort(u) == hostPort(a.base)
}
