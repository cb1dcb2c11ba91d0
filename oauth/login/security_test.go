package login_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bossman-mcp/bossman/oauth"
	"github.com/bossman-mcp/bossman/oauth/login"
)

// spy is a browser that must not be used.
type spy struct{ opened atomic.Int32 }

func (s *spy) Open(context.Context, string) error {
	s.opened.Add(1)
	return errors.New("opened")
}

// notForBrowsers are URLs that nobody should open.
var notForBrowsers = []string{
	"javascript:alert(1)",
	"JavaScript:alert(1)",
	"file:///etc/passwd",
	"data:text/html,<script>alert(1)</script>",
	"vbscript:msgbox(1)",
	"ms-msdt:/id",
	"http://auth.example.com/authorize",
	"http://192.0.2.1/authorize",
	"https://user:password@auth.example.com/authorize",
	"https://auth.example.com@evil.example.com/authorize",
	"https://auth.example.com/authorize\nopen -a Calculator",
	"https://auth.example.com/$(touch${IFS}x)",
	"https://auth.example.com/`id`",
	"https://auth.example.com/a;id",
	"https://auth.example.com/a|id",
	"https://auth.example.com/a&id",
	"https://auth.example.com/'a'",
	`https://auth.example.com/"a"`,
	`https://auth.example.com\a`,
	"https://auth.example.com/a b",
	"https://auth.example.com/!x",
	"https://auth.example.com/(x)",
	"https://$(id).example.com/",
	"https://auth.example.com/authorize#fragment",
	"-version",
	"--help",
	"",
	"//auth.example.com/authorize",
	"auth.example.com/authorize",
	"https:///authorize",
}

// R058: what is not for a browser never reaches one.
func TestBadAuthorizationEndpointsAreNotOpened(t *testing.T) {
	for _, endpoint := range append(notForBrowsers,
		"http://localhost:8080/delete-everything",
		"https://127.0.0.1/authorize",
		"https://10.0.0.1/authorize",
		"https://169.254.169.254/authorize",
		"https://2130706433/authorize",
		"https://0x7f.1/authorize",
	) {
		t.Run(endpoint, func(t *testing.T) {
			w := newWorld(t)
			w.auth.edit = func(m object) { m["authorization_endpoint"] = endpoint }
			browser := new(spy)
			w.grant = &login.Code{UserAgent: &login.Loopback{Browser: browser}}
			w.mustFail("tools/list", login.ErrUnfit)
			if browser.opened.Load() != 0 {
				t.Error("the browser was opened")
			}
		})
	}
}

// A query of the endpoint's own stays, but cannot speak for us.
func TestAnEndpointWithAQueryKeepsIt(t *testing.T) {
	w := newWorld(t)
	w.auth.edit = func(m object) { m["authorization_endpoint"] = asURL + "/authorize?tenant=%24%28id%29&client_id=evil" }
	w.complete()
	q := w.asked(asURL)[0]
	w.wantEqual("tenant", q.Get("tenant"), "$(id)")
	w.wantEqual("client id", strings.Join(q["client_id"], " "), "client-1")
	if c := w.find(http.MethodGet, asURL+"/authorize")[0]; strings.ContainsAny(c.url, "$()`'\"; ") {
		t.Error(c.url)
	}
}

