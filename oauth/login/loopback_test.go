package login_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/oauth"
	"github.com/bossman-mcp/bossman/oauth/login"
)

// browser is a person and a browser: it opens what it is told, and does.
type browser func(ctx context.Context, page string) error

func (b browser) Open(ctx context.Context, page string) error { return b(ctx, page) }

// get fetches a page without following it, and returns status and text.
func get(t *testing.T, method, address, host string) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if host != "" {
		r.Host = host
	}
	transport := &http.Transport{DisableKeepAlives: true}
	res, err := transport.RoundTrip(r)
	if err != nil {
		return 0, err.Error(), nil
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(text), res.Header
}

// The whole way over real sockets: everything is on this machine.
func TestALoginThroughABrowser(t *testing.T) {
	var auth, server http.Handler
	forward := func(h *http.Handler) *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*h).ServeHTTP(w, r) }))
		s.Config.SetKeepAlivesEnabled(false)
		t.Cleanup(s.Close)
		return s
	}
	authAt, serverAt := forward(&auth), forward(&server)
	as := newAuthServer(authAt.URL)
	auth, server = as, newResourceServer(serverAt.URL+"/mcp", as)
	var redirect string
	agent := &login.Loopback{Browser: browser(func(_ context.Context, page string) error {
		_, _, header := get(t, http.MethodGet, page, "")
		redirect = header.Get("Location")
		status, text, header := get(t, http.MethodGet, redirect, "")
		if status != http.StatusOK || !strings.Contains(text, "close this window") || strings.Contains(text, "code-") {
			t.Errorf("%d %s", status, text)
		}
		if header.Get("Content-Security-Policy") == "" || header.Get("Cache-Control") != "no-store" || header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%v", header)
		}
		if status, _, _ := get(t, http.MethodGet, redirect, ""); status == http.StatusOK {
			t.Error("the answer was taken twice")
		}
		return nil
	})}
	a, err := login.New(serverAt.URL+"/mcp", &login.Code{UserAgent: agent}, &login.Options{Logger: newWorld(t).opts.Logger})
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	for tries := 0; ; tries++ {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, serverAt.URL+"/mcp", strings.NewReader("tools/list"))
		if err := a.Authorize(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		res, err := transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode == http.StatusOK {
			break
		}
		if again, err := a.Challenge(t.Context(), res); !again || tries > 0 {
			t.Fatalf("%v, %v", again, err)
		}
	}
	if status, text, _ := get(t, http.MethodGet, redirect, ""); status != 0 {
		t.Errorf("the port is still open: %d %s", status, text)
	}
	u, _ := url.Parse(redirect)
	if u.Hostname() != "127.0.0.1" || u.Path != "/callback" {
		t.Errorf("redirected to %s", redirect)
	}
}

// visit runs a loopback visit of a page whose state is "right". The person does
// what they are told with the redirect URI.
func visit(t *testing.T, l *login.Loopback, prefer string, person func(redirectURI string) error) (string, error) {
	t.Helper()
	var at string
	l.Browser = browser(func(context.Context, string) error { return person(at) })
	return l.Visit(t.Context(), prefer, func(redirectURI string) (string, error) {
		at = redirectURI
		return asURL + "/authorize?state=right", nil
	})
}

func TestTheReceiverTakesOnlyTheAnswer(t *testing.T) {
	query, err := visit(t, &login.Loopback{}, "", func(at string) error {
		other := strings.TrimSuffix(at, "/callback")
		for name, r := range map[string][3]string{
			"another state":      {"GET", at + "?code=x&state=wrong", ""},
			"no state":           {"GET", at + "?code=x", ""},
			"two states":         {"GET", at + "?code=x&state=right&state=right", ""},
			"another path":       {"GET", other + "/?code=x&state=right", ""},
			"a longer path":      {"GET", at + "/x?code=x&state=right", ""},
			"a disguised path":   {"GET", other + "/%63allback?code=x&state=right", ""},
			"another method":     {"POST", at + "?code=x&state=right", ""},
			"only the head":      {"HEAD", at + "?code=x&state=right", ""},
			"another host":       {"GET", at + "?code=x&state=right", "evil.example.com"},
			"a rebound host":     {"GET", at + "?code=x&state=right", "localhost"},
			"a page's icon":      {"GET", other + "/favicon.ico", ""},
			"a query that is no": {"GET", at + "?code=x&state=right&x=%zz", ""},
		} {
			status, text, _ := get(t, r[0], r[1], r[2])
			if status != http.StatusBadRequest || strings.Contains(text, "right") {
				t.Errorf("%s: %d %s", name, status, text)
			}
		}
		if status, _, _ := get(t, "GET", at+"?code=%3Cscript%3E&state=right", ""); status != http.StatusOK {
			t.Errorf("the answer: %d", status)
		}
		return nil
	})
	if err != nil || query != "code=%3Cscript%3E&state=right" {
		t.Errorf("%q, %v", query, err)
	}
}

