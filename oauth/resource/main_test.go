package resource_test

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"encoding/base64"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/oauth/resource"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	issuerURL = "https://auth.example.com"
	keysURL   = issuerURL + "/keys"
	audience  = "https://mcp.example.com/mcp"
)

// issuer is an authorization server that is reached without a network.
type issuer struct {
	secret ed25519.PrivateKey

	mu      sync.Mutex
	answer  func(*http.Request) (*http.Response, error) // nil: the key set
	asked   []string                                    // the URLs of all requests
	extra   []jose.JSONWebKey
	blocked chan struct{} // if set, answers wait until it is closed
}

func newIssuer() *issuer {
	return &issuer{secret: ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))}
}

// RoundTrip answers every request.
func (s *issuer) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.asked = append(s.asked, r.URL.String())
	answer, blocked, keys := s.answer, s.blocked, s.extra
	s.mu.Unlock()
	if blocked != nil {
		select {
		case <-blocked:
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	if answer != nil {
		return answer(r)
	}
	set := jose.JSONWebKeySet{Keys: append(keys, jose.JSONWebKey{Key: s.secret.Public(), KeyID: "k1", Use: "sig", Algorithm: "EdDSA"})}
	text, err := set.Keys[0].MarshalJSON()
	for _, k := range set.Keys[1:] {
		more, _ := k.MarshalJSON()
		text = append(append(text, ','), more...)
	}
	return response(http.StatusOK, `{"keys":[`+string(text)+`]}`), err
}

func (s *issuer) set(answer func(*http.Request) (*http.Response, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

func (s *issuer) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.asked...)
}

func response(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

// tokens returns the verifier of s's tokens.
func (s *issuer) tokens(t testing.TB, opts *resource.JWTOptions) *resource.Tokens {
	t.Helper()
	if opts == nil {
		opts = &resource.JWTOptions{}
	}
	opts.Transport = s
	if opts.Logger == nil {
		opts.Logger = quiet()
	}
	v, err := resource.JWT(issuerURL, keysURL, audience, opts)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// claims are good ones, with changes; a nil value takes one out, and a duration
// stands for that much from now.
func claims(changes map[string]any) map[string]any {
	now := time.Now().Unix()
	c := map[string]any{
		"iss": issuerURL, "sub": "alice", "aud": audience, "iat": now, "exp": now + 600, "scope": "read write",
	}
	for name, value := range changes {
		if d, ok := value.(time.Duration); ok {
			value = now + int64(d/time.Second)
		}
		if c[name] = value; value == nil {
			delete(c, name)
		}
	}
	return c
}

func header(changes map[string]any) map[string]any {
	h := map[string]any{"alg": "EdDSA", "kid": "k1", "typ": "at+jwt"}
	for name, value := range changes {
		if h[name] = value; value == nil {
			delete(h, name)
		}
	}
	return h
}

// token signs a token as the issuer would.
func (s *issuer) token(changes map[string]any) string {
	return s.sign(header(nil), claims(changes))
}

func (s *issuer) sign(head, body any) string {
	input := part(head) + "." + part(body)
	sum, err := s.secret.Sign(nil, []byte(input), crypto.Hash(0))
	if err != nil {
		panic(err)
	}
	return input + "." + base64.RawURLEncoding.EncodeToString(sum)
}

// part writes a value as JSON, or text as it is.
func part(v any) string {
	text, ok := v.(string)
	if !ok {
		b, err := json.Marshal(v, json.Deterministic(true))
		if err != nil {
			panic(err)
		}
		text = string(b)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(text))
}

// inside is a handler that must only be reached by somebody. It writes who.
func inside(t testing.TB) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := mcp.PrincipalFrom(r.Context())
		if p == nil || p.Name == "" {
			t.Error("the handler saw a request of nobody")
			return
		}
		_, _ = io.WriteString(w, p.Name)
	})
}

// ask sends a request with headers, given as name and value by turns.
func ask(h http.Handler, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func askURL(h http.Handler, url string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, url, nil))
	return w
}

func askBearer(h http.Handler, token string) *httptest.ResponseRecorder {
	return ask(h, "Authorization", "Bearer "+token)
}

func wantInvalidToken(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	got := w.Header().Get("WWW-Authenticate")
	if w.Code != http.StatusUnauthorized || !strings.Contains(got, `error="invalid_token"`) {
		t.Errorf("got %d, %s", w.Code, got)
	}
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// logged returns a logger and what it wrote.
func logged() (*slog.Logger, *lockedBuffer) {
	var b lockedBuffer
	return slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug})), &b
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
