package login

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// registration is a client that we registered, as the store keeps it.
type registration struct {
	Issuer      string `json:"issuer"`
	RedirectURI string `json:"redirect_uri"`
	ID          string `json:"client_id"`
	Secret      string `json:"client_secret,omitempty"`
	Method      string `json:"method"`
	Expires     int64  `json:"expires,omitzero"` // of the secret, in Unix seconds; 0: never
}

// registered returns what the store has for the issuer, the zero value if there
// is nothing that can be used.
func (t *trip) registered(ctx context.Context) registration {
	data, err := t.store.Load(ctx, clientKey(t.site.Issuer))
	var r registration
	if err != nil || data == nil || json.Unmarshal(data, &r) != nil || r.Issuer != t.site.Issuer || r.ID == "" ||
		r.Expires != 0 && r.Expires <= time.Now().Unix() {
		return registration{}
	}
	return r
}

// register returns the client that is registered with the issuer for a redirect
// URI, which it registers if there is none (RFC 7591).
func (t *trip) register(ctx context.Context, c *Code, redirectURI string) (*Client, error) {
	r := t.registered(ctx)
	if r.RedirectURI != redirectURI {
		fresh, err := t.requestRegistration(ctx, c, redirectURI)
		if err != nil {
			return nil, err
		}
		r = *fresh
		t.keepRegistration(ctx, func() ([]byte, error) { return json.Marshal(fresh) })
	}
	return &Client{Issuer: r.Issuer, ID: r.ID, Secret: r.Secret, Method: r.Method, own: true}, nil
}

// unregister forgets a client that the authorization server does not know any
// more.
func (t *trip) unregister(ctx context.Context) {
	t.keepRegistration(ctx, func() ([]byte, error) { return nil, nil })
}

func (t *trip) keepRegistration(ctx context.Context, value func() ([]byte, error)) {
	err := t.store.Update(ctx, clientKey(t.site.Issuer), func([]byte) ([]byte, error) { return value() })
	if err != nil {
		t.log.WarnContext(ctx, "a registration could not be stored", slog.String("issuer", t.site.Issuer), slog.String("error", err.Error()))
	}
}

func (t *trip) requestRegistration(ctx context.Context, c *Code, redirectURI string) (*registration, error) {
	ask := struct {
		Name            string   `json:"client_name"`
		RedirectURIs    []string `json:"redirect_uris"`
		ApplicationType string   `json:"application_type"`
		GrantTypes      []string `json:"grant_types"`
		ResponseTypes   []string `json:"response_types"`
		Method          string   `json:"token_endpoint_auth_method"`
	}{
		Name: c.Name, RedirectURIs: []string{redirectURI}, ApplicationType: applicationType(redirectURI),
		GrantTypes: []string{"authorization_code"}, ResponseTypes: []string{"code"}, Method: preferredMethod(t.site),
	}
	if ask.Name == "" {
		ask.Name = "MCP client"
	}
	if !c.NoRefresh {
		ask.GrantTypes = append(ask.GrantTypes, "refresh_token")
	}
	body, err := json.Marshal(ask)
	if err != nil {
		return nil, fmt.Errorf("register client: %w", err)
	}
	r, err := t.fetch.post(ctx, t.site.RegistrationEndpoint, http.Header{"Content-Type": {"application/json"}}, string(body))
	if err != nil {
		return nil, fmt.Errorf("register client: %w", err)
	}
	if t.site.assumed && (r.status == http.StatusNotFound || r.status == http.StatusMethodNotAllowed) {
		return nil, errNowhere
	}
	if r.status != http.StatusCreated && r.status != http.StatusOK {
		return nil, readRefusal(&tokenRequest{op: "register client", client: &Client{}}, r)
	}
	return readRegistration(t.site, r.body, redirectURI)
}

// readRegistration keeps what the server gave. The method is its choice; where it
// does not say, it is the best that it takes.
func readRegistration(s *site, body []byte, redirectURI string) (*registration, error) {
	var got struct {
		ID      string  `json:"client_id"`
		Secret  string  `json:"client_secret"`
		Method  string  `json:"token_endpoint_auth_method"`
		Expires float64 `json:"client_secret_expires_at"`
	}
	if json.Unmarshal(body, &got) != nil || !visible(got.ID) {
		return nil, fmt.Errorf("register client: %w: its answer cannot be read", ErrUnfit)
	}
	client := Client{ID: got.ID, Secret: got.Secret, Method: got.Method}
	takes := s.TokenEndpointAuthMethodsSupported
	if client.Method == "" && len(takes) > 0 && !slices.Contains(takes, MethodBasic) && !slices.Contains(takes, MethodPost) {
		client.Method = MethodNone // a secret of which no use can be made
	}
	client.settle(takes)
	switch client.Method {
	case MethodNone, MethodBasic, MethodPost:
	default:
		return nil, fmt.Errorf("register client: %w: it wants %s", ErrUnfit, clean(client.Method, 40))
	}
	r := &registration{Issuer: s.Issuer, RedirectURI: redirectURI, ID: got.ID, Method: client.Method, Expires: int64(got.Expires)}
	if client.Method != MethodNone {
		r.Secret = got.Secret
	}
	return r, nil
}

// preferredMethod asks to be a client without a secret, as programs on people's
// machines are, unless the server takes only others.
func preferredMethod(s *site) string {
	takes := s.TokenEndpointAuthMethodsSupported
	for _, method := range []string{MethodNone, MethodBasic, MethodPost} {
		if slices.Contains(takes, method) {
			return method
		}
	}
	return MethodNone
}

// applicationType tells programs on people's machines from websites.
func applicationType(redirectURI string) string {
	u, err := url.Parse(redirectURI)
	if err == nil && strings.EqualFold(u.Scheme, "https") && !isLocalhost(u.Hostname()) {
		return "web"
	}
	return "native"
}
