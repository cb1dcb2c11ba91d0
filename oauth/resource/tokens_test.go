package resource_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bossman-mcp/bossman/oauth/resource"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

func TestAGoodTokenEnters(t *testing.T) {
	t.Parallel()
	for name, changes := range map[string]map[string]any{
		"a plain one":                        nil,
		"an audience among others":           {"aud": []string{"https://other.example", audience}},
		"a host in upper case":               {"aud": "HTTPS://MCP.Example.COM/mcp"},
		"ended a moment ago":                 {"exp": -20 * time.Second},
		"begins in a moment":                 {"nbf": 20 * time.Second},
		"times with fractions":               {"exp": float64(time.Now().Unix()) + 60.5},
		"an end beyond what a clock can say": {"exp": 1e300},
		"claims that nobody knows":           {"groups": []string{"a"}, "azp": "client"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newIssuer()
			w := askBearer(resource.Require(inside(t), nil, s.tokens(t, nil)), s.token(changes))
			if w.Code != http.StatusOK || w.Body.String() != issuerURL+"#alice" {
				t.Errorf("got %d %s", w.Code, w.Body)
			}
		})
	}
}

func TestScopesAreReadInAllForms(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		changes map[string]any
		want    []string
	}{
		"one string":       {map[string]any{"scope": "a b  c"}, []string{"a", "b", "c"}},
		"a list":           {map[string]any{"scope": nil, "scp": []string{"a", "b"}}, []string{"a", "b"}},
		"a string in scp":  {map[string]any{"scope": nil, "scp": "a b"}, []string{"a", "b"}},
		"both, joined":     {map[string]any{"scope": "a b", "scp": []string{"b", "c"}}, []string{"a", "b", "c"}},
		"null":             {map[string]any{"scope": (*string)(nil)}, nil},
		"none":             {map[string]any{"scope": nil}, nil},
		"none in a string": {map[string]any{"scope": " "}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newIssuer()
			p, err := s.tokens(t, nil).Verify(t.Context(), resource.Credential{Header: "Authorization", Secret: s.token(c.changes)})
			if err != nil || !slices.Equal(p.Scopes, c.want) {
				t.Errorf("got %v, %v, want %q", p, err, c.want)
			}
		})
	}
}

func TestR052TokensOutsideTheirTime(t *testing.T) {
	t.Parallel()
	for name, changes := range map[string]map[string]any{
		"expired":                         {"exp": -time.Minute},
		"not yet valid":                   {"nbf": time.Minute},
		"made in the future":              {"iat": time.Minute},
		"without an end":                  {"exp": nil},
		"with an end that is text":        {"exp": "2999"},
		"with an end before all time":     {"exp": -1e300},
		"with a beginning after all time": {"nbf": 1e300},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newIssuer()
			wantInvalidToken(t, askBearer(resource.Require(inside(t), &resource.Options{Logger: quiet()}, s.tokens(t, nil)), s.token(changes)))
		})
	}
}

func TestR054TokensForOthers(t *testing.T) {
	t.Parallel()
	for name, changes := range map[string]map[string]any{
		"another resource of the same issuer": {"aud": "https://mcp.example.com/other"},
		"the origin":                          {"aud": "https://mcp.example.com"},
		"a slash more":                        {"aud": audience + "/"},
		"a path in another case":              {"aud": "https://mcp.example.com/MCP"},
		"a longer path":                       {"aud": audience + "/more"},
		"a list without us":                   {"aud": []string{"https://other.example", "https://mcp.example.com/other"}},
		"an empty list":                       {"aud": []string{}},
		"no audience":                         {"aud": nil},
		"a null audience":                     {"aud": (*string)(nil)},
		"an empty audience":                   {"aud": ""},
		"an audience of another type":         {"aud": map[string]any{"x": audience}},
		"a list with another type":            {"aud": []any{audience, 1}},
		"another issuer":                      {"iss": "https://other.example"},
		"the issuer with a slash":             {"iss": issuerURL + "/"},
		"no issuer":                           {"iss": nil},
		"no subject":                          {"sub": nil},
		"an empty subject":                    {"sub": ""},
		"bound to a key of the sender":        {"cnf": map[string]any{"jkt": "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newIssuer()
			wantInvalidToken(t, askBearer(resource.Require(inside(t), &resource.Options{Logger: quiet()}, s.tokens(t, nil)), s.token(changes)))
		})
	}
}

