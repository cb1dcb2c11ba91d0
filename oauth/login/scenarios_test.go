package login_test

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bossman-mcp/bossman/oauth"
	"github.com/bossman-mcp/bossman/oauth/login"
)

// scenario plays a twist that the protocol's referee knows under this name.
type scenario struct {
	name string
	play func(w *world)
}

// playAll plays each scenario in a world and a time of its own. No server may see
// a mistake.
func playAll(t *testing.T, all []scenario) {
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				s.play(w)
				for _, m := range append(w.auth.mistakes, w.server.mistakes...) {
					t.Errorf("a server saw a mistake: %s", m)
				}
				if t.Failed() {
					t.Log("\n" + w.story())
				}
			})
		})
	}
}

// only returns the one call there is.
func (w *world) only(method, address string) call {
	w.t.Helper()
	found := w.find(method, address)
	if len(found) != 1 {
		w.t.Fatalf("%d calls of %s %s\n%s", len(found), method, address, w.story())
	}
	return found[0]
}

// asked returns the parameters of the authorization requests.
func (w *world) asked(issuer string) []url.Values {
	var all []url.Values
	for _, c := range w.find(http.MethodGet, issuer+"/authorize") {
		u, _ := url.Parse(c.url)
		all = append(all, u.Query())
	}
	return all
}

func (w *world) never(method, address string) {
	w.t.Helper()
	if n := len(w.find(method, address)); n != 0 {
		w.t.Errorf("%d calls of %s %s", n, method, address)
	}
}

