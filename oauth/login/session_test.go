package login_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bossman-mcp/bossman/oauth"
	"github.com/bossman-mcp/bossman/oauth/login"
)

// refreshes counts the renewals that the authorization server saw.
func (w *world) refreshes() int {
	n := 0
	for _, c := range w.find(http.MethodPost, w.auth.issuer+"/token") {
		if c.form.Get("grant_type") == "refresh_token" {
			n++
		}
	}
	return n
}

// crowd calls 50 times at once, and returns the errors and how many were let in.
func (w *world) crowd() (errs []error, in int) {
	w.authorizer()
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			status, err := w.call("tools/call")
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs = append(errs, err)
			} else if status == http.StatusOK {
				in++
			}
		})
	}
	all.Wait()
	return errs, in
}

// slow makes a host take a while, so that callers meet.
func (w *world) slow(host string) {
	next := w.hosts[host]
	w.hosts[host] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		time.Sleep(time.Second)
		next.ServeHTTP(rw, r)
	})
}

// R065.
func TestFiftyCallersWithAnExpiredTokenRenewItOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.auth.refresh = true
		w.mustCall("tools/list")
		w.slow("auth.example.com")
		time.Sleep(2 * time.Hour)
		if errs, in := w.crowd(); in != 50 {
			t.Errorf("%d were let in, %v", in, errs)
		}
		if n := w.refreshes(); n != 1 {
			t.Errorf("%d renewals", n)
		}
		if n := len(w.asked(asURL)); n != 1 {
			t.Errorf("%d logins", n)
		}
	})
}

func TestFiftyCallersWithoutATokenLogInOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.slow("auth.example.com")
		if errs, in := w.crowd(); in != 50 {
			t.Errorf("%d were let in, %v", in, errs)
		}
		if n := len(w.asked(asURL)); n != 1 {
			t.Errorf("%d logins", n)
		}
	})
}

func TestFiftyCallersShareAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.slow("auth.example.com")
		w.auth.answer = func(v url.Values) { v.Del("code"); v.Set("error", "access_denied") }
		if errs, in := w.crowd(); in != 0 || len(errs) != 50 {
			t.Errorf("%d were let in, %d errors", in, len(errs))
		}
		if n := len(w.asked(asURL)); n != 1 {
			t.Errorf("%d logins", n)
		}
	})
}

func TestATokenIsRenewedBeforeItEnds(t *testing.T) {
	for _, c := range []struct {
		name             string
		lifetime         int
		before, renewing time.Duration
	}{
		{"a long one a minute before", 3600, 58 * time.Minute, 59*time.Minute + time.Second},
		{"a short one in its last tenth", 100, 89 * time.Second, 91 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.auth.refresh, w.auth.lifetime = true, c.lifetime
				w.mustCall("tools/list")
				time.Sleep(c.before)
				w.mustCall("tools/list")
				if n := w.refreshes(); n != 0 {
					t.Errorf("%d renewals too early", n)
				}
				time.Sleep(c.renewing - c.before)
				before := len(w.find(http.MethodPost, mcpURL))
				w.mustCall("tools/list")
				if n := w.refreshes(); n != 1 {
					t.Errorf("%d renewals", n)
				}
				if n := len(w.find(http.MethodPost, mcpURL)) - before; n != 1 {
					t.Errorf("%d requests for one call", n)
				}
				for _, call := range w.find(http.MethodPost, asURL+"/token") {
					w.wantEqual("resource", call.form.Get("resource"), mcpURL)
				}
			})
		})
	}
}

// R065: one clear error, and a new login where there is a person.
func TestARevokedRefreshToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.auth.refresh = true
		w.mustCall("tools/list")
		w.auth.revoke(true)
		time.Sleep(2 * time.Hour)
		if errs, in := w.crowd(); in != 50 {
			t.Errorf("%d were let in, %v", in, errs)
		}
		if n := w.refreshes(); n != 1 {
			t.Errorf("%d renewals", n)
		}
		if n := len(w.asked(asURL)); n != 2 {
			t.Errorf("%d logins", n)
		}
		if n := strings.Count(w.log.String(), "invalid_grant"); n != 1 {
			t.Errorf("logged %d times: %s", n, w.log)
		}
	})
}

func TestARevokedRefreshTokenWhereNobodyIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.auth.refresh, w.opts.Store = true, login.Memory()
		w.mustCall("tools/list")
		w.again()
		w.grant = &login.Code{}
		w.mustCall("tools/list")
		w.auth.revoke(true)
		time.Sleep(2 * time.Hour)
		w.mustFail("tools/list", login.ErrPerson)
		if n := w.refreshes(); n != 1 {
			t.Errorf("%d renewals", n)
		}
	})
}

func TestARenewalThatCannotBeMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.auth.refresh = true
		w.mustCall("tools/list")
		auth := w.hosts["auth.example.com"]
		tries := 0
		w.hosts["auth.example.com"] = http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			tries++
			rw.WriteHeader(http.StatusServiceUnavailable)
		})
		time.Sleep(59*time.Minute + 30*time.Second)
		w.mustCall("tools/list") // the old token is good for half a minute
		w.mustCall("tools/list")
		w.wantEqual("tries", tries, 1)
		time.Sleep(time.Minute)
		if _, err := w.call("tools/list"); err == nil || !strings.Contains(err.Error(), "503") {
			t.Errorf("%v", err)
		}
		w.hosts["auth.example.com"] = auth
		w.mustCall("tools/list")
		w.wantEqual("logins", len(w.asked(asURL)), 1)
	})
}

// R065: a server that is never content.
func TestNoStormOfLogins(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
	}{{"401 for every token", 401}, {"403 with ever new scopes", 403}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				n := 0
				var mu sync.Mutex
				w.hosts["mcp.example.com"] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
					if r.Header.Get("Authorization") == "" {
						w.server.ServeHTTP(rw, r)
						return
					}
					mu.Lock()
					n++
					scope := "scope-" + strings.Repeat("x", n)
					mu.Unlock()
					w.server.challenge(rw, c.status, map[string]string{"error": "insufficient_scope", "scope": scope})
				})
				w.slow("auth.example.com")
				errs, in := w.crowd()
				if in != 0 || len(w.asked(asURL)) > 3 {
					t.Errorf("%d were let in, %d logins", in, len(w.asked(asURL)))
				}
				for _, err := range errs {
					if !errors.Is(err, login.ErrTooMany) {
						t.Errorf("%v", err)
					}
				}
				w.mustFail("tools/list", login.ErrTooMany)
				w.wantEqual("logins", len(w.asked(asURL)), 3)
				time.Sleep(2 * time.Minute)
				_, _ = w.call("tools/list")
				if n := len(w.asked(asURL)); n <= 3 || n > 6 {
					t.Errorf("%d logins after a while", n)
				}
			})
		})
	}
}

// A renewal that does not help is followed by a login, not by another renewal.
func TestARenewalThatDoesNotHelp(t *testing.T) {
	w := newWorld(t)
	w.auth.refresh = true
	w.mustCall("tools/list")
	w.auth.revoke(false)
	server := w.hosts["mcp.example.com"]
	w.hosts["mcp.example.com"] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if w.refreshes() == 1 && len(w.asked(asURL)) == 1 {
			w.auth.revoke(false)
		}
		server.ServeHTTP(rw, r)
	})
	w.mustCall("tools/list")
	w.wantEqual("renewals", w.refreshes(), 1)
	w.wantEqual("logins", len(w.asked(asURL)), 2)
}

// A mistake that is found before anybody is asked stays the same mistake.
func TestWhatIsWrongIsSaidEveryTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.grant = &login.Code{}
		for range 5 {
			w.mustFail("tools/list", login.ErrPerson)
		}
		w = newWorld(t)
		w.auth.edit = func(m object) { delete(m, "code_challenge_methods_supported") }
		for range 5 {
			w.mustFail("tools/list", login.ErrUnfit)
		}
		w = newWorld(t)
		w.auth.answer = func(v url.Values) { v.Del("code"); v.Set("error", "access_denied") }
		for range 3 {
			_, _ = w.call("tools/list")
		}
		if text := w.mustFail("tools/list", login.ErrTooMany); !strings.Contains(text, "access_denied") {
			t.Error(text)
		}
		w.wantEqual("logins", len(w.asked(asURL)), 3)
	})
}

func TestTokensWithoutRefreshAreReplacedAsOftenAsNeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.auth.lifetime = 10
		w.grant = &login.ClientCredentials{Client: login.Client{Issuer: asURL, ID: "robot", Secret: "s"}}
		for range 10 {
			w.mustCall("tools/list")
			time.Sleep(11 * time.Second)
		}
		w.wantEqual("tokens", len(w.find(http.MethodPost, asURL+"/token")), 10)
	})
}

