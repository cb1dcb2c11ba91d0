package login

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/bossman-mcp/bossman/oauth"
)

// ErrPerson is matched by the error for a login that only a person could make,
// when there is none.
var ErrPerson = errors.New("a person has to log in")

const offlineAccess = "offline_access"

// Code is the grant for people: they log in with their browser, and the program
// gets a code for it, which it exchanges for a token (OAuth 2.1, section 4.1, with
// PKCE).
type Code struct {
	// UserAgent takes the person to the authorization server. Nil: nobody is
	// there. Stored logins are used and renewed; where a new one is needed, the
	// error matches ErrPerson.
	UserAgent UserAgent
	// Client is registered with the authorization server already. Nil: MetadataURL
	// is used if the authorization server can, or else the program registers
	// itself (RFC 7591).
	Client *Client
	// MetadataURL is the address of the program's own client-id metadata document,
	// which is also its id. Empty: it has none.
	MetadataURL string
	// MetadataKey is a key that the document at MetadataURL lists; with it the
	// program proves its identity by MethodKey. Nil: it does not.
	MetadataKey crypto.Signer
	// Name is shown to people who are asked for their consent, when the program
	// registers itself. Empty: "MCP client".
	Name string
	// NoRefresh says not to ask for refresh tokens: logins last as long as an
	// access token.
	NoRefresh bool
}

func (c *Code) credentials() (issuer, id string) {
	if c.Client == nil {
		return "", ""
	}
	return c.Client.Issuer, c.Client.ID
}

func (c *Code) open(g *guard) {
	if c.Client != nil {
		g.name(c.Client.Issuer)
	}
}

func (c *Code) name() string {
	if c.Client == nil {
		return "code"
	}
	return "code " + c.Client.ID
}

func (c *Code) identity(r *record) *Client {
	switch {
	case c.Client != nil:
		return identify(c.Client, r)
	case r.As.ID == c.MetadataURL:
		return c.document()
	case strings.HasPrefix(r.As.ID, "https://"): // a document that is no longer ours
		return nil
	default:
		return &Client{ID: r.As.ID, Secret: r.As.Secret, Method: r.As.Method}
	}
}

// obtain takes the person there and back. What belongs to one request is in the
// variables of this function, so nothing of it can be used again.
func (c *Code) obtain(ctx context.Context, t *trip) (*tokenAnswer, *Client, error) {
	switch {
	case c.UserAgent == nil && t.site.assumed:
		return nil, nil, errNowhere
	case c.UserAgent == nil:
		return nil, nil, fmt.Errorf("log in at %s: %w", t.Authorizer.name, ErrPerson)
	case t.site.AuthorizationEndpoint == "":
		return nil, nil, fmt.Errorf("log in: %w: no authorization endpoint", ErrUnfit)
	case !t.site.assumed && !t.site.S256():
		return nil, nil, fmt.Errorf("log in: %w: it does not promise PKCE with S256", ErrUnfit)
	}
	if c.offline(t.site) && len(t.scopes) > 0 && !slices.Contains(t.scopes, offlineAccess) {
		t.scopes = append(slices.Clip(t.scopes), offlineAccess)
	}
	v := visit{state: rand.Text(), verifier: rand.Text() + rand.Text(), issuer: t.site.Issuer, promised: t.site.IssParameterSupported}
	prefer := t.registered(ctx).RedirectURI
	answer, err := c.UserAgent.Visit(ctx, prefer, func(redirectURI string) (string, error) {
		if err := checkRedirectURI(redirectURI); err != nil {
			return "", err
		}
		client, err := c.client(ctx, t, redirectURI)
		if err != nil {
			return "", err
		}
		v.client, v.redirectURI = client, redirectURI
		page, err := v.url(t)
		if err == nil {
			err = t.depart()
		}
		return page, err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("log in: %w", err)
	}
	code, err := v.code(answer)
	if err != nil {
		return nil, nil, fmt.Errorf("log in: %w", err)
	}
	form := url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {v.redirectURI},
		"code_verifier": {v.verifier}, "resource": {t.site.resource},
	}
	token, err := t.token(ctx, &tokenRequest{"log in", t.site.TokenEndpoint, t.site.Issuer, v.client, form, t.key})
	if err != nil {
		var refusal *ServerError
		if v.client.own && errors.As(err, &refusal) && refusal.Code == "invalid_client" {
			t.unregister(ctx) // the next login registers anew
		}
		return nil, nil, err
	}
	return token, v.client, nil
}