// R059: a server on the internet cannot make us reach this machine, in whatever
// way the address is written. A listener sees whether anybody comes.
func TestAServerCannotMakeUsReachThisMachine(t *testing.T) {
	for _, host := range []string{
		"127.0.0.1", "localhost", "LOCALHOST", "localhost.", "x.localhost", "127.1", "127.0.1.1", "0.0.0.0", "0",
		"[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::]", "[64:ff9b::7f00:1]", "0x7f.1", "0x7f000001", "2130706433", "0177.0.0.1", "017700000001",
	} {
		t.Run(host, func(t *testing.T) {
			l, visitors := listen(t)
			_, port, _ := net.SplitHostPort(l)
			for _, scheme := range []string{"http", "https"} {
				err := challengeWith(t, mcpURL, nil, scheme+"://"+host+":"+port+"/doc")
				if err == nil || strings.Contains(err.Error(), "canary") {
					t.Errorf("%s: %v", scheme, err)
				}
			}
			if n := visitors.Load(); n != 0 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

// The same for names that lead there: the address is looked at when it is
// dialled.
func TestAddressesAreCheckedWhenTheyAreDialled(t *testing.T) {
	for _, address := range []string{
		"10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "100.127.255.254", "0.1.2.3", "198.18.0.1",
		"192.0.0.170", "224.0.0.1", "255.255.255.255", "240.0.0.1", "fc00::1", "fd12::1", "fe80::1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe",
		"64:ff9b::a00:1", "2002:a00:1::", "ff02::1", "::", "::10.0.0.1", "2001:db8::1",
	} {
		t.Run(address, func(t *testing.T) {
			err := challengeWith(t, mcpURL, nil, "https://"+net.JoinHostPort(address, "443")+"/doc")
			if !errors.Is(err, login.ErrBlocked) {
				t.Errorf("%v", err)
			}
		})
	}
}

// With a transport of the caller's, addresses that are written out are still
// refused, and so is plain http.
func TestAddressesAreCheckedBeforeTheCallersTransport(t *testing.T) {
	for _, address := range []string{
		"https://10.0.0.1/doc", "https://[::1]/doc", "http://localhost/doc", "https://0x7f.1/doc", "http://example.com/doc", "ftp://example.com/doc",
		"https://user@example.com/doc",
	} {
		w := newWorld(t)
		w.server.headers = http.Header{"Www-Authenticate": {fmt.Sprintf("Bearer resource_metadata=%q", address)}}
		if _, err := w.call("tools/list"); !errors.Is(err, login.ErrBlocked) && !errors.Is(err, oauth.ErrAddress) {
			t.Errorf("%s: %v", address, err)
		}
		if len(w.calls) != 1 {
			t.Errorf("%s: %s", address, w.story())
		}
	}
}

// challengeWith answers a challenge that names a document, over the real network.
func challengeWith(t *testing.T, server string, opts *login.Options, document string) error {
	t.Helper()
	a, err := login.New(server, &login.Code{}, opts)
	if err != nil {
		t.Fatal(err)
	}
	res := &http.Response{StatusCode: http.StatusUnauthorized, Header: http.Header{
		"Www-Authenticate": {fmt.Sprintf("Bearer resource_metadata=%q", document)},
	}}
	again, err := a.Challenge(t.Context(), res)
	if again {
		t.Error("to be tried again")
	}
	return err
}

// listen returns an address where an HTTP server counts its visitors.
func listen(t *testing.T) (string, *atomic.Int32) {
	t.Helper()
	visitors := new(atomic.Int32)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "canary")
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			visitors.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String(), visitors
}

func TestAServerOnThisMachineMayNameOthersThere(t *testing.T) {
	for _, server := range []string{"http://localhost:1/mcp", "http://127.0.0.1:1/mcp", "https://[::1]:1/mcp"} {
		l, visitors := listen(t)
		err := challengeWith(t, server, nil, "http://"+l+"/doc")
		if !errors.Is(err, oauth.ErrDocument) || visitors.Load() != 1 {
			t.Errorf("%s: %v, %d visitors", server, err, visitors.Load())
		}
		if err := challengeWith(t, server, nil, "https://10.0.0.1/doc"); !errors.Is(err, login.ErrBlocked) {
			t.Errorf("%s: a private network is open: %v", server, err)
		}
	}
	if err := challengeWith(t, "https://10.0.0.2/mcp", nil, "http://localhost:1/doc"); !errors.Is(err, login.ErrBlocked) {
		t.Errorf("this machine is open to a private network: %v", err)
	}
}

// R042, for documents: only redirects within the origin are followed, three of
// them.
func TestRedirectsOfDocuments(t *testing.T) {
	const doc = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp"
	for _, c := range []struct {
		name, to string
		followed bool
	}{
		{"the same origin", "https://mcp.example.com/elsewhere", true},
		{"the same origin, without saying so", "/elsewhere", true},
		{"another host", "https://evil.example.com/doc?secret", false},
		{"another port", "https://mcp.example.com:8443/doc", false},
		{"plain http", "http://mcp.example.com/doc", false},
		{"a private address", "https://10.0.0.1/doc", false},
		{"this machine", "http://localhost/doc", false},
		{"itself", "", false},
		{"for ever", doc, false},
	} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			t.Run(fmt.Sprint(c.name, " ", status), func(t *testing.T) {
				w := newWorld(t)
				server := w.server
				w.hosts["mcp.example.com"] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
					switch r.URL.Path {
					case "/.well-known/oauth-protected-resource/mcp":
						rw.Header().Set("Location", c.to)
						rw.WriteHeader(status)
					case "/elsewhere":
						writeJSON(rw, http.StatusOK, server.doc)
					default:
						server.ServeHTTP(rw, r)
					}
				})
				if c.followed {
					w.complete()
					return
				}
				if text := w.mustFail("tools/list", login.ErrRedirect); strings.Contains(text, "secret") {
					t.Error(text)
				}
				for _, call := range w.calls {
					if u, _ := url.Parse(call.url); u.Host != "mcp.example.com" || u.Scheme != "https" {
						t.Errorf("called %s", call.url)
					}
				}
				if n := len(w.find(http.MethodGet, doc)); n > 4 {
					t.Errorf("%d fetches", n)
				}
			})
		}
	}
}

// R042, for endpoints that are sent secrets: no redirect is followed at all.
func TestSecretsAreNotRedirected(t *testing.T) {
	for _, path := range []string{"/token", "/register"} {
		for _, to := range []string{"https://evil.example.com/x", "/elsewhere"} {
			t.Run(path+" "+to, func(t *testing.T) {
				w := newWorld(t)
				w.hosts["auth.example.com"] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
					if r.URL.Path == path {
						http.Redirect(rw, r, to, http.StatusTemporaryRedirect)
						return
					}
					w.auth.ServeHTTP(rw, r)
				})
				text := w.mustFail("tools/list", login.ErrRedirect)
				if !strings.Contains(text, "/x") && !strings.Contains(text, "/elsewhere") {
					t.Errorf("it does not name the redirect: %s", text)
				}
				if len(w.to("evil.example.com")) != 0 || len(w.find(http.MethodPost, asURL+"/elsewhere")) != 0 {
					t.Error("followed")
				}
			})
		}
	}
}

