package login

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

const (
	tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
	typeIDToken   = "urn:ietf:params:oauth:token-type:id_token"
	typeIDJAG     = "urn:ietf:params:oauth:token-type:id-jag"
)

// Enterprise is the grant for people who have logged in to the program through
// their organisation, which decides what the program may reach for them (MCP's
// Enterprise-Managed Authorization extension). The organisation's identity
// provider exchanges the person's identity for a statement (ID-JAG), and the
// authorization server takes the statement for a token.
type Enterprise struct {
	// Client is what the MCP server's authorization server knows the program by.
	Client Client
	// ProviderClient is what the identity provider knows the program by. Its
	// Issuer is the provider's, and may be empty unless the provider's metadata or
	// MethodKey needs it.
	ProviderClient Client
	// TokenEndpoint is the identity provider's. Empty: the one in its metadata.
	TokenEndpoint string
	// Subject returns the person's identity, fresh enough for the provider: an
	// OpenID Connect ID token, or what SubjectType says.
	Subject func(ctx context.Context) (string, error)
	// SubjectType is the type of Subject (RFC 8693, section 3). Empty: an ID token.
	SubjectType string
}

func (e *Enterprise) credentials() (issuer, id string) { return e.Client.Issuer, e.Client.ID }
func (e *Enterprise) name() string                     { return "enterprise " + e.Client.ID }
func (e *Enterprise) identity(r *record) *Client       { return identify(&e.Client, r) }

func (e *Enterprise) open(g *guard) {
	g.name(e.Client.Issuer)
	g.name(e.ProviderClient.Issuer)
	g.name(e.TokenEndpoint)
}

func (e *Enterprise) obtain(ctx context.Context, t *trip) (*tokenAnswer, *Client, error) {
	if e.Subject == nil {
		return nil, nil, errors.New("log in through the organisation: no subject is given")
	}
	subject, err := e.Subject(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("log in through the organisation: %w", err)
	}
	statement, err := e.statement(ctx, t, subject)
	if err != nil {
		return nil, nil, err
	}
	return t.request(ctx, &e.Client, jwtBearer, url.Values{"assertion": {statement}})
}

// statement asks the identity provider for a statement to one authorization
// server about one resource.
func (e *Enterprise) statement(ctx context.Context, t *trip, subject string) (string, error) {
	const op = "ask the identity provider"
	if err := t.depart(); err != nil {
		return "", err
	}
	form := url.Values{
		"grant_type":           {tokenExchange},
		"requested_token_type": {typeIDJAG},
		"audience":             {t.site.Issuer},
		"resource":             {t.site.resource},
		"subject_token":        {subject},
		"subject_token_type":   {typeIDToken},
	}
	if e.SubjectType != "" {
		form.Set("subject_token_type", e.SubjectType)
	}
	if len(t.scopes) > 0 {
		form.Set("scope", strings.Join(t.scopes, " "))
	}
	endpoint, takes, err := e.provider(ctx, t)
	if err != nil {
		return "", fmt.Errorf("%s: %w", op, err)
	}
	client := e.ProviderClient
	client.settle(takes)
	answer, err := t.token(ctx, &tokenRequest{op: op, endpoint: endpoint, issuer: client.Issuer, client: &client, form: form})
	if err != nil {
		return "", err
	}
	if answer.Issued != typeIDJAG {
		return "", fmt.Errorf("%s: %w: its answer is no ID-JAG", op, ErrUnfit)
	}
	return answer.Access, nil
}

// provider returns the identity provider's token endpoint, and the methods that
// it takes, as far as they are known.
func (e *Enterprise) provider(ctx context.Context, t *trip) (endpoint string, takes []string, err error) {
	if e.TokenEndpoint != "" {
		return e.TokenEndpoint, nil, nil
	}
	server, err := t.authorizationServer(ctx, e.ProviderClient.Issuer, nil)
	if err == nil && server == nil {
		err = fmt.Errorf("%w: it has no metadata", ErrUnfit)
	}
	if err != nil {
		return "", nil, err
	}
	return server.TokenEndpoint, server.TokenEndpointAuthMethodsSupported, nil
}