// R062: what belongs to one issuer is not shown to another.
func TestAuthorizationServersThatChange(t *testing.T) {
	const second = "https://second.example.com"
	move := func(w *world) *authServer {
		other := newAuthServer(second)
		w.hosts["second.example.com"] = other
		w.server.trust(other)
		return other
	}
	noSecrets := func(w *world, secrets ...string) {
		w.t.Helper()
		for _, c := range w.to("second.example.com") {
			for _, s := range secrets {
				if strings.Contains(c.url+c.body+c.header.Get("Authorization"), s) {
					w.t.Errorf("%s %s has %s", c.method, c.url, s)
				}
			}
		}
	}
	playAll(t, []scenario{
		{"auth/authorization-server-migration: a new registration, and nothing of the old one", func(w *world) {
			w.auth.refresh = true
			w.mustCall("tools/list")
			other := move(w)
			other.count = 100
			w.mustCall("tools/call")
			w.only(http.MethodPost, second+"/register")
			w.wantEqual("client", w.asked(second)[0].Get("client_id"), "client-101")
			noSecrets(w, "client-1&", "refresh-", "token-3")
			w.mustCall("tools/call")
			w.wantEqual("renewals", w.refreshes(), 0)
		}},
		{"the change is seen in a new process too", func(w *world) {
			w.auth.refresh, w.opts.Store = true, login.Memory()
			w.mustCall("tools/list")
			move(w).count = 100
			w.again()
			w.mustCall("tools/call")
			noSecrets(w, "client-1&", "refresh-3", "token-3")
		}},
		{"an expired login is renewed where it was made, whomever the server trusts", func(w *world) {
			w.auth.refresh, w.opts.Store = true, login.Memory()
			w.mustCall("tools/list")
			move(w).count = 100
			time.Sleep(2 * time.Hour)
			w.again()
			w.mustCall("tools/call")
			w.wantEqual("renewals at the first", w.refreshes(), 1)
			noSecrets(w, "refresh-")
		}},
		{"a client of the caller's stays with its issuer", func(w *world) {
			w.grant = &login.Code{UserAgent: login.Direct{Transport: w}, Client: &login.Client{Issuer: asURL, ID: "person", Secret: "secret"}}
			w.mustCall("tools/list")
			move(w)
			w.mustFail("tools/list", login.ErrIssuer)
			noSecrets(w, "person", "secret")
		}},
		{"a client without an issuer stays with the first, also in a new process", func(w *world) {
			w.opts.Store = login.Memory()
			w.grant = &login.ClientCredentials{Client: login.Client{ID: "robot", Secret: "secret"}}
			w.mustCall("tools/list")
			move(w)
			w.mustFail("tools/list", login.ErrIssuer)
			w.again()
			w.mustFail("tools/list", login.ErrIssuer)
			noSecrets(w, "robot", "secret")
		}},
		{"a client without an issuer is not shown to the MCP server itself", func(w *world) {
			w.server.docAt = ""
			w.grant = &login.ClientCredentials{Client: login.Client{ID: "robot", Secret: "secret"}}
			w.mustFail("tools/list", login.ErrIssuer)
			w.never(http.MethodPost, "https://mcp.example.com/token")
		}},
		{"a client is not shown to the MCP server when all documents are gone", func(w *world) {
			w.grant = &login.ClientCredentials{Client: login.Client{Issuer: asURL, ID: "robot", Secret: "secret"}}
			w.mustCall("tools/list")
			w.server.docAt = ""
			w.auth.revoke(true)
			w.mustFail("tools/list", login.ErrIssuer)
			w.never(http.MethodPost, "https://mcp.example.com/token")
		}},
		{"a second server that names the first one's issuer gets a token of its own", func(w *world) {
			w.auth.refresh, w.opts.Store = true, login.Memory()
			w.mustCall("tools/list")
			evil := newResourceServer("https://evil.example.com/mcp", w.auth)
			w.hosts["evil.example.com"] = evil
			w.again()
			w.at = evil.url
			w.mustCall("tools/list")
			for _, c := range w.to("evil.example.com") {
				if strings.Contains(c.header.Get("Authorization"), "token-3") {
					w.t.Error("the second server got the first one's token")
				}
			}
			w.wantEqual("renewals", w.refreshes(), 0)
			w.wantEqual("resource", w.asked(asURL)[1].Get("resource"), evil.url)
		}},
		{"a second server that claims to be the first gets nothing", func(w *world) {
			w.opts.Store = login.Memory()
			w.mustCall("tools/list")
			evil := newResourceServer("https://evil.example.com/mcp", w.auth)
			evil.doc["resource"] = mcpURL
			w.hosts["evil.example.com"] = evil
			w.again()
			w.at = evil.url
			w.mustFail("tools/list", oauth.ErrMismatch)
		}},
	})
}

