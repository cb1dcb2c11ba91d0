package login_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/oauth/login"
	"github.com/go-jose/go-jose/v4"
)

const idpURL = "https://idp.example.com"

func TestPrograms(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	playAll(t, []scenario{
		{"auth/client-credentials-jwt", func(w *world) {
			der, _ := x509.MarshalPKCS8PrivateKey(key)
			parsed, err := login.ParseKey(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
			if err != nil {
				w.t.Fatal(err)
			}
			w.grant = &login.ClientCredentials{Client: login.Client{ID: "robot", Key: parsed, KeyID: "k1"}}
			w.server.scope = "mcp:basic"
			w.mustCall("tools/list")
			w.mustCall("tools/call")
			c := w.only(http.MethodPost, asURL+"/token")
			w.wantEqual("grant", c.form.Get("grant_type"), "client_credentials")
			w.wantEqual("type", c.form.Get("client_assertion_type"), "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
			w.wantEqual("resource", c.form.Get("resource"), mcpURL)
			w.wantEqual("scope", c.form.Get("scope"), "mcp:basic")
			w.wantEqual("client id in the body", c.form.Has("client_id"), false)
			checkStatement(w, c.form.Get("client_assertion"), key)
		}},
		{"auth/client-credentials-basic", func(w *world) {
			w.grant = &login.ClientCredentials{Client: login.Client{ID: "conformance-test-client", Secret: "conformance-test-secret"}}
			w.auth.edit = func(m object) { m["token_endpoint_auth_methods_supported"] = []string{login.MethodBasic} }
			w.mustCall("tools/list")
			c := w.only(http.MethodPost, asURL+"/token")
			raw := base64.StdEncoding.EncodeToString([]byte("conformance-test-client:conformance-test-secret"))
			w.wantEqual("header", c.header.Get("Authorization"), "Basic "+raw)
			w.never(http.MethodPost, asURL+"/register")
		}},
		{"client credentials, where the secret goes into the body", func(w *world) {
			w.grant = &login.ClientCredentials{Client: login.Client{Issuer: asURL, ID: "robot", Secret: "s"}}
			w.auth.edit = func(m object) { m["token_endpoint_auth_methods_supported"] = []string{login.MethodPost} }
			w.mustCall("tools/list")
			w.wantEqual("secret", w.only(http.MethodPost, asURL+"/token").form.Get("client_secret"), "s")
		}},
		{"auth/enterprise-managed-authorization", func(w *world) {
			idp := enterprise(w, func(form url.Values) object {
				return object{"access_token": "id-jag." + form.Get("resource"), "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag", "token_type": "N_A"}
			})
			w.grant.(*login.Enterprise).TokenEndpoint = idp + "/token"
			w.server.scope = "mcp:basic"
			w.mustCall("tools/list")
			w.mustCall("tools/call")
			c := w.only(http.MethodPost, idpURL+"/token")
			for name, want := range map[string]string{
				"grant_type":           "urn:ietf:params:oauth:grant-type:token-exchange",
				"requested_token_type": "urn:ietf:params:oauth:token-type:id-jag",
				"subject_token_type":   "urn:ietf:params:oauth:token-type:id_token",
				"subject_token":        "id-token", "audience": asURL, "resource": mcpURL, "scope": "mcp:basic", "client_id": "at-idp",
			} {
				w.wantEqual(name, c.form.Get(name), want)
			}
			c = w.only(http.MethodPost, asURL+"/token")
			w.wantEqual("grant", c.form.Get("grant_type"), "urn:ietf:params:oauth:grant-type:jwt-bearer")
			w.wantEqual("assertion", c.form.Get("assertion"), "id-jag."+mcpURL)
			w.wantEqual("header", c.header.Get("Authorization"), "Basic "+base64.StdEncoding.EncodeToString([]byte("robot:s%2Fs")))
		}},
		{"an identity provider can be found by its issuer", func(w *world) {
			enterprise(w, func(url.Values) object {
				return object{"access_token": "x", "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag"}
			})
			w.mustCall("tools/list")
		}},
		{"an identity provider that gives something else is not believed", func(w *world) {
			enterprise(w, func(url.Values) object { return object{"access_token": "x", "token_type": "Bearer"} })
			w.mustFail("tools/list", login.ErrUnfit)
			w.never(http.MethodPost, asURL+"/token")
		}},
		{"auth/wif-jwt-bearer", func(w *world) {
			w.grant = &login.Workload{ClientID: "workload", Statement: handed(statement(asURL))}
			w.mustCall("tools/list")
			w.mustCall("tools/call")
			c := w.only(http.MethodPost, asURL+"/token")
			w.wantEqual("grant", c.form.Get("grant_type"), "urn:ietf:params:oauth:grant-type:jwt-bearer")
			w.wantEqual("assertion", c.form.Get("assertion"), statement(asURL))
			w.wantEqual("header", c.header.Get("Authorization"), "")
			w.wantEqual("secret", c.form.Has("client_secret"), false)
		}},
		{"auth/wif-jwt-bearer: a refused statement is not sent again, and nothing else is tried", func(w *world) {
			w.auth.refuse = func(url.Values, http.Header) string { return "invalid_grant" }
			w.grant = &login.Workload{Statement: handed(statement(asURL))}
			for range 3 {
				_, err := w.call("tools/list")
				var refusal *login.ServerError
				if !errors.As(err, &refusal) || refusal.Code != "invalid_grant" {
					w.t.Errorf("%v", err)
				}
			}
			w.only(http.MethodPost, asURL+"/token")
			w.never(http.MethodGet, asURL+"/authorize")
		}},
		{"a statement for another audience is not shown", func(w *world) {
			w.grant = &login.Workload{Statement: handed(statement("https://wrong.example"))}
			w.mustFail("tools/list", login.ErrIssuer)
			w.never(http.MethodPost, asURL+"/token")
		}},
		{"a statement with an audience of its own kind needs an issuer", func(w *world) {
			w.grant = &login.Workload{Issuer: asURL, Statement: handed(statement("api://exchange"))}
			w.mustCall("tools/list")
		}},
	})
}

func handed(text string) func(context.Context, string) (string, error) {
	return func(context.Context, string) (string, error) { return text, nil }
}

// statement is a JWT for an audience, as far as anybody reads it here.
func statement(audience string) string {
	return "e30." + base64.RawURLEncoding.EncodeToString([]byte(`{"aud":["x","`+audience+`"]}`)) + ".AA"
}

// enterprise sets up an identity provider and a program that uses it.
func enterprise(w *world, answer func(url.Values) object) string {
	w.hosts["idp.example.com"] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/.well-known/openid-configuration" {
			writeJSON(rw, http.StatusOK, object{"issuer": idpURL, "token_endpoint": idpURL + "/token"})
			return
		}
		if r.URL.Path != "/token" {
			http.NotFound(rw, r)
			return
		}
		_ = r.ParseForm()
		writeJSON(rw, http.StatusOK, answer(r.PostForm))
	})
	w.auth.edit = func(m object) { m["token_endpoint_auth_methods_supported"] = []string{login.MethodBasic} }
	w.grant = &login.Enterprise{
		Client:         login.Client{ID: "robot", Secret: "s/s"},
		ProviderClient: login.Client{Issuer: idpURL, ID: "at-idp"},
		Subject:        func(context.Context) (string, error) { return "id-token", nil },
	}
	return idpURL
}

