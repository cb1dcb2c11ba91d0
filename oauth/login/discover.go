package login

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/bossman-mcp/bossman/oauth"
)

var (
	// ErrUnfit is matched by the errors for servers whose documents rule out a
	// login: an endpoint is missing or may not be used, or PKCE is not promised.
	ErrUnfit = errors.New("unfit authorization server")
	// errNowhere is for a server that has no document, and no authorization server
	// where the oldest kind of server has it: it wants something else than a login.
	errNowhere = errors.New("there is nowhere to log in")
	// ErrIssuer is matched by the errors for credentials that belong to another
	// authorization server than the MCP server trusts now.
	ErrIssuer = errors.New("credentials of another authorization server")
)

// site is what the documents say about a server and its authorization server.
type site struct {
	resource string // the identifier, as its document writes it
	scopes   []string
	bound    bool // the resource takes tokens bound to a key only
	named    bool // a document named the authorization server
	assumed  bool // the authorization server has no document either
	oauth.AuthorizationServer
}

// discover reads the documents anew, since a server may change whom it trusts.
// Of several authorization servers it prefers one, if it is there.
func (a *Authorizer) discover(ctx context.Context, c *challenge, prefer string) (*site, error) {
	doc, err := a.protectedResource(ctx, c)
	if err != nil {
		return nil, err
	}
	if doc == nil {
		return a.unnamed(ctx, c.discover)
	}
	if len(doc.AuthorizationServers) == 0 {
		return nil, fmt.Errorf("read protected-resource metadata: %w: none is named", ErrUnfit)
	}
	issuer := doc.AuthorizationServers[0]
	if slices.Contains(doc.AuthorizationServers, prefer) {
		issuer = prefer
	}
	server, err := a.authorizationServer(ctx, issuer, nil)
	if err != nil {
		return nil, err
	}
	if server == nil {
		return nil, fmt.Errorf("find metadata of %s: %w: it has none", plain(issuer), ErrUnfit)
	}
	return &site{
		resource: doc.Resource, scopes: doc.ScopesSupported, bound: doc.DPoPBoundAccessTokensRequired,
		named: true, AuthorizationServer: *server,
	}, nil
}

// protectedResource returns the server's document, nil if it has none. It is
// where the challenge says, or else at one of the well-known places.
func (a *Authorizer) protectedResource(ctx context.Context, c *challenge) (*oauth.ProtectedResource, error) {
	places, err := oauth.ProtectedResourceLocations(a.server)
	if err != nil {
		return nil, err
	}
	if c.metadata != "" {
		place := oauth.Location{URL: c.metadata, Identifier: a.server}
		if i := slices.IndexFunc(places, func(l oauth.Location) bool { return l.URL == c.metadata }); i >= 0 {
			place = places[i]
		}
		places = []oauth.Location{place}
	}
	for _, place := range places {
		var header http.Header
		if a.owns(place.URL) {
			header = c.discover
		}
		data, err := a.fetch.get(ctx, place.URL, header)
		if err != nil {
			return nil, err
		}
		if data != nil {
			return a.parseResource(data, place)
		}
	}
	if c.metadata != "" {
		return nil, fmt.Errorf("fetch %s: there is no such document", plain(c.metadata))
	}
	return nil, nil
}

// parseResource reads a document about the server, or about the whole origin if
// it was found at the root. The host may be written in lower case.
func (a *Authorizer) parseResource(data []byte, place oauth.Location) (*oauth.ProtectedResource, error) {
	doc, err := oauth.ParseProtectedResource(data, a.server)
	if !errors.Is(err, oauth.ErrMismatch) {
		return doc, err
	}
	for _, name := range []string{a.typed, place.Identifier} {
		if doc, err := oauth.ParseProtectedResource(data, name); err == nil {
			return doc, nil
		}
	}
	return nil, fmt.Errorf("read protected-resource metadata: %w: it is not about %s", oauth.ErrMismatch, a.name)
}

// unnamed finds the authorization server of the oldest kind of MCP server, which
// is its own: it has metadata at the root of its origin, or endpoints at fixed
// places there.
func (a *Authorizer) unnamed(ctx context.Context, header http.Header) (*site, error) {
	server, err := a.authorizationServer(ctx, a.origin, header)
	if err != nil {
		return nil, err
	}
	s := &site{resource: a.server, assumed: server == nil}
	if s.assumed {
		server = &oauth.AuthorizationServer{
			Issuer:                a.origin,
			AuthorizationEndpoint: a.origin + "/authorize",
			TokenEndpoint:         a.origin + "/token",
			RegistrationEndpoint:  a.origin + "/register",
		}
	}
	s.AuthorizationServer = *server
	return s, nil
}

// authorizationServer returns the metadata of an issuer, nil if it has none.
func (a *Authorizer) authorizationServer(ctx context.Context, issuer string, header http.Header) (*oauth.AuthorizationServer, error) {
	places, err := oauth.AuthorizationServerLocations(issuer)
	if err != nil {
		return nil, err
	}
	for _, place := range places {
		data, err := a.fetch.get(ctx, place.URL, header)
		if err != nil {
			return nil, err
		}
		if data == nil {
			continue
		}
		server, err := oauth.ParseAuthorizationServer(data, place.Identifier)
		if err != nil {
			return nil, err
		}
		if err := a.checkEndpoints(server); err != nil {
			return nil, fmt.Errorf("use metadata of %s: %w", plain(issuer), err)
		}
		return server, nil
	}
	return nil, nil
}

// checkEndpoints refuses addresses that may not be used. An endpoint that is not
// there is for the grant to miss, apart from the one that all grants need.
func (a *Authorizer) checkEndpoints(s *oauth.AuthorizationServer) error {
	if s.TokenEndpoint == "" {
		return fmt.Errorf("%w: no token endpoint", ErrUnfit)
	}
	for _, e := range []struct{ name, url string }{
		{"authorization", s.AuthorizationEndpoint}, {"token", s.TokenEndpoint}, {"registration", s.RegistrationEndpoint},
	} {
		if e.url == "" {
			continue
		}
		err := a.fetch.guard.check(e.url)
		if err == nil && e.url == s.AuthorizationEndpoint {
			err = checkPage(e.url)
		}
		if err == nil && strings.Contains(e.url, "#") {
			err = fmt.Errorf("%w: a fragment", oauth.ErrAddress)
		}
		if err != nil {
			return fmt.Errorf("%w: %s endpoint: %w", ErrUnfit, e.name, err)
		}
	}
	return nil
}

// choose settles on one authorization server for credentials of the caller. Those
// that the caller bound to no issuer belong to the first that a document names,
// and from then on to no other.
func (a *Authorizer) choose(ctx context.Context, s *site) error {
	issuer, id := a.grant.credentials()
	switch {
	case issuer != "" && issuer != s.Issuer:
		return fmt.Errorf("%w: they are for %s, and the server trusts %s", ErrIssuer, plain(issuer), plain(s.Issuer))
	case issuer != "" || id == "":
		return nil
	case !s.named:
		return fmt.Errorf("%w: no document names one, and the credentials were given without an issuer", ErrIssuer)
	}
	first := s.Issuer
	err := a.store.Update(ctx, issuerKey(a.server, id), func(old []byte) ([]byte, error) {
		if old != nil {
			first = string(old)
		}
		return []byte(first), nil
	})
	if err != nil {
		return fmt.Errorf("remember the issuer: %w", err)
	}
	if first != s.Issuer {
		return fmt.Errorf("%w: they were used at %s, and the server trusts %s now", ErrIssuer, plain(first), plain(s.Issuer))
	}
	return nil
}
