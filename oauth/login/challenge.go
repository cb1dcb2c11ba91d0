package login

import (
	"net/http"
	"strings"

	"github.com/bossman-mcp/bossman/oauth"
)

// challenge is what a refused request tells about a login.
type challenge struct {
	status   int
	metadata string // URL of the protected-resource document; empty: not said
	err      string
	scopes   []string
	dpop     bool        // tokens bound to a key are taken
	bearer   bool        // bearer tokens are taken
	nonce    string      // for the next proof
	ended    bool        // the request had no token, since the last one's time was over
	discover http.Header // goes with requests for documents to the MCP server
}

// readChallenge returns nil for refusals that no login can help: a plain 403, or
// a 401 that asks for something other than OAuth.
func readChallenge(res *http.Response) *challenge {
	c := &challenge{status: res.StatusCode, discover: make(http.Header), nonce: res.Header.Get("DPoP-Nonce")}
	if !validNonce(c.nonce) {
		c.nonce = ""
	}
	if res.Request != nil {
		// The oldest servers may answer according to the protocol's version.
		const version = "Mcp-Protocol-Version"
		if v := res.Request.Header.Get(version); v != "" {
			c.discover.Set(version, v)
		}
	}
	offers, _ := oauth.ParseChallenges(res.Header.Values("WWW-Authenticate")) // what can be read is good enough
	for i := range offers {
		offer := &offers[i]
		switch {
		case offer.Is("DPoP"):
			c.dpop = true
		case offer.Is("Bearer"):
			c.bearer = true
		default:
			continue
		}
		if v := offer.Get("resource_metadata"); v != "" && c.metadata == "" {
			c.metadata = v
		}
		if v := offer.Get("error"); v != "" && c.err == "" {
			c.err = v
		}
		if v := offer.Scopes(); c.scopes == nil {
			c.scopes = v
		}
	}
	switch {
	case res.StatusCode == http.StatusForbidden:
		if c.err != "insufficient_scope" {
			return nil
		}
	case res.StatusCode != http.StatusUnauthorized:
		return nil
	case len(offers) > 0 && !c.dpop && !c.bearer:
		return nil
	}
	return c
}

// shown returns the token that a refused request carried, empty if none. It is
// not known for a request of which nothing is left.
func shown(r *http.Request) (token string, known bool) {
	if r == nil || r.Header == nil {
		return "", false
	}
	_, token, _ = strings.Cut(r.Header.Get("Authorization"), " ")
	return token, true
}