// R061: documents about others, and documents that are none.
func TestDocumentsThatAreNotUsed(t *testing.T) {
	resource := func(value string) func(*world) {
		return func(w *world) { w.server.doc["resource"] = value }
	}
	issuer := func(value string) func(*world) {
		return func(w *world) { w.auth.edit = func(m object) { m["issuer"] = value } }
	}
	serve := func(host, path string, body func() string) func(*world) {
		return func(w *world) {
			next := w.hosts[host]
			w.hosts[host] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if r.URL.Path == path {
					fmt.Fprint(rw, body())
					return
				}
				next.ServeHTTP(rw, r)
			})
		}
	}
	const docPath, metaPath = "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server"
	html := func() string { return "<!doctype html><p>canary" }
	pad := `","x":"canary` + strings.Repeat("x", 5<<20) + `"}`
	long := func() string { return `{"authorization_servers":["` + asURL + `"],"resource":"` + mcpURL + pad }
	longer := func() string {
		return `{"authorization_endpoint":"` + asURL + `/authorize","token_endpoint":"` + asURL + `/token","registration_endpoint":"` + asURL +
			`/register","code_challenge_methods_supported":["S256"],"issuer":"` + asURL + pad
	}
	deep := func() string { return strings.Repeat(`{"canary":`, 200_000) }
	for name, set := range map[string]func(*world){
		"a resource on another host":             resource("https://mcp.example.org/mcp"),
		"a resource at another path":             resource("https://mcp.example.com/other"),
		"a resource with a final slash":          resource("https://mcp.example.com/mcp/"),
		"the origin, where it is not asked for":  resource("https://mcp.example.com"),
		"a resource of another scheme":           resource("http://mcp.example.com/mcp"),
		"an issuer on another host":              issuer("https://auth.example.org"),
		"an issuer with a final slash":           issuer(asURL + "/"),
		"an issuer with a path":                  issuer(asURL + "/tenant"),
		"an issuer in capital letters":           issuer("https://AUTH.example.com"),
		"a page instead of the server's":         serve("mcp.example.com", docPath, html),
		"a page instead of metadata":             serve("auth.example.com", metaPath, html),
		"a document of 5 MiB":                    serve("mcp.example.com", docPath, long),
		"metadata of 5 MiB":                      serve("auth.example.com", metaPath, longer),
		"a deep document":                        serve("mcp.example.com", docPath, deep),
		"deep metadata":                          serve("auth.example.com", metaPath, deep),
		"metadata without a token endpoint":      func(w *world) { w.auth.edit = func(m object) { delete(m, "token_endpoint") } },
		"metadata with a token endpoint at home": func(w *world) { w.auth.edit = func(m object) { m["token_endpoint"] = "http://localhost/token" } },
		"metadata with plain http":               func(w *world) { w.auth.edit = func(m object) { m["token_endpoint"] = "http://auth.example.com/token" } },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			set(w)
			_, err := w.call("tools/list")
			if err == nil || strings.Contains(err.Error(), "canary") {
				t.Errorf("%.200v", err)
			}
			w.never(http.MethodGet, asURL+"/authorize")
			w.never(http.MethodPost, asURL+"/register")
			w.never(http.MethodPost, asURL+"/token")
		})
	}
}

// The token is for one server.
func TestTheTokenGoesNowhereElse(t *testing.T) {
	w := newWorld(t)
	w.mustCall("tools/list")
	for _, to := range []string{"https://evil.example.com/mcp", "http://mcp.example.com/mcp", "https://mcp.example.com:8443/mcp", "https://mcp.example.com.evil.example.com/mcp"} {
		r := httptest.NewRequest(http.MethodPost, to, nil)
		if err := w.client.Authorize(t.Context(), r); err == nil || r.Header.Get("Authorization") != "" {
			t.Errorf("%s: %v", to, err)
		}
	}
	r := httptest.NewRequest(http.MethodPost, "https://MCP.example.com:443/other", nil)
	if err := w.client.Authorize(t.Context(), r); err != nil || r.Header.Get("Authorization") == "" {
		t.Errorf("the same origin: %v", err)
	}
}

func TestServersThatCannotBeLoggedInTo(t *testing.T) {
	for _, address := range []string{"", "mcp.example.com", "http://mcp.example.com/mcp", "https://u:p@mcp.example.com/", "https://mcp.example.com/#x", "ftp://x", "https://a b/"} {
		if _, err := login.New(address, &login.Code{}, nil); err == nil || strings.Contains(err.Error(), "u:p") {
			t.Errorf("%q: %v", address, err)
		}
	}
	if _, err := login.New(mcpURL, nil, nil); err == nil {
		t.Error("without a grant")
	}
}