func TestR053ForgedTokens(t *testing.T) {
	t.Parallel()
	s := newIssuer()
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	weakKey, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	s.extra = []jose.JSONWebKey{
		{Key: rsaKey.Public(), KeyID: "rsa", Use: "sig"},
		{Key: weakKey.Public(), KeyID: "weak", Use: "sig"},
		{Key: s.secret.Public(), KeyID: "enc", Use: "enc"},
		{Key: []byte("a shared secret of the issuer's own"), KeyID: "oct"},
	}
	der, err := x509.MarshalPKIXPublicKey(rsaKey.Public())
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	good := s.token(nil)
	other := &issuer{secret: ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))}
	cut := strings.Split(good, ".")
	own := jose.JSONWebKey{Key: other.secret.Public(), KeyID: "k1"}

	for name, token := range map[string]string{
		"another key's signature":                  other.token(nil),
		"a bit of the signature changed":           flip(good, len(good)-10),
		"a bit of the claims changed":              cut[0] + "." + part(claims(map[string]any{"sub": "bob"})) + "." + cut[2],
		"no signature":                             cut[0] + "." + cut[1] + ".",
		"alg none":                                 part(header(map[string]any{"alg": "none"})) + "." + cut[1] + ".",
		"alg none in other case, with a signature": part(header(map[string]any{"alg": "NoNe"})) + "." + cut[1] + "." + cut[2],
		"no alg":                             s.sign(header(map[string]any{"alg": nil}), claims(nil)),
		"HS256 with the public key as PEM":   hs256("rsa", public),
		"HS256 with the public key as DER":   hs256("rsa", der),
		"HS256 with the modulus":             hs256("rsa", rsaKey.N.Bytes()),
		"HS256 with the Ed25519 public key":  hs256("k1", s.secret.Public().(ed25519.PublicKey)),
		"HS256 with a secret in the key set": hs256("oct", []byte("a shared secret of the issuer's own")),
		"RS256 for a key that is not RSA":    s.sign(header(map[string]any{"alg": "RS256"}), claims(nil)),
		"a short RSA key":                    rs256(weakKey, "weak"),
		"a key for encryption":               s.sign(header(map[string]any{"kid": "enc"}), claims(nil)),
		"unknown kid":                        s.sign(header(map[string]any{"kid": "k2"}), claims(nil)),
		"no kid":                             s.sign(header(map[string]any{"kid": nil}), claims(nil)),
		"a kid of another type":              s.sign(header(map[string]any{"kid": 1}), claims(nil)),
		"a kid with a path":                  s.sign(header(map[string]any{"kid": "../../../../dev/null"}), claims(nil)),
		"a kid with a URL":                   s.sign(header(map[string]any{"kid": "https://evil.example/k1"}), claims(nil)),
		"a kid with a query":                 s.sign(header(map[string]any{"kid": "k1' OR '1'='1"}), claims(nil)),
		"jku, though well signed":            s.sign(header(map[string]any{"jku": "https://evil.example/keys"}), claims(nil)),
		"x5u, though well signed":            s.sign(header(map[string]any{"x5u": "https://evil.example/cert"}), claims(nil)),
		"jku, signed by its owner":           other.sign(header(map[string]any{"jku": "https://evil.example/keys"}), claims(nil)),
		"its own key":                        other.sign(header(map[string]any{"jwk": own}), claims(nil)),
		"a critical extension":               s.sign(header(map[string]any{"crit": []string{"b64"}, "b64": true}), claims(nil)),
		"a proof instead of a token":         s.sign(header(map[string]any{"typ": "dpop+jwt"}), claims(nil)),
		"a name twice in the header":         s.sign(`{"alg":"EdDSA","alg":"none","kid":"k1"}`, claims(nil)),
		"a name twice in the claims":         s.sign(header(nil), `{"iss":"`+issuerURL+`","sub":"a","sub":"b","aud":"`+audience+`","exp":1e12}`),
		"claims that are no object":          s.sign(header(nil), `null`),
		"a header that is no object":         s.sign(`null`, claims(nil)),
		"cut in the claims":                  good[:len(cut[0])+20],
		"cut in the signature":               good[:len(good)-20],
		"cut to one part":                    cut[0],
		"a part more":                        good + ".e30",
		"five parts":                         "e30.e30.e30.e30.e30",
		"only dots":                          "..",
		"padding":                            good + "=",
		"standard base64":                    "+/+/.+/+/.+/+/",
		"64 KiB":                             good + strings.Repeat("A", 64<<10),
		"64 KiB of claims, well signed":      s.token(map[string]any{"pad": strings.Repeat("A", 64<<10)}),
		"JSON instead of compact":            `{"payload":"e30","signatures":[]}`,
		"made up":                            "hunter2",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			guard := resource.Require(inside(t), &resource.Options{Logger: quiet()}, s.tokens(t, nil))
			wantInvalidToken(t, askBearer(guard, token))
			for _, url := range s.requests() {
				if url != keysURL {
					t.Errorf("%s was fetched", url)
				}
			}
			if w := askBearer(guard, good); w.Code != http.StatusOK {
				t.Errorf("the good token: %d %s", w.Code, w.Body)
			}
		})
	}
}

func flip(token string, at int) string {
	c := byte('A')
	if token[at] == c {
		c = 'B'
	}
	return token[:at] + string(c) + token[at+1:]
}

