package login

import (
	"context"
	"errors"
	"net/url"
	"strings"
)

// jwtBearer is the grant that exchanges a signed statement for a token (RFC 7523).
const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"

// ClientCredentials is the grant for programs that act for themselves, with a
// secret or a key (MCP's OAuth Client Credentials extension).
type ClientCredentials struct {
	Client Client
}

func (c *ClientCredentials) credentials() (issuer, id string) { return c.Client.Issuer, c.Client.ID }
func (c *ClientCredentials) open(g *guard)                    { g.name(c.Client.Issuer) }
func (c *ClientCredentials) name() string                     { return "client " + c.Client.ID }
func (c *ClientCredentials) identity(r *record) *Client       { return identify(&c.Client, r) }

func (c *ClientCredentials) obtain(ctx context.Context, t *trip) (*tokenAnswer, *Client, error) {
	if c.Client.ID == "" || c.Client.Secret == "" && c.Client.Key == nil {
		return nil, nil, errors.New("log in as a program: neither a secret nor a key is given")
	}
	return t.request(ctx, &c.Client, "client_credentials", nil)
}

// request asks the authorization server of the trip for a token, as a client,
// by a grant and what it needs.
func (t *trip) request(ctx context.Context, as *Client, grant string, more url.Values) (*tokenAnswer, *Client, error) {
	if err := t.depart(); err != nil {
		return nil, nil, err
	}
	client := *as
	client.settle(t.site.TokenEndpointAuthMethodsSupported)
	form := url.Values{"grant_type": {grant}, "resource": {t.site.resource}}
	if len(t.scopes) > 0 {
		form.Set("scope", strings.Join(t.scopes, " "))
	}
	for name, values := range more {
		form[name] = values
	}
	answer, err := t.token(ctx, &tokenRequest{"log in as a program", t.site.TokenEndpoint, t.site.Issuer, &client, form, t.key})
	if err != nil {
		return nil, nil, err
	}
	return answer, &client, nil
}
