package login

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"net/url"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Workload is the grant for programs that a platform vouches for: it signs a
// statement about them, which the authorization server takes for a token, without
// any secret. A statement that was refused is not sent again, and nothing else is
// tried.
type Workload struct {
	// Issuer is the authorization server that the statements are for. Empty: any
	// that the MCP server names, if the statement's audience has its issuer or
	// token endpoint.
	Issuer string
	// ClientID is sent along. Empty: it is not.
	ClientID string
	// Statement returns a JWT that is valid at the issuer. It is called for each
	// token.
	Statement func(ctx context.Context, issuer string) (string, error)

	mu      sync.Mutex
	refused [sha256.Size]byte // hash of the statement
	why     error             // nil: none was
}

func (w *Workload) credentials() (issuer, id string) { return w.Issuer, "" }
func (w *Workload) open(g *guard)                    { g.name(w.Issuer) }
func (w *Workload) name() string                     { return "workload " + w.ClientID }
func (w *Workload) client() *Client                  { return &Client{ID: w.ClientID, Method: MethodNone} }
func (w *Workload) identity(r *record) *Client       { return identify(w.client(), r) }

func (w *Workload) obtain(ctx context.Context, t *trip) (*tokenAnswer, *Client, error) {
	if w.Statement == nil {
		return nil, nil, errors.New("log in as a workload: no statement is given")
	}
	statement, err := w.Statement(ctx, t.site.Issuer)
	if err != nil {
		return nil, nil, fmt.Errorf("log in as a workload: %w", err)
	}
	if w.Issuer == "" && !meantFor(statement, t.site) {
		return nil, nil, fmt.Errorf("log in as a workload: %w: the statement is not for %s", ErrIssuer, plain(t.site.Issuer))
	}
	sum := sha256.Sum256([]byte(t.site.Issuer + " " + statement))
	w.mu.Lock()
	why, same := w.why, w.refused == sum
	w.mu.Unlock()
	if why != nil && same {
		return nil, nil, why
	}
	answer, client, err := t.request(ctx, w.client(), jwtBearer, url.Values{"assertion": {statement}})
	if isRefusal(err) {
		w.mu.Lock()
		w.refused, w.why = sum, err
		w.mu.Unlock()
	}
	return answer, client, err
}

// meantFor reports whether a statement names an authorization server as its
// audience. The signature is for the server to check.
func meantFor(statement string, s *site) bool {
	parts := strings.Split(statement, ".")
	if len(parts) != 3 {
		return false
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return false
	}
	var claims struct {
		Audience jsontext.Value `json:"aud"`
	}
	if json.Unmarshal(text, &claims) != nil {
		return false
	}
	var one string
	var many []string
	if json.Unmarshal(claims.Audience, &one) == nil {
		many = []string{one}
	} else if json.Unmarshal(claims.Audience, &many) != nil {
		return false
	}
	return slices.Contains(many, s.Issuer) || slices.Contains(many, s.TokenEndpoint)
}