func checkStatement(w *world, text string, key *ecdsa.PrivateKey) {
	signed, err := jose.ParseSigned(text, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := signed.Verify(key.Public()); err != nil {
		w.t.Error(err)
	}
	claims := claimsOf(text)
	w.wantEqual("kid", signed.Signatures[0].Header.KeyID, "k1")
	w.wantEqual("iss", claims["iss"], "robot")
	w.wantEqual("sub", claims["sub"], "robot")
	w.wantEqual("aud", claims["aud"], asURL)
	now := float64(time.Now().Unix())
	if exp, _ := claims["exp"].(float64); exp < now || exp > now+600 || claims["jti"] == "" {
		w.t.Errorf("claims %v", claims)
	}
}

func TestKeys(t *testing.T) {
	p384, _ := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	_, ed, _ := ed25519.GenerateKey(rand.Reader)
	rsa2048, _ := rsa.GenerateKey(rand.Reader, 2048)
	for name, key := range map[string]any{"ES384": p384, "EdDSA": ed, "RS256": rsa2048} {
		t.Run(name, func(t *testing.T) {
			der, err := x509.MarshalPKCS8PrivateKey(key)
			if err != nil {
				t.Fatal(err)
			}
			signer, err := login.ParseKey(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
			if err != nil {
				t.Fatal(err)
			}
			w := newWorld(t)
			w.grant = &login.ClientCredentials{Client: login.Client{Issuer: asURL, ID: "robot", Key: signer}}
			w.mustCall("tools/list")
			signed, err := jose.ParseSigned(w.only(http.MethodPost, asURL+"/token").form.Get("client_assertion"), []jose.SignatureAlgorithm{jose.SignatureAlgorithm(name)})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := signed.Verify(signer.Public()); err != nil {
				t.Error(err)
			}
		})
	}
	for _, text := range []string{"", "canary", "-----BEGIN PRIVATE KEY-----\ncanary\n-----END PRIVATE KEY-----", "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n"} {
		if _, err := login.ParseKey([]byte(text)); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestBoundTokens(t *testing.T) {
	dpop := func(w *world) {
		w.auth.bound, w.server.scheme = true, "DPoP"
	}
	playAll(t, []scenario{
		{"auth/dpop", func(w *world) {
			dpop(w)
			w.complete()
			q := w.asked(asURL)[0]
			w.wantEqual("the code is bound too", q.Get("dpop_jkt"), w.auth.tokens["token-3"].key)
			for _, c := range w.find(http.MethodPost, mcpURL) {
				if strings.HasPrefix(c.header.Get("Authorization"), "Bearer") {
					w.t.Error("a bearer token was sent")
				}
			}
		}},
		{"auth/dpop-nonce", func(w *world) {
			dpop(w)
			w.auth.nonce, w.server.nonce = "nonce-of-as", "nonce-of-server"
			w.mustCall("tools/list")
			w.mustCall("tools/call")
			w.wantEqual("token requests", len(w.find(http.MethodPost, asURL+"/token")), 2)
			w.wantEqual("MCP requests", len(w.find(http.MethodPost, mcpURL)), 4)
			w.wantEqual("authorizations", len(w.asked(asURL)), 1)
			w.server.nonce = "next"
			w.mustCall("tools/call")
			w.wantEqual("MCP requests", len(w.find(http.MethodPost, mcpURL)), 6)
			w.wantEqual("authorizations", len(w.asked(asURL)), 1)
		}},
		{"a nonce for a proof that was not there leads to a login", func(w *world) {
			dpop(w)
			w.server.headers = http.Header{"Www-Authenticate": {`DPoP error="use_dpop_nonce"`}, "Dpop-Nonce": {"early"}}
			w.complete()
		}},
		{"a renewed token has the same key, also in a new process", func(w *world) {
			dpop(w)
			w.auth.refresh, w.opts.Store = true, login.Memory()
			w.mustCall("tools/list")
			w.auth.revoke(false)
			w.again()
			w.mustCall("tools/list")
			w.wantEqual("authorizations", len(w.asked(asURL)), 1)
			w.wantEqual("token requests", len(w.find(http.MethodPost, asURL+"/token")), 2)
		}},
		{"the server's document can insist", func(w *world) {
			dpop(w)
			w.server.doc["dpop_bound_access_tokens_required"] = true
			w.server.headers = http.Header{"Www-Authenticate": {`Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"`}}
			w.complete()
		}},
		{"the caller can insist", func(w *world) {
			dpop(w)
			w.opts.DPoP = true
			w.server.headers = http.Header{"Www-Authenticate": {`Bearer`}}
			w.complete()
		}},
		{"a token that is not bound is not sent as if it were nothing", func(w *world) {
			w.opts.DPoP = true
			w.mustFail("tools/list", login.ErrUnfit)
			w.wantEqual("MCP requests", len(w.find(http.MethodPost, mcpURL)), 1)
		}},
		{"an authorization server that cannot read our proofs is not asked", func(w *world) {
			dpop(w)
			w.auth.edit = func(m object) { m["dpop_signing_alg_values_supported"] = []string{"RS256"} }
			w.mustFail("tools/list", login.ErrUnfit)
			w.never(http.MethodGet, asURL+"/authorize")
		}},
		{"where both are taken, the bound token is chosen if it can be had", func(w *world) {
			dpop(w)
			w.server.headers = http.Header{"Www-Authenticate": {`Bearer, DPoP algs="ES256"`}}
			w.complete()
		}},
		{"where both are taken, a bearer token will do", func(w *world) {
			w.server.headers = http.Header{"Www-Authenticate": {`Bearer, DPoP algs="ES256"`}}
			w.complete()
		}},
	})
}