func (w *world) wantEqual(what string, got, want any) {
	w.t.Helper()
	if got != want {
		w.t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// complete plays a flow that ends well, and checks what is common to all.
func (w *world) complete() {
	w.t.Helper()
	w.mustCall("tools/list")
	w.mustCall("tools/call")
	q := w.asked(w.auth.issuer)
	if len(q) != 1 {
		w.t.Fatalf("%d authorization requests", len(q))
	}
	resource := w.server.doc["resource"]
	w.wantEqual("resource at authorize", q[0].Get("resource"), resource)
	w.wantEqual("resource at token", w.only(http.MethodPost, w.auth.issuer+"/token").form.Get("resource"), resource)
	w.wantEqual("response type", q[0].Get("response_type"), "code")
}

func TestDiscovery(t *testing.T) {
	const wellKnown = "https://mcp.example.com/.well-known/oauth-protected-resource"
	playAll(t, []scenario{
		{"auth/metadata-default: the document that the challenge names, and no other", func(w *world) {
			w.complete()
			w.never(http.MethodGet, wellKnown)
			w.wantEqual("version header", w.only(http.MethodGet, wellKnown+"/mcp").header.Get("Mcp-Protocol-Version"), "whatever")
		}},
		{"auth/metadata-var1: the path-inserted place first, and OpenID metadata", func(w *world) {
			w.server.hidden, w.auth.at = true, "/.well-known/openid-configuration"
			w.complete()
			w.never(http.MethodGet, wellKnown)
		}},
		{"auth/metadata-var2: a document at the root, and an issuer with a path", func(w *world) {
			tenant := newAuthServer(asURL + "/tenant1")
			tenant.at = "/.well-known/oauth-authorization-server/tenant1"
			w.hosts["auth.example.com"], w.auth = tenant, tenant
			w.server.trust(tenant)
			w.server.hidden, w.server.docAt, w.server.doc["resource"] = true, "/.well-known/oauth-protected-resource", "https://mcp.example.com"
			w.complete()
			w.never(http.MethodGet, asURL+"/.well-known/oauth-authorization-server")
		}},
		{"auth/metadata-var3: a document anywhere, and OpenID metadata after the issuer's path", func(w *world) {
			tenant := newAuthServer(asURL + "/tenant1")
			tenant.at = "/tenant1/.well-known/openid-configuration"
			w.hosts["auth.example.com"], w.auth = tenant, tenant
			w.server.trust(tenant)
			w.server.docAt = "/custom/metadata/location.json"
			w.complete()
			w.never(http.MethodGet, asURL+"/.well-known/oauth-authorization-server")
			w.never(http.MethodGet, asURL+"/.well-known/openid-configuration")
		}},
		{"a challenge without any header leads to the well-known places", func(w *world) {
			w.server.headers = http.Header{"Www-Authenticate": nil}
			w.complete()
		}},
		{"a document at the root that the challenge names may be about the origin", func(w *world) {
			w.server.docAt, w.server.doc["resource"] = "/.well-known/oauth-protected-resource", "https://mcp.example.com"
			w.complete()
		}},
		{"capital letters in the host's name are the same server", func(w *world) {
			w.at = "https://mcp.example.com/mcp"
			a, err := login.New("https://MCP.Example.com/mcp", w.grant, &w.opts)
			if err != nil {
				w.t.Fatal(err)
			}
			w.once.Do(func() { w.client = a })
			w.complete()
		}},
		{"of several authorization servers the one of the caller's credentials is used", func(w *world) {
			w.server.doc["authorization_servers"] = []string{"https://other.example.com", asURL}
			w.grant = &login.Code{UserAgent: login.Direct{Transport: w}, Client: &login.Client{Issuer: asURL, ID: "known"}}
			w.complete()
			if n := len(w.to("other.example.com")); n != 0 {
				w.t.Errorf("%d calls to the other", n)
			}
		}},
		{"auth/2025-03-26-oauth-metadata-backcompat: no document, metadata at the server's root", func(w *world) {
			own := newAuthServer("https://mcp.example.com")
			own.edit = func(m object) {
				for _, name := range []string{"authorization", "token", "registration"} {
					end := map[string]string{"authorization": "authorize", "token": "token", "registration": "register"}[name]
					m[name+"_endpoint"] = "https://mcp.example.com/" + end
				}
			}
			w.server.docAt, w.server.extra, w.server.trusts, w.auth = "", own, []*authServer{own}, own
			w.complete()
		}},
		{"auth/2025-03-26-oauth-endpoint-fallback: no metadata at all, fixed endpoints", func(w *world) {
			own := newAuthServer("https://mcp.example.com")
			own.at, own.answer = "none", func(back url.Values) { back.Del("iss") }
			w.server.docAt, w.server.extra, w.server.trusts, w.auth = "", own, []*authServer{own}, own
			w.complete()
		}},
		{"a server that knows no OAuth has the last word itself", func(w *world) {
			w.server.docAt = ""
			for _, grant := range []*login.Code{{UserAgent: login.Direct{Transport: w}}, {}} { // a person or none
				w.again()
				w.grant = grant
				if status, err := w.call("tools/list"); err != nil || status != http.StatusUnauthorized {
					w.t.Errorf("got %d, %v, want the server's refusal", status, err)
				}
			}
			w.wantEqual("calls to the authorization server", len(w.to("auth.example.com")), 0)
		}},
		{"auth/resource-mismatch: stop after the document", func(w *world) {
			w.server.doc["resource"] = "https://evil.example.com/mcp"
			w.mustFail("tools/list", oauth.ErrMismatch)
			w.only(http.MethodGet, wellKnown+"/mcp")
			w.wantEqual("calls to the authorization server", len(w.to("auth.example.com")), 0)
		}},
		{"auth/metadata-issuer-mismatch: use nothing of it", func(w *world) {
			w.auth.edit = func(m object) { m["issuer"] = "https://attacker.example.com" }
			w.mustFail("tools/list", oauth.ErrMismatch)
			w.wantEqual("calls to the authorization server", len(w.to("auth.example.com")), 1)
		}},
		{"an authorization server that was named and has no metadata is not guessed at", func(w *world) {
			w.auth.at = "nowhere"
			w.mustFail("tools/list", login.ErrUnfit)
			w.never(http.MethodPost, asURL+"/register")
			w.never(http.MethodGet, asURL+"/authorize")
		}},
		{"a document that names no authorization server is an error", func(w *world) {
			w.server.doc["authorization_servers"] = []string{}
			w.mustFail("tools/list", login.ErrUnfit)
		}},
		{"a challenge that points nowhere is an error", func(w *world) {
			w.server.headers = http.Header{"Www-Authenticate": {`Bearer resource_metadata="https://mcp.example.com/gone"`}}
			if _, err := w.call("tools/list"); err == nil {
				w.t.Error("no error")
			}
		}},
	})
}

func TestScopes(t *testing.T) {
	scopes := func(w *world) []string {
		var all []string
		for _, q := range w.asked(asURL) {
			if !q.Has("scope") {
				all = append(all, "-")
				continue
			}
			all = append(all, q.Get("scope"))
		}
		return all
	}
	want := func(w *world, want ...string) {
		w.t.Helper()
		if got := scopes(w); !slices.Equal(got, want) {
			w.t.Errorf("asked for %q, want %q", got, want)
		}
	}
	playAll(t, []scenario{
		{"auth/scope-from-www-authenticate", func(w *world) {
			w.server.scope, w.server.doc["scopes_supported"] = "mcp:basic", []string{"mcp:other"}
			w.complete()
			want(w, "mcp:basic")
		}},
		{"auth/scope-from-scopes-supported", func(w *world) {
			w.server.doc["scopes_supported"] = []string{"mcp:basic", "mcp:read", "mcp:write"}
			w.complete()
			want(w, "mcp:basic mcp:read mcp:write")
		}},
		{"auth/scope-omitted-when-undefined", func(w *world) {
			w.auth.edit = func(m object) { m["scopes_supported"] = []string{"mcp:basic", "offline_access"} }
			w.complete()
			want(w, "-")
		}},
		{"auth/scope-step-up: the new scopes, and those from before", func(w *world) {
			w.server.scope, w.server.doc["scopes_supported"] = "mcp:basic", []string{"mcp:profile"}
			w.server.needs = func(method string) string {
				if method == "tools/call" {
					return "mcp:write"
				}
				return "mcp:basic"
			}
			w.mustCall("tools/list")
			w.mustCall("tools/call")
			w.mustCall("tools/list")
			want(w, "mcp:basic", "mcp:basic mcp:write")
			w.wantEqual("registrations", len(w.find(http.MethodPost, asURL+"/register")), 1)
		}},
		{"auth/scope-retry-limit: a scope that the token has is not asked for again", func(w *world) {
			w.server.scope = "mcp:admin"
			w.hosts["mcp.example.com"] = refusing{w.server, "mcp:admin"}
			w.mustFail("tools/list", login.ErrScope)
			want(w, "mcp:admin")
		}},
		{"auth/scope-retry-limit: a scope that is never granted is asked for three times", func(w *world) {
			w.server.scope = "mcp:admin"
			w.server.needs = func(string) string { return "mcp:admin" }
			w.auth.scope = func(string) string { return "mcp:basic" }
			if status, err := w.call("tools/list"); status != http.StatusForbidden || err != nil {
				w.t.Errorf("%d, %v", status, err)
			}
			want(w, "mcp:admin", "mcp:admin", "mcp:admin")
			w.mustFail("tools/list", login.ErrTooMany)
			w.wantEqual("authorizations", len(scopes(w)), 3)
		}},
		{"a plain 403 is no matter of login", func(w *world) {
			w.mustCall("tools/list")
			w.server.headers = http.Header{"Www-Authenticate": {`Bearer error="access_denied"`}}
			w.server.needs = func(string) string { return "anything" }
			if status, err := w.call("tools/list"); status != http.StatusForbidden || err != nil {
				w.t.Errorf("%d, %v", status, err)
			}
			want(w, "-")
		}},
		{"a 401 that wants a password is no matter of login", func(w *world) {
			w.server.headers = http.Header{"Www-Authenticate": {`Basic realm="x"`}}
			if status, err := w.call("tools/list"); status != http.StatusUnauthorized || err != nil {
				w.t.Errorf("%d, %v", status, err)
			}
			want(w)
		}},
		{"auth/offline-access-scope: asked for where it is listed, and registered for", func(w *world) {
			w.auth.edit = func(m object) { m["scopes_supported"] = []string{"mcp:basic", "offline_access"} }
			w.server.doc["scopes_supported"] = []string{"mcp:basic"}
			w.complete()
			want(w, "mcp:basic offline_access")
			if body := w.only(http.MethodPost, asURL+"/register").body; !strings.Contains(body, `"grant_types":["authorization_code","refresh_token"]`) {
				w.t.Errorf("registered with %s", body)
			}
		}},
		{"auth/offline-access-not-supported: not asked for, not even if the server wants it", func(w *world) {
			w.auth.edit = func(m object) { m["scopes_supported"] = []string{"mcp:basic", "mcp:read"} }
			w.server.doc["scopes_supported"] = []string{"mcp:basic", "mcp:read", "offline_access"}
			w.complete()
			want(w, "mcp:basic mcp:read")
		}},
		{"a program that wants no refresh tokens does not ask for them", func(w *world) {
			w.auth.edit = func(m object) { m["scopes_supported"] = []string{"offline_access"} }
			w.server.doc["scopes_supported"] = []string{"mcp:basic"}
			w.grant = &login.Code{UserAgent: login.Direct{Transport: w}, NoRefresh: true}
			w.complete()
			want(w, "mcp:basic")
			if strings.Contains(w.only(http.MethodPost, asURL+"/register").body, "refresh_token") {
				w.t.Error("registered for refresh tokens")
			}
		}},
		{"the caller's scopes are added, and nonsense is not", func(w *world) {
			w.opts.Scopes = []string{"mine", "a b", `a"b`}
			w.server.scope = "mcp:basic"
			w.complete()
			want(w, "mcp:basic mine")
		}},
	})
}

// refusing is a server that never has enough of one scope.
type refusing struct {
	*resourceServer
	scope string
}

func (s refusing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") == "" {
		s.resourceServer.ServeHTTP(w, r)
		return
	}
	s.challenge(w, http.StatusForbidden, map[string]string{"error": "insufficient_scope", "scope": s.scope})
}

func TestClientIdentity(t *testing.T) {
	basic := func(id, secret string) string {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(id)+":"+url.QueryEscape(secret)))
	}
	const document = "https://app.example.com/client.json"
	playAll(t, []scenario{
		{"auth/basic-cimd: the URL of the document is the id", func(w *world) {
			w.auth.edit = func(m object) { m["client_id_metadata_document_supported"] = true }
			w.grant = &login.Code{UserAgent: login.Direct{Transport: w}, MetadataURL: document}
			w.complete()
			w.wantEqual("client id", w.asked(asURL)[0].Get("client_id"), document)
			w.wantEqual("client id at token", w.only(http.MethodPost, asURL+"/token").form.Get("client_id"), document)
			w.never(http.MethodPost, asURL+"/register")
			w.wantEqual("fetches of the document", len(w.to("app.example.com")), 0)
		}},
		{"a document is not used where it is not supported", func(w *world) {
			w.grant = &login.Code{UserAgent: login.Direct{Transport: w}, MetadataURL: document}
			w.complete()
			w.wantEqual("client id", w.asked(asURL)[0].Get("client_id"), "client-1")
		}},
		{"a registration says what kind of program it is", func(w *world) {
			w.complete()
			body := w.only(http.MethodPost, asURL+"/register").body
			for _, want := range []string{`"application_type":"native"`, `"client_name":"MCP client"`, `"token_endpoint_auth_method":"none"`} {
				if !strings.Contains(body, want) {
					w.t.Errorf("%s lacks %s", body, want)
				}
			}
		}},
		{"a website registers as such", func(w *world) {
			w.grant = &login.Code{UserAgent: login.Direct{Transport: w, RedirectURI: "https://app.example.com/back"}, Name: "App"}
			w.complete()
			if body := w.only(http.MethodPost, asURL+"/register").body; !strings.Contains(body, `"application_type":"web"`) || !strings.Contains(body, `"App"`) {
				w.t.Error(body)
			}
		}},
		{"auth/token-endpoint-auth-basic", func(w *world) {
			w.auth.register = func(m object) object {
				m["client_id"], m["client_secret"], m["token_endpoint_auth_method"] = "a:b", "s/e+c r", login.MethodBasic
				return m
			}
			w.complete()
			c := w.only(http.MethodPost, asURL+"/token")
			w.wantEqual("header", c.header.Get("Authorization"), basic("a:b", "s/e+c r"))
			w.wantEqual("secret in the body", c.form.Has("client_secret"), false)
		}},
		{"auth/token-endpoint-auth-post", func(w *world) {
			w.auth.register = func(m object) object {
				m["client_secret"], m["token_endpoint_auth_method"] = "secret", login.MethodPost
				return m
			}
			w.complete()
			c := w.only(http.MethodPost, asURL+"/token")
			w.wantEqual("header", c.header.Get("Authorization"), "")
			w.wantEqual("secret in the body", c.form.Get("client_secret"), "secret")
		}},
		{"auth/token-endpoint-auth-none: a secret that is not wanted is not sent", func(w *world) {
			w.auth.register = func(m object) object {
				m["client_secret"], m["token_endpoint_auth_method"] = "secret", login.MethodNone
				return m
			}
			w.complete()
			c := w.only(http.MethodPost, asURL+"/token")
			w.wantEqual("client id", c.form.Get("client_id"), "client-1")
			w.wantEqual("secret in the body", c.form.Has("client_secret"), false)
			w.wantEqual("header", c.header.Get("Authorization"), "")
		}},
		{"a registration that does not say the method has the best that the server takes", func(w *world) {
			w.auth.edit = func(m object) {
				m["token_endpoint_auth_methods_supported"] = []string{login.MethodPost, login.MethodKey}
			}
			w.auth.register = func(m object) object {
				delete(m, "token_endpoint_auth_method")
				m["client_secret"] = "secret"
				return m
			}
			w.complete()
			w.wantEqual("secret in the body", w.only(http.MethodPost, asURL+"/token").form.Get("client_secret"), "secret")
		}},
		{"auth/pre-registration: the caller's client, as it is", func(w *world) {
			w.auth.edit = func(m object) {
				delete(m, "registration_endpoint")
				m["token_endpoint_auth_methods_supported"] = []string{login.MethodBasic}
			}
			w.grant = &login.Code{UserAgent: login.Direct{Transport: w}, Client: &login.Client{Issuer: asURL, ID: "known", Secret: "s"}}
			w.complete()
			w.wantEqual("header", w.only(http.MethodPost, asURL+"/token").header.Get("Authorization"), basic("known", "s"))
		}},
		{"a registered client comes before a document and a registration", func(w *world) {
			w.auth.edit = func(m object) { m["client_id_metadata_document_supported"] = true }
			w.grant = &login.Code{UserAgent: login.Direct{Transport: w}, MetadataURL: document, Client: &login.Client{ID: "known"}}
			w.complete()
			w.wantEqual("client id", w.asked(asURL)[0].Get("client_id"), "known")
		}},
		{"without any way to be known there is a clear error", func(w *world) {
			w.auth.edit = func(m object) { delete(m, "registration_endpoint") }
			w.mustFail("tools/list", login.ErrUnfit)
			w.never(http.MethodGet, asURL+"/authorize")
		}},
		{"a refused registration is a clear error", func(w *world) {
			w.hosts["auth.example.com"] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/register" {
					writeJSON(rw, http.StatusBadRequest, object{"error": "invalid_redirect_uri", "error_description": "no\nports"})
					return
				}
				w.auth.ServeHTTP(rw, r)
			})
			_, err := w.call("tools/list")
			var refusal *login.ServerError
			if !asError(err, &refusal) || refusal.Code != "invalid_redirect_uri" || refusal.Description != "no?ports" {
				w.t.Errorf("%v", err)
			}
		}},
		{"a registration is used again, for the redirect URI that it is for", func(w *world) {
			w.opts.Store = login.Memory()
			for _, redirect := range []string{"http://127.0.0.1:1/a", "http://127.0.0.1:1/a", "http://127.0.0.1:2/b"} {
				w.again()
				w.grant = &login.Code{UserAgent: login.Direct{Transport: w, RedirectURI: redirect}}
				w.auth.revoke(true)
				w.mustCall("tools/list")
			}
			w.wantEqual("logins", len(w.asked(asURL)), 3)
			w.wantEqual("registrations", len(w.find(http.MethodPost, asURL+"/register")), 2)
		}},
		{"a client that the authorization server has forgotten is registered anew", func(w *world) {
			w.opts.Store = login.Memory()
			w.mustCall("tools/list")
			w.auth.revoke(true)
			w.auth.refuse = func(form url.Values, _ http.Header) string {
				if form.Get("client_id") == "client-1" {
					return "invalid_client"
				}
				return ""
			}
			if _, err := w.call("tools/list"); err == nil {
				w.t.Error("no error")
			}
			w.mustCall("tools/list")
			w.wantEqual("registrations", len(w.find(http.MethodPost, asURL+"/register")), 2)
		}},
	})
}