func TestLoginsOutliveTheProcess(t *testing.T) {
	for name, store := range map[string]func(*testing.T) login.Store{
		"in memory": func(*testing.T) login.Store { return login.Memory() },
		"in files":  func(t *testing.T) login.Store { return login.Files(t.TempDir()) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.opts.Store = store(t)
			w.mustCall("tools/list")
			w.again()
			w.mustCall("tools/list")
			if n := len(w.find(http.MethodPost, mcpURL)); n != 3 {
				t.Errorf("%d requests", n)
			}
			w.again()
			w.grant = &login.ClientCredentials{Client: login.Client{Issuer: asURL, ID: "robot", Secret: "s"}}
			w.mustCall("tools/list")
			if n := len(w.find(http.MethodPost, mcpURL)); n != 5 {
				t.Errorf("%d requests: a program used a person's login", n)
			}
			w.again()
			w.grant = &login.Code{UserAgent: login.Direct{Transport: w}}
			if err := w.authorizer().Forget(t.Context()); err != nil {
				t.Fatal(err)
			}
			w.mustCall("tools/list")
			w.wantEqual("logins", len(w.asked(asURL)), 2)
			w.wantEqual("registrations", len(w.find(http.MethodPost, asURL+"/register")), 2)
		})
	}
}

// Two processes with one store use a refresh token once.
func TestProcessesShareARenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.auth.refresh, w.opts.Store = true, login.Memory()
		w.mustCall("tools/list")
		other := newWorld(t)
		other.internet, other.opts, other.server, other.auth = w.internet, w.opts, w.server, w.auth
		other.grant = w.grant
		other.mustCall("tools/list")
		w.slow("auth.example.com")
		time.Sleep(2 * time.Hour)
		var both sync.WaitGroup
		both.Go(func() { w.mustCall("tools/list") })
		both.Go(func() { other.mustCall("tools/list") })
		both.Wait()
		w.wantEqual("renewals", w.refreshes(), 1)
		w.wantEqual("logins", len(w.asked(asURL)), 1)
	})
}

// A program without a person picks up what a person did elsewhere.
func TestALoginOfAnotherProcessIsUsed(t *testing.T) {
	w := newWorld(t)
	w.opts.Store = login.Memory()
	w.grant = &login.Code{}
	w.mustFail("tools/list", login.ErrPerson)
	other := newWorld(t)
	other.internet, other.opts, other.server, other.auth = w.internet, w.opts, w.server, w.auth
	other.grant = &login.Code{UserAgent: login.Direct{Transport: w}}
	other.mustCall("tools/list")
	w.mustCall("tools/list")
	w.wantEqual("logins", len(w.asked(asURL)), 1)
	w.auth.revoke(true)
	w.mustFail("tools/list", login.ErrPerson)
}

// A refresh token goes back with the identity that it was given to.
func TestRenewalsHaveTheIdentityOfTheLogin(t *testing.T) {
	const document = "https://app.example.com/client.json"
	known := &login.Client{Issuer: asURL, ID: "person", Secret: "secret", Method: login.MethodPost}
	for name, c := range map[string]struct {
		grant, next login.Grant
		secret, id  string
		renewals    int
	}{
		"a document":                {&login.Code{MetadataURL: document}, nil, "", document, 1},
		"a document that is gone":   {&login.Code{MetadataURL: document}, &login.Code{}, "", "", 0},
		"a client of the caller's":  {&login.Code{Client: known}, nil, "secret", "person", 1},
		"one of the program's own":  {&login.Code{}, nil, "own", "client-1", 1},
		"a program with a secret":   {&login.ClientCredentials{Client: *known}, nil, "secret", "person", 1},
		"a workload without an id":  {&login.Workload{Issuer: asURL, Statement: handed("x")}, nil, "", "", 1},
		"a workload with an id":     {&login.Workload{Issuer: asURL, ClientID: "w", Statement: handed("x")}, nil, "", "w", 1},
		"a client for other issuer": {&login.Code{Client: known}, &login.Code{Client: &login.Client{Issuer: "https://x.example.com", ID: "person"}}, "", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.auth.refresh, w.opts.Store, w.grant = true, login.Memory(), c.grant
				w.auth.edit = func(m object) { m["client_id_metadata_document_supported"] = true }
				w.auth.register = func(m object) object {
					m["client_secret"], m["token_endpoint_auth_method"] = "own", login.MethodPost
					return m
				}
				if code, ok := c.grant.(*login.Code); ok {
					code.UserAgent = login.Direct{Transport: w}
				}
				w.mustCall("tools/list")
				w.again()
				if c.next != nil {
					w.grant = c.next
				}
				time.Sleep(2 * time.Hour)
				_, _ = w.call("tools/list")
				w.wantEqual("renewals", w.refreshes(), c.renewals)
				for _, call := range w.find(http.MethodPost, asURL+"/token") {
					if call.form.Get("grant_type") == "refresh_token" {
						w.wantEqual("id", call.form.Get("client_id"), c.id)
						w.wantEqual("secret", call.form.Get("client_secret"), c.secret)
					}
				}
			})
		})
	}
}