func TestTheReceiverTriesItsFormerPort(t *testing.T) {
	answer := func(at string) error {
		get(t, "GET", at+"?state=right", "")
		return nil
	}
	var first string
	note := func(at string) error { first = at; return answer(at) }
	if _, err := visit(t, &login.Loopback{}, "", note); err != nil {
		t.Fatal(err)
	}
	again := func(at string) error {
		if at != first {
			t.Errorf("%s, want %s", at, first)
		}
		return answer(at)
	}
	if _, err := visit(t, &login.Loopback{}, first, again); err != nil {
		t.Fatal(err)
	}
	u, _ := url.Parse(first)
	taken, err := net.Listen("tcp4", u.Host)
	if err != nil {
		t.Skip("somebody else has taken the port meanwhile")
	}
	defer taken.Close()
	other := func(at string) error {
		if at == first {
			t.Error("a port that was taken")
		}
		return answer(at)
	}
	if _, err := visit(t, &login.Loopback{}, first, other); err != nil {
		t.Fatal(err)
	}
}

func TestAVisitThatEndsWithoutAnAnswer(t *testing.T) {
	lost := errors.New("no screen")
	if _, err := visit(t, &login.Loopback{}, "", func(string) error { return lost }); !errors.Is(err, lost) {
		t.Errorf("a browser that cannot be opened: %v", err)
	}
	if _, err := visit(t, &login.Loopback{Timeout: time.Millisecond}, "", func(string) error { return nil }); err == nil || !strings.Contains(err.Error(), "in time") {
		t.Errorf("a person who does not answer: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	l := &login.Loopback{Browser: browser(func(context.Context, string) error { cancel(); return nil })}
	if _, err := l.Visit(ctx, "", func(string) (string, error) { return asURL + "/authorize?state=right", nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who gives up: %v", err)
	}
	if _, err := l.Visit(t.Context(), "", func(string) (string, error) { return "", lost }); !errors.Is(err, lost) {
		t.Errorf("a request that cannot be made: %v", err)
	}
}

func TestDirectFollowsNothing(t *testing.T) {
	for name, to := range map[string]string{
		"another place":   "https://evil.example.com/callback?code=x",
		"a longer path":   "http://127.0.0.1:8976/callback/x?code=x",
		"nowhere":         "",
		"another address": "http://127.0.0.2:8976/callback?code=x",
	} {
		n := newInternet()
		n.hosts["auth.example.com"] = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if to != "" {
				w.Header().Set("Location", to)
			}
			w.WriteHeader(http.StatusFound)
		})
		_, err := login.Direct{Transport: n}.Visit(t.Context(), "", func(string) (string, error) { return asURL + "/authorize?state=s3cret", nil })
		if err == nil || strings.Contains(err.Error(), "s3cret") || len(n.calls) != 1 {
			t.Errorf("%s: %v, %d calls", name, err, len(n.calls))
		}
	}
}

// R058: the opener gets the URL as one argument, and no shell reads it. What is
// not for browsers does not get that far.
func TestTheSystemsBrowser(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("the opener of this system cannot be replaced for a test")
	}
	dir := t.TempDir()
	seen := filepath.Join(dir, "seen")
	script := "#!/bin/sh\nprintf '%s|' \"$#\" \"$@\" >'" + seen + "'\n"
	if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	for _, page := range notForBrowsers {
		if err := login.SystemBrowser().Open(t.Context(), page); !errors.Is(err, oauth.ErrAddress) {
			t.Errorf("%q: %v", page, err)
		}
	}
	if _, err := os.Stat(seen); err == nil {
		t.Fatal("the opener was started")
	}
	page := asURL + "/authorize?a=b&scope=x+y%24%28id%29"
	if err := login.SystemBrowser().Open(t.Context(), page); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(seen); err != nil || string(text) != "1|"+page+"|" {
		t.Errorf("%s, %v", text, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte("#!/bin/sh\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := login.SystemBrowser().Open(t.Context(), page); err == nil || strings.Contains(err.Error(), "scope") {
		t.Errorf("an opener that fails: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if err := login.SystemBrowser().Open(t.Context(), page); err == nil {
		t.Error("no opener, and no error")
	}
}