func hs256(kid string, secret []byte) string {
	input := part(header(map[string]any{"alg": "HS256", "kid": kid})) + "." + part(claims(nil))
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(input))
	return input + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func rs256(key *rsa.PrivateKey, kid string) string {
	input := part(header(map[string]any{"alg": "RS256", "kid": kid})) + "." + part(claims(nil))
	sum := sha256.Sum256([]byte(input))
	sig, err := rsa.SignPKCS1v15(nil, key, crypto.SHA256, sum[:])
	if err != nil {
		panic(err)
	}
	return input + "." + base64.RawURLEncoding.EncodeToString(sig)
}

func TestEveryAsymmetricAlgorithmIsTakenWithItsOwnKind(t *testing.T) {
	t.Parallel()
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	secrets := map[string]crypto.Signer{"RS": rsaKey, "PS": rsaKey, "Ed": newIssuer().secret}
	for name, curve := range map[string]elliptic.Curve{"ES256": elliptic.P256(), "ES384": elliptic.P384(), "ES512": elliptic.P521()} {
		if secrets[name], err = ecdsa.GenerateKey(curve, rand.Reader); err != nil {
			t.Fatal(err)
		}
	}
	for _, alg := range []jose.SignatureAlgorithm{
		"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
	} {
		t.Run(string(alg), func(t *testing.T) {
			t.Parallel()
			secret := secrets[string(alg)]
			if secret == nil {
				secret = secrets[string(alg[:2])]
			}
			s := newIssuer()
			s.extra = []jose.JSONWebKey{{Key: secret.Public(), KeyID: "key"}}
			signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: jose.JSONWebKey{Key: secret, KeyID: "key"}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			token, err := jwt.Signed(signer).Claims(claims(nil)).Serialize()
			if err != nil {
				t.Fatal(err)
			}
			c := resource.Credential{Header: "Authorization", Secret: token}
			if p, err := s.tokens(t, nil).Verify(t.Context(), c); err != nil || p.Name != issuerURL+"#alice" {
				t.Errorf("got %v, %v", p, err)
			}
			if _, err := s.tokens(t, &resource.JWTOptions{Algorithms: []string{"PS256", "ES256"}}).Verify(t.Context(), c); (err == nil) != (alg == "PS256" || alg == "ES256") {
				t.Errorf("with only PS256 and ES256 allowed: %v", err)
			}
		})
	}
}

func TestTokensAreTakenInAuthorizationOnly(t *testing.T) {
	t.Parallel()
	s := newIssuer()
	guard := resource.Require(inside(t), &resource.Options{Logger: quiet()}, s.tokens(t, nil))
	if w := ask(guard, "X-Api-Token", s.token(nil)); w.Code != http.StatusUnauthorized {
		t.Errorf("in another header: %d", w.Code)
	}
}

func TestJWTRefusesBadConfigurations(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		issuer, keys, audience string
		opts                   *resource.JWTOptions
	}{
		"an issuer over plain http":    {"http://auth.example.com", keysURL, audience, nil},
		"an issuer with a query":       {issuerURL + "?x", keysURL, audience, nil},
		"an issuer with a fragment":    {issuerURL + "#x", keysURL, audience, nil},
		"keys over plain http":         {issuerURL, "http://auth.example.com/keys", audience, nil},
		"keys in a file":               {issuerURL, "file:///keys", audience, nil},
		"no keys":                      {issuerURL, "", audience, nil},
		"no audience":                  {issuerURL, keysURL, "", nil},
		"an empty audience among more": {issuerURL, keysURL, audience, &resource.JWTOptions{Audiences: []string{""}}},
		"HS256":                        {issuerURL, keysURL, audience, &resource.JWTOptions{Algorithms: []string{"RS256", "HS256"}}},
		"none":                         {issuerURL, keysURL, audience, &resource.JWTOptions{Algorithms: []string{"none"}}},
	} {
		if v, err := resource.JWT(c.issuer, c.keys, c.audience, c.opts); err == nil {
			t.Errorf("%s: %v", name, v)
		}
	}
	if _, err := resource.JWT("http://localhost:9000/t", "http://127.0.0.1:9000/keys", "api", nil); err != nil {
		t.Errorf("plain http on this machine: %v", err)
	}
}

func TestATokenEndsWhileItIsInUse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newIssuer()
		guard := resource.Require(inside(t), &resource.Options{Logger: quiet()}, s.tokens(t, &resource.JWTOptions{Leeway: time.Second}))
		token := s.token(nil)
		time.Sleep(600 * time.Second)
		if w := askBearer(guard, token); w.Code != http.StatusOK {
			t.Fatalf("within the leeway: %d", w.Code)
		}
		time.Sleep(time.Second)
		for range 100 { // many more than MaxFailures: the end of a token is no guess
			wantInvalidToken(t, askBearer(guard, token))
		}
		if w := askBearer(guard, s.token(nil)); w.Code != http.StatusOK {
			t.Fatalf("the next token: %d", w.Code)
		}
	})
}
