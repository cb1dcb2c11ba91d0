package login_test

import (
	"crypto"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
)

// object is JSON.
type object = map[string]any

// authServer is an authorization server that can be told to misbehave. Its
// fields are set before it is used.
type authServer struct {
	issuer   string
	at       string                  // path of its metadata
	edit     func(object)            // changes the metadata
	answer   func(url.Values)        // changes the redirect
	register func(ask object) object // changes the registration
	refuse   func(form url.Values, h http.Header) string
	scope    func(asked string) string // what is granted; nil: what was asked
	nonce    string                    // wanted in proofs; empty: none
	bound    bool                      // gives tokens bound to a key
	lifetime int
	refresh  bool

	mu sync.Mutex
	given
}

// given is what an authorization server remembers.
type given struct {
	count    int
	codes    map[string]url.Values // authorization requests by code
	tokens   map[string]*grant
	refreshs map[string]*grant
	mistakes []string
}

type grant struct{ scope, resource, key, client string }

func newAuthServer(issuer string) *authServer {
	return &authServer{
		issuer: issuer, at: "/.well-known/oauth-authorization-server", lifetime: 3600,
		given: given{codes: make(map[string]url.Values), tokens: make(map[string]*grant), refreshs: make(map[string]*grant)},
	}
}

func (s *authServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, _ := url.Parse(s.issuer)
	switch r.URL.Path {
	case s.at:
		writeJSON(w, http.StatusOK, s.metadata())
	case at.Path + "/authorize":
		s.authorize(w, r)
	case at.Path + "/register":
		s.registration(w, r)
	case at.Path + "/token":
		s.token(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (s *authServer) metadata() object {
	m := object{
		"issuer":                                         s.issuer,
		"authorization_endpoint":                         s.issuer + "/authorize",
		"token_endpoint":                                 s.issuer + "/token",
		"registration_endpoint":                          s.issuer + "/register",
		"response_types_supported":                       []string{"code"},
		"code_challenge_methods_supported":               []string{"S256"},
		"token_endpoint_auth_methods_supported":          []string{"none"},
		"authorization_response_iss_parameter_supported": true,
	}
	if s.bound {
		m["dpop_signing_alg_values_supported"] = []string{"ES256"}
	}
	if s.edit != nil {
		s.edit(m)
	}
	return m
}

func (s *authServer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s.count++
	code := fmt.Sprintf("code-%d", s.count)
	s.codes[code] = q
	back := url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {s.issuer}}
	if s.answer != nil {
		s.answer(back)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (s *authServer) registration(w http.ResponseWriter, r *http.Request) {
	var ask object
	if err := json.UnmarshalRead(r.Body, &ask); err != nil {
		s.mistakes = append(s.mistakes, "registration: "+err.Error())
	}
	s.count++
	got := maps.Clone(ask)
	got["client_id"] = fmt.Sprintf("client-%d", s.count)
	if s.register != nil {
		got = s.register(got)
	}
	writeJSON(w, http.StatusCreated, got)
}

func (s *authServer) token(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	form := r.PostForm
	key, err := checkProof(r, s.issuer+"/token", "")
	switch {
	case s.bound && err != nil:
		s.mistakes = append(s.mistakes, "token: "+err.Error())
		writeJSON(w, http.StatusBadRequest, object{"error": "invalid_dpop_proof"})
		return
	case s.nonce != "" && proofClaims(r)["nonce"] != s.nonce:
		w.Header().Set("DPoP-Nonce", s.nonce)
		writeJSON(w, http.StatusBadRequest, object{"error": "use_dpop_nonce"})
		return
	}
	if s.refuse != nil {
		if code := s.refuse(form, r.Header); code != "" {
			writeJSON(w, http.StatusBadRequest, object{"error": code, "error_description": "because of " + form.Encode()})
			return
		}
	}
	g, problem := s.grant(form)
	if problem != "" {
		s.mistakes = append(s.mistakes, problem)
		writeJSON(w, http.StatusBadRequest, object{"error": "invalid_grant"})
		return
	}
	g.key = key
	s.give(w, g)
}

// grant checks what a token is asked for with.
func (s *authServer) grant(form url.Values) (*grant, string) {
	switch form.Get("grant_type") {
	case "authorization_code":
		q, ok := s.codes[form.Get("code")]
		delete(s.codes, form.Get("code"))
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		switch {
		case !ok:
			return nil, "an unknown code"
		case q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]):
			return nil, "PKCE"
		case q.Get("redirect_uri") != form.Get("redirect_uri"):
			return nil, "the redirect URI changed"
		case q.Get("resource") != form.Get("resource") || q.Get("resource") == "":
			return nil, "the resource changed"
		}
		return &grant{scope: q.Get("scope"), resource: q.Get("resource"), client: q.Get("client_id")}, ""
	case "refresh_token":
		g := s.refreshs[form.Get("refresh_token")]
		delete(s.refreshs, form.Get("refresh_token"))
		if g == nil {
			return nil, "an unknown refresh token"
		}
		again := *g
		return &again, ""
	default:
		return &grant{scope: form.Get("scope"), resource: form.Get("resource")}, ""
	}
}

func (s *authServer) give(w http.ResponseWriter, g *grant) {
	if s.scope != nil {
		g.scope = s.scope(g.scope)
	}
	s.count++
	token := fmt.Sprintf("token-%d", s.count)
	s.tokens[token] = g
	body := object{"access_token": token, "token_type": "Bearer", "expires_in": s.lifetime}
	if g.scope != "" {
		body["scope"] = g.scope
	}
	if s.bound {
		body["token_type"] = "DPoP"
	}
	if s.refresh {
		refresh := fmt.Sprintf("refresh-%d", s.count)
		s.refreshs[refresh] = g
		body["refresh_token"] = refresh
	}
	writeJSON(w, http.StatusOK, body)
}

// revoke makes all tokens worthless.
func (s *authServer) revoke(refresh bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
	if refresh {
		clear(s.refreshs)
	}
}

func (s *authServer) know(token string) *grant {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens[token]
}

// resourceServer is an MCP server, as far as it asks who is calling.
type resourceServer struct {
	url     string
	trusts  []*authServer
	docAt   string // path of its document; empty: none
	doc     object
	hidden  bool                       // challenges do not say where the document is
	scheme  string                     // of challenges
	scope   string                     // in challenges of status 401
	needs   func(method string) string // scopes, for challenges of status 403
	nonce   string                     // wanted in proofs; empty: none
	headers http.Header                // of the last refusal, instead of its own
	extra   http.Handler               // for other paths

	mu       sync.Mutex
	mistakes []string
	proofs   map[string]bool // ids of proofs that were seen
}

func newResourceServer(address string, trusts ...*authServer) *resourceServer {
	s := &resourceServer{
		url: address, trusts: trusts, docAt: "/.well-known/oauth-protected-resource/mcp",
		scheme: "Bearer", proofs: make(map[string]bool),
	}
	issuers := []string{}
	for _, t := range trusts {
		issuers = append(issuers, t.issuer)
	}
	s.doc = object{"resource": address, "authorization_servers": issuers}
	return s
}

// trust changes the authorization server.
func (s *resourceServer) trust(t *authServer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trusts, s.doc["authorization_servers"] = []*authServer{t}, []string{t.issuer}
}

func (s *resourceServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, _ := url.Parse(s.url)
	switch {
	case s.docAt != "" && r.URL.Path == s.docAt:
		writeJSON(w, http.StatusOK, s.doc)
	case r.URL.Path == at.Path && r.Method == http.MethodPost:
		s.answer(w, r)
	case s.extra != nil:
		s.extra.ServeHTTP(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (s *resourceServer) answer(w http.ResponseWriter, r *http.Request) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	var g *grant
	for _, t := range s.trusts {
		if found := t.know(token); found != nil {
			g = found
		}
	}
	if token == "" || g == nil {
		s.challenge(w, http.StatusUnauthorized, map[string]string{"scope": s.scope})
		return
	}
	if scheme != s.scheme || s.scheme == "DPoP" && !s.proven(w, r, g, token) {
		if scheme != s.scheme {
			s.mistakes = append(s.mistakes, "scheme "+scheme)
			s.challenge(w, http.StatusUnauthorized, nil)
		}
		return
	}
	if g.resource != s.doc["resource"] {
		s.mistakes = append(s.mistakes, "a token for "+g.resource)
	}
	body := make([]byte, 64)
	n, _ := r.Body.Read(body)
	if s.needs != nil {
		need := s.needs(string(body[:n]))
		for scope := range strings.FieldsSeq(need) {
			if !slices.Contains(strings.Fields(g.scope), scope) {
				s.challenge(w, http.StatusForbidden, map[string]string{"error": "insufficient_scope", "scope": need})
				return
			}
		}
	}
	w.WriteHeader(http.StatusOK)
}

// proven checks the proof of a request, or answers it.
func (s *resourceServer) proven(w http.ResponseWriter, r *http.Request, g *grant, token string) bool {
	key, err := checkProof(r, s.url, token)
	claims := proofClaims(r)
	id, _ := claims["jti"].(string)
	switch {
	case err != nil || key != g.key || s.proofs[id]:
		s.mistakes = append(s.mistakes, fmt.Sprintf("proof: %v, key %s of %s, seen %v", err, key, g.key, s.proofs[id]))
		s.challenge(w, http.StatusUnauthorized, map[string]string{"error": "invalid_dpop_proof"})
		return false
	case s.nonce != "" && claims["nonce"] != s.nonce:
		s.proofs[id] = true
		w.Header().Set("DPoP-Nonce", s.nonce)
		s.challenge(w, http.StatusUnauthorized, map[string]string{"error": "use_dpop_nonce"})
		return false
	}
	s.proofs[id] = true
	return true
}

func (s *resourceServer) challenge(w http.ResponseWriter, status int, params map[string]string) {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if params[name] != "" {
			parts = append(parts, fmt.Sprintf("%s=%q", name, params[name]))
		}
	}
	if s.docAt != "" && !s.hidden {
		at, _ := url.Parse(s.url)
		at.Path = s.docAt
		parts = append(parts, fmt.Sprintf("resource_metadata=%q", at.String()))
	}
	w.Header().Set("WWW-Authenticate", strings.TrimSpace(s.scheme+" "+strings.Join(parts, ", ")))
	maps.Copy(w.Header(), s.headers)
	w.WriteHeader(status)
}

// checkProof verifies the proof of a request, and returns the print of its key.
func checkProof(r *http.Request, to, token string) (string, error) {
	signed, err := jose.ParseSigned(r.Header.Get("DPoP"), []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		return "", err
	}
	head := signed.Signatures[0].Protected
	if head.JSONWebKey == nil || !head.JSONWebKey.IsPublic() || head.ExtraHeaders["typ"] != "dpop+jwt" {
		return "", fmt.Errorf("bad header")
	}
	if _, err := signed.Verify(head.JSONWebKey); err != nil {
		return "", err
	}
	claims := proofClaims(r)
	if claims["htm"] != r.Method || claims["htu"] != to || claims["jti"] == "" || claims["iat"] == nil {
		return "", fmt.Errorf("bad claims %v", claims)
	}
	if token != "" {
		sum := sha256.Sum256([]byte(token))
		if claims["ath"] != base64.RawURLEncoding.EncodeToString(sum[:]) {
			return "", fmt.Errorf("bad hash of the token")
		}
	}
	sum, err := head.JSONWebKey.Thumbprint(crypto.SHA256)
	return base64.RawURLEncoding.EncodeToString(sum), err
}

func proofClaims(r *http.Request) object { return claimsOf(r.Header.Get("DPoP")) }

// claimsOf reads a JWT without checking it.
func claimsOf(token string) object {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil
	}
	text, _ := base64.RawURLEncoding.DecodeString(parts[1])
	var claims object
	_ = json.Unmarshal(text, &claims)
	return claims
}