// A caller that gives up does not take the others with it.
func TestACallerThatGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		agent := &waiting{Direct: login.Direct{Transport: w}}
		w.grant = &login.Code{UserAgent: agent}
		a := w.authorizer()
		ctx, cancel := context.WithCancel(t.Context())
		res := &http.Response{StatusCode: http.StatusUnauthorized, Header: http.Header{}}
		failed := make(chan error, 1)
		go func() {
			_, err := a.Challenge(ctx, res)
			failed <- err
		}()
		synctest.Wait()
		done := make(chan error, 1)
		go func() {
			_, err := a.Challenge(t.Context(), res)
			done <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("the first: %v", err)
		}
		if err := <-done; err != nil {
			t.Errorf("the second: %v", err)
		}
		w.wantEqual("visits", int(agent.visits.Load()), 2)
	})
}

// waiting is a user agent whose first person never answers.
type waiting struct {
	login.Direct
	visits atomic.Int32
}

func (a *waiting) Visit(ctx context.Context, prefer string, begin func(string) (string, error)) (string, error) {
	if a.visits.Add(1) == 1 {
		<-ctx.Done()
		return "", ctx.Err()
	}
	return a.Direct.Visit(ctx, prefer, begin)
}

// R061: ten seconds, and no more.
func TestASlowDocument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.hosts["auth.example.com"] = hanging{}
		w.opts.Transport = hangs{w}
		began := time.Now()
		if _, err := w.call("tools/list"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

// hanging marks a host that never answers, hangs is the way there.
type (
	hanging struct{ http.Handler }
	hangs   struct{ *world }
)

func (h hangs) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, ok := h.hosts[r.URL.Host].(hanging); ok {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	return h.world.RoundTrip(r)
}

// Nothing secret is in errors and logs, whatever goes wrong, nor in what is
// printed.
func TestSecretsStaySecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := printed(login.Client{ID: "robot", Secret: "s3cret"}, &login.ClientCredentials{Client: login.Client{Secret: "s3cret"}})
		for _, wrong := range []string{"nothing", "authorization_code", "refresh_token", "client_credentials", "urn:ietf:params:oauth:grant-type:jwt-bearer"} {
			for _, grant := range []login.Grant{
				nil,
				&login.ClientCredentials{Client: login.Client{ID: "robot", Secret: "s3cret"}},
				&login.ClientCredentials{Client: login.Client{ID: "robot", Secret: "s3cret", Method: login.MethodPost}},
				&login.Workload{Issuer: asURL, Statement: handed("id-t0ken")},
			} {
				said = append(said, misfortune(t, grant, wrong)...)
			}
		}
		for _, want := range []string{"logged in", "cannot be renewed", "because of"} {
			if !slices.ContainsFunc(said, func(text string) bool { return strings.Contains(text, want) }) {
				t.Errorf("nobody said %q", want)
			}
		}
		for _, text := range said {
			for _, s := range []string{"s3cret", "code-", "token-", "refresh-", "id-t0ken"} {
				if strings.Contains(text, s) {
					t.Errorf("%s is in %q", s, text)
				}
			}
		}
	})
}

// misfortune returns what is said while one kind of request is refused.
func misfortune(t *testing.T, grant login.Grant, wrong string) (said []string) {
	w := newWorld(t)
	w.auth.refresh = true
	if grant != nil {
		w.grant = grant
	}
	w.auth.refuse = func(form url.Values, _ http.Header) string {
		if form.Get("grant_type") == wrong {
			return "invalid_grant"
		}
		return ""
	}
	for range 3 {
		_, err := w.call("tools/list")
		if err != nil {
			said = append(said, err.Error())
		}
		var refusal *login.ServerError
		if errors.As(err, &refusal) {
			said = append(said, refusal.Description)
		}
		time.Sleep(2 * time.Hour)
	}
	return append(said, w.log.String(), w.client.String())
}

func printed(values ...any) []string {
	var all []string
	for _, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
			all = append(all, fmt.Sprintf(verb, v))
		}
	}
	return all
}
