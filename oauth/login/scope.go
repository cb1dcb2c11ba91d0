package login

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// ErrScope is matched by the error for a server that refuses a token although it
// has all the scopes that the server asks for.
var ErrScope = errors.New("the scopes that the server asks for do not help")

// bound decides whether the token is to be bound to a key: where the caller or
// the server insists, and where the server leaves the choice and the
// authorization server can do it.
func (a *Authorizer) bound(c *challenge, s *site) bool {
	able := slices.Contains(s.DPoPSigningAlgValuesSupported, "ES256")
	return a.opts.DPoP || s.bound || c.dpop && (able || !c.bearer)
}

// scopes chooses what to ask for: what the challenge says, or else what the
// server's document lists, and whatever was asked for before. It fails if a
// server wants scopes that the token has.
func (a *Authorizer) scopes(c *challenge, s *site, old *record) ([]string, error) {
	var before []string
	if old != nil {
		before = old.Asked
	}
	wanted := c.scopes
	if len(wanted) == 0 && (len(before) == 0 || c.status == http.StatusForbidden) {
		wanted = s.scopes
	}
	if old != nil {
		lacks := func(scope string) bool { return !slices.Contains(old.Granted, scope) }
		if c.status == http.StatusForbidden && !slices.ContainsFunc(wanted, lacks) {
			return nil, fmt.Errorf("%w: %s", ErrScope, clean(strings.Join(wanted, " "), 200))
		}
	}
	var all []string
	for _, scope := range slices.Concat(before, wanted, a.opts.Scopes) {
		offline := scope == offlineAccess && !slices.Contains(s.ScopesSupported, offlineAccess)
		if validScope(scope) && !offline && !slices.Contains(all, scope) {
			all = append(all, scope)
		}
	}
	return all, nil
}

// validScope follows RFC 6749, section 3.3.
func validScope(scope string) bool { return visible(scope) && !strings.ContainsAny(scope, `"\`) }