// offline reports whether to ask for a scope that brings a refresh token. Others
// may come without being asked.
func (c *Code) offline(s *site) bool {
	return !c.NoRefresh && slices.Contains(s.ScopesSupported, offlineAccess)
}

// client returns what the program is known by, in the order of MCP's Client
// Registration.
func (c *Code) client(ctx context.Context, t *trip, redirectURI string) (*Client, error) {
	switch {
	case c.Client != nil:
		client := *c.Client
		client.settle(t.site.TokenEndpointAuthMethodsSupported)
		return &client, nil
	case c.MetadataURL != "" && t.site.ClientIDMetadataDocumentSupported:
		return c.document(), nil
	case t.site.RegistrationEndpoint != "":
		return t.register(ctx, c, redirectURI)
	default:
		return nil, fmt.Errorf("%w: it knows neither metadata documents nor registration, so a registered client is needed", ErrUnfit)
	}
}

// document returns the client that MetadataURL describes. It is the same at every
// authorization server.
func (c *Code) document() *Client {
	client := &Client{ID: c.MetadataURL, Key: c.MetadataKey}
	client.settle(nil)
	return client
}

// identify returns the client of the caller as it was used in a login.
func identify(c *Client, r *record) *Client {
	if c.ID != r.As.ID || c.Issuer != "" && c.Issuer != r.Issuer {
		return nil
	}
	client := *c
	client.Method = r.As.Method
	return &client
}

// visit is one request for authorization.
type visit struct {
	state, verifier string
	issuer          string // from metadata that was checked
	promised        bool   // the answer will name the issuer
	client          *Client
	redirectURI     string
}

// url returns the address that the person's browser is to open.
func (v *visit) url(t *trip) (string, error) {
	endpoint, err := url.Parse(t.site.AuthorizationEndpoint)
	if err != nil {
		return "", fmt.Errorf("%w: authorization endpoint", ErrUnfit)
	}
	q, err := url.ParseQuery(endpoint.RawQuery)
	if err != nil {
		return "", fmt.Errorf("%w: authorization endpoint", ErrUnfit)
	}
	sum := sha256.Sum256([]byte(v.verifier))
	q.Set("response_type", "code")
	q.Set("client_id", v.client.ID)
	q.Set("redirect_uri", v.redirectURI)
	q.Set("state", v.state)
	q.Set("code_challenge", base64.RawURLEncoding.EncodeToString(sum[:]))
	q.Set("code_challenge_method", "S256")
	q.Set("resource", t.site.resource)
	if len(t.scopes) > 0 {
		q.Set("scope", strings.Join(t.scopes, " "))
	}
	if slices.Contains(t.scopes, offlineAccess) {
		q.Set("prompt", "consent") // OpenID Connect Core, section 11
	}
	if t.key != nil {
		q.Set("dpop_jkt", t.key.print)
	}
	endpoint.RawQuery, endpoint.ForceQuery = q.Encode(), false
	address := endpoint.String()
	if err := checkPage(address); err != nil {
		return "", fmt.Errorf("%w: authorization endpoint: %w", ErrUnfit, err)
	}
	return address, nil
}

// checkRedirectURI wants an address of this machine, or https.
func checkRedirectURI(text string) error {
	if err := oauth.CheckURL(text); err != nil || strings.Contains(text, "#") {
		return fmt.Errorf("use redirect URI: %w", oauth.ErrAddress)
	}
	return nil
}
