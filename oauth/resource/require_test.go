package resource_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/oauth"
	"github.com/bossman-mcp/bossman/oauth/resource"
)

const metadataURL = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp"

func document(t testing.TB) *resource.Document {
	t.Helper()
	d, err := resource.Metadata(&oauth.ProtectedResource{
		Resource: audience, AuthorizationServers: []string{issuerURL}, ScopesSupported: []string{"read"},
		BearerMethodsSupported: []string{"header"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// verifier is one that a user might write.
type verifier func(ctx context.Context, c resource.Credential) (*mcp.Principal, error)

func (v verifier) Verify(ctx context.Context, c resource.Credential) (*mcp.Principal, error) {
	return v(ctx, c)
}

func TestR052Challenges(t *testing.T) {
	t.Parallel()
	s := newIssuer()
	files := func(r *http.Request) []string { return strings.Fields(r.Header.Get("X-Need")) }
	hierarchy := func(have, need string) bool { return strings.HasPrefix(need, have+":") }
	refused := `error="invalid_token", error_description="The credential was refused"`
	for _, c := range []struct {
		name, token, need string
		opts              resource.Options
		status            int
		challenge         string
	}{
		{"no token", "", "", resource.Options{Metadata: document(t)}, 401,
			`Bearer resource_metadata="` + metadataURL + `"`},
		{"no token, and scopes are needed", "", "files:read files:write", resource.Options{Metadata: document(t), Scopes: files}, 401,
			`Bearer resource_metadata="` + metadataURL + `", scope="files:read files:write"`},
		{"no token, and no metadata", "", "", resource.Options{}, 401, `Bearer realm="mcp"`},
		{"a bad token", "made-up", "files:read", resource.Options{Metadata: document(t), Scopes: files}, 401,
			`Bearer resource_metadata="` + metadataURL + `", scope="files:read", ` + refused},
		{"an expired token", s.token(map[string]any{"exp": 1}), "", resource.Options{Metadata: document(t)}, 401,
			`Bearer resource_metadata="` + metadataURL + `", error="invalid_token", error_description="The access token is not valid at this time"`},
		{"one scope missing of two: all that are needed", s.token(map[string]any{"scope": "files:read"}), "files:read files:write",
			resource.Options{Metadata: document(t), Scopes: files}, 403,
			`Bearer error="insufficient_scope", scope="files:read files:write", resource_metadata="` + metadataURL + `", error_description="The request needs more scopes"`},
		{"no scopes at all", s.token(map[string]any{"scope": nil}), "files:read", resource.Options{Scopes: files}, 403,
			`Bearer error="insufficient_scope", scope="files:read", error_description="The request needs more scopes"`},
		{"the scopes needed", s.token(map[string]any{"scope": "files:write files:read x"}), "files:read files:write",
			resource.Options{Scopes: files}, 200, ""},
		{"a broader scope", s.token(map[string]any{"scope": "files"}), "files:read files:write",
			resource.Options{Scopes: files, Implies: hierarchy}, 200, ""},
		{"a broader scope of another thing", s.token(map[string]any{"scope": "file"}), "files:read",
			resource.Options{Scopes: files, Implies: hierarchy}, 403,
			`Bearer error="insufficient_scope", scope="files:read", error_description="The request needs more scopes"`},
		{"a narrower scope", s.token(map[string]any{"scope": "files:read"}), "files",
			resource.Options{Scopes: files, Implies: hierarchy}, 403,
			`Bearer error="insufficient_scope", scope="files", error_description="The request needs more scopes"`},
		{"a scope in another case", s.token(map[string]any{"scope": "Files:Read"}), "files:read", resource.Options{Scopes: files}, 403,
			`Bearer error="insufficient_scope", scope="files:read", error_description="The request needs more scopes"`},
		{"a malformed header", "a b", "", resource.Options{Metadata: document(t)}, 400,
			`Bearer error="invalid_request", error_description="malformed authorization: a space in the bearer token", resource_metadata="` + metadataURL + `"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.opts.Logger = quiet()
			guard := resource.Require(inside(t), &c.opts, s.tokens(t, nil))
			w := ask(guard, "Authorization", strings.TrimSuffix("Bearer "+c.token, " "), "X-Need", c.need)
			if got := w.Header().Get("WWW-Authenticate"); w.Code != c.status || got != c.challenge {
				t.Errorf("got %d %s\nwant %d %s", w.Code, got, c.status, c.challenge)
			}
			if c.status != 200 && w.Header().Get("Cache-Control") != "no-store" {
				t.Error("the answer may be kept")
			}
		})
	}
}

func TestR056NobodyFallsThrough(t *testing.T) {
	t.Parallel()
	refuses := verifier(func(context.Context, resource.Credential) (*mcp.Principal, error) { return nil, resource.ErrInvalid })
	wraps := verifier(func(context.Context, resource.Credential) (*mcp.Principal, error) {
		return nil, fmt.Errorf("look up: %w", resource.ErrInvalid)
	})
	fails := verifier(func(context.Context, resource.Credential) (*mcp.Principal, error) {
		return nil, errors.New("store down")
	})
	names := verifier(func(context.Context, resource.Credential) (*mcp.Principal, error) {
		return &mcp.Principal{Name: "bob"}, nil
	})
	slow := verifier(func(ctx context.Context, _ resource.Credential) (*mcp.Principal, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	null := verifier(func(context.Context, resource.Credential) (*mcp.Principal, error) { return nil, nil })
	empty := verifier(func(context.Context, resource.Credential) (*mcp.Principal, error) { return &mcp.Principal{}, nil })
	both := verifier(func(context.Context, resource.Credential) (*mcp.Principal, error) {
		return &mcp.Principal{Name: "eve"}, errors.New("half done")
	})
	expired := verifier(func(context.Context, resource.Credential) (*mcp.Principal, error) { return nil, resource.ErrExpired })
	type row = []resource.Verifier
	for _, c := range []struct {
		name   string
		row    row
		status int
	}{
		{"refused", row{refuses}, 401},
		{"refused by all", row{refuses, wraps, refuses}, 401},
		{"nil and no error", row{null}, 401},
		{"a principal without a name", row{empty}, 401},
		{"nil from all", row{null, empty, refuses}, 401},
		{"a failure", row{fails}, 503},
		{"a principal with an error", row{both}, 503},
		{"slow", row{slow}, 503},
		{"a failure before a refusal", row{fails, refuses}, 503},
		{"a failure after a refusal", row{refuses, fails}, 503},
		{"a failure before nil", row{fails, null}, 503},
		{"a failure and the end of a token", row{expired, fails}, 503},
		{"the end of a token", row{refuses, expired, refuses}, 401},
		{"known after a refusal", row{refuses, names}, 200},
		{"known after a failure", row{fails, names}, 200},
		{"known after nil", row{null, names}, 200},
		{"known after a slow one", row{slow, names}, 200},
		{"known before a failure", row{names, fails}, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				guard := resource.Require(inside(t), &resource.Options{Logger: quiet()}, c.row...)
				start := time.Now()
				if w := askBearer(guard, "made-up"); w.Code != c.status || c.status == 200 && w.Body.String() != "bob" {
					t.Errorf("got %d %s", w.Code, w.Body)
				}
				if took := time.Since(start); took > 5*time.Second {
					t.Errorf("took %v", took)
				}
				if w := ask(guard); w.Code != http.StatusUnauthorized {
					t.Errorf("without a credential: %d", w.Code)
				}
			})
		})
	}
}

func TestR056KeysAndTokensSideBySide(t *testing.T) {
	t.Parallel()
	s := newIssuer()
	guard := resource.Require(inside(t), &resource.Options{Logger: quiet(), MaxFailures: -1}, twoKeys(t), s.tokens(t, nil))
	for name, c := range map[string]struct {
		headers []string
		status  int
		who     string
	}{
		"a key":                 {[]string{"X-Api-Token", ciKey}, 200, "key:ci"},
		"a key as bearer":       {[]string{"Authorization", "Bearer " + ciKey}, 200, "key:ci"},
		"a token":               {[]string{"Authorization", "Bearer " + s.token(nil)}, 200, issuerURL + "#alice"},
		"a subject like a key":  {[]string{"Authorization", "Bearer " + s.token(map[string]any{"sub": "key:ci"})}, 200, issuerURL + "#key:ci"},
		"made up":               {[]string{"Authorization", "Bearer sk-hunter2"}, 401, ""},
		"made up in the other":  {[]string{"X-Api-Token", "sk-hunter2"}, 401, ""},
		"an expired token":      {[]string{"Authorization", "Bearer " + s.token(map[string]any{"exp": 1})}, 401, ""},
		"a key and a token":     {[]string{"X-Api-Token", ciKey, "Authorization", "Bearer " + s.token(nil)}, 400, ""},
		"a bad key and a token": {[]string{"X-Api-Token", "x", "Authorization", "Bearer " + s.token(nil)}, 400, ""},
		"neither":               {nil, 401, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if w := ask(guard, c.headers...); w.Code != c.status || c.who != "" && w.Body.String() != c.who {
				t.Errorf("got %d %s", w.Code, w.Body)
			}
		})
	}
}

func TestR056KeysOpenTheDoorWhileTheIssuerIsDown(t *testing.T) {
	t.Parallel()
	s := newIssuer()
	s.set(func(*http.Request) (*http.Response, error) { return nil, errors.New("down") })
	guard := resource.Require(inside(t), &resource.Options{Logger: quiet()}, s.tokens(t, nil), twoKeys(t))
	for token, status := range map[string]int{ciKey: 200, "made-up": 401, s.token(nil): 503} {
		if w := askBearer(guard, token); w.Code != status {
			t.Errorf("%s: %d, want %d", token, w.Code, status)
		}
	}
}

func TestR057GuessesAreSlowedDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, text := logged()
		guard := resource.Require(inside(t), &resource.Options{Logger: log}, twoKeys(t))
		from := func(address, key string) *httptest.ResponseRecorder {
			r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
			r.RemoteAddr = address
			if key != "" {
				r.Header.Set("X-Api-Token", key)
			}
			w := httptest.NewRecorder()
			guard.ServeHTTP(w, r)
			return w
		}
		from("192.0.2.1:1", aliceKey) // alice is known here
		statuses := map[int]int{}
		for i := range 3_000 { // three seconds of a thousand guesses each
			w := from(fmt.Sprintf("192.0.2.1:%d", 1000+i), fmt.Sprint("guess", i))
			statuses[w.Code]++
			if w.Code == http.StatusTooManyRequests && w.Header().Get("Retry-After") == "" {
				t.Fatal("429 without Retry-After")
			}
			time.Sleep(time.Millisecond)
		}
		if statuses[401] != 20 || statuses[429] != 2_980 {
			t.Errorf("answers: %v", statuses)
		}
		for _, c := range []struct {
			name, address, key string
			status             int
		}{
			{"the right guess, too late", "192.0.2.1:9", ciKey, 429},
			{"the same as an IPv4-mapped one", "[::ffff:192.0.2.1]:9", ciKey, 429},
			{"a key that was good before", "192.0.2.1:9", aliceKey, 200},
			{"no credential, to learn the way", "192.0.2.1:9", "", 401},
			{"a wrong key from elsewhere", "192.0.2.2:9", "wrong", 401},
			{"the right key from elsewhere", "192.0.2.2:9", ciKey, 200},
			{"a wrong key from nowhere", "", "wrong", 401},
		} {
			if w := from(c.address, c.key); w.Code != c.status {
				t.Errorf("%s: %d", c.name, w.Code)
			}
		}
		if w := from("192.0.2.1:9", "x"); w.Header().Get("Retry-After") != "57" {
			t.Errorf("Retry-After after three seconds: %s", w.Header().Get("Retry-After"))
		}
		time.Sleep(57 * time.Second)
		if w := from("192.0.2.1:9", "another guess"); w.Code != http.StatusUnauthorized {
			t.Errorf("a minute later: %d", w.Code)
		}
		if got := text.String(); strings.Contains(got, "guess1") || strings.Count(got, "too many") != 1 {
			t.Errorf("the log:\n%s", got)
		}
	})
}

func TestAnIPv6NetworkCountsAsOneAddress(t *testing.T) {
	t.Parallel()
	guard := resource.Require(inside(t), &resource.Options{Logger: quiet(), MaxFailures: 3}, twoKeys(t))
	var got []int
	for i := range 5 {
		r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
		r.RemoteAddr = fmt.Sprintf("[2001:db8:0:1:%x::1%%eth0]:1", i)
		r.Header.Set("X-Api-Token", "wrong")
		w := httptest.NewRecorder()
		guard.ServeHTTP(w, r)
		got = append(got, w.Code)
	}
	if fmt.Sprint(got) != "[401 401 401 429 429]" {
		t.Errorf("got %v", got)
	}
}

func TestFailuresAreRememberedInBoundedMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var address string
		guard := resource.Require(inside(t), &resource.Options{
			Logger: quiet(), MaxFailures: 1, Address: func(*http.Request) string { return address },
		}, twoKeys(t))
		status := func(a string) int {
			address = a
			return ask(guard, "X-Api-Token", "wrong").Code
		}
		for i := range 10_000 {
			status(fmt.Sprint(i))
			time.Sleep(time.Millisecond)
		}
		if got := status("0"); got != http.StatusTooManyRequests {
			t.Errorf("the first of 10,000 is forgotten: %d", got)
		}
		status("one more")
		if first, second := status("0"), status("2"); first != 401 || second != 429 {
			t.Errorf("the oldest makes room: %d, then %d", first, second)
		}
		long := strings.Repeat("x", 1<<20)
		status(long)
		if got := status(long[:64]); got != 429 {
			t.Errorf("a long address is kept whole: %d", got)
		}
	})
}

func TestGoodCredentialsAreRememberedInBoundedMemory(t *testing.T) {
	t.Parallel()
	good := verifier(func(_ context.Context, c resource.Credential) (*mcp.Principal, error) {
		if !strings.HasPrefix(c.Secret, "good") {
			return nil, resource.ErrInvalid
		}
		return &mcp.Principal{Name: c.Secret}, nil
	})
	guard := resource.Require(inside(t), &resource.Options{Logger: quiet(), MaxFailures: 1}, good)
	for i := range 4_097 {
		askBearer(guard, fmt.Sprint("good", i))
	}
	askBearer(guard, "bad")
	for i, status := range map[int]int{0: 429, 1: 200, 4_096: 200} {
		if w := askBearer(guard, fmt.Sprint("good", i)); w.Code != status {
			t.Errorf("credential %d: %d", i, w.Code)
		}
	}
}

func TestTheHandlerDoesNotSeeTheCredential(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Authorization", "X-Api-Token"} {
		var seen http.Header
		next := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = r.Header })
		value := ciKey
		if name == "Authorization" {
			value = "Bearer " + ciKey
		}
		r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
		r.Header.Set(name, value)
		r.Header.Set("Mcp-Method", "tools/list")
		resource.Require(next, nil, twoKeys(t)).ServeHTTP(httptest.NewRecorder(), r)
		if seen.Get(name) != "" || seen.Get("Mcp-Method") != "tools/list" {
			t.Errorf("the handler saw %v", seen)
		}
		if r.Header.Get(name) != value {
			t.Error("the caller's request was changed")
		}
	}
}

func TestSecretsDoNotReachLogsOrAnswers(t *testing.T) {
	t.Parallel()
	log, text := logged()
	const secret = "canary-0123456789"
	tells := verifier(func(_ context.Context, c resource.Credential) (*mcp.Principal, error) {
		log.Info("looking", "credential", c, "again", fmt.Sprintf("%v %+v %#v %s %q", c, c, c, c, c))
		return nil, fmt.Errorf("no row for %s", c.Secret)
	})
	s := newIssuer()
	keys, err := resource.Keys([]resource.Key{{Name: "a", Secret: secret}}, &resource.KeysOptions{Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	log.Info("configured", "key", fmt.Sprintf("%v %+v %#v", resource.Key{Name: "a", Secret: secret}, []resource.Key{{Secret: secret}}, keys))
	guard := resource.Require(inside(t), &resource.Options{Logger: log}, s.tokens(t, &resource.JWTOptions{Logger: log}), tells)
	token := s.token(map[string]any{"aud": secret, "sub": secret})
	var answers strings.Builder
	for _, headers := range [][]string{
		{"X-Api-Token", secret}, {"Authorization", "Bearer " + secret}, {"Authorization", "Bearer " + token},
		{"Authorization", "Bearer " + secret, "X-Api-Token", secret}, {"Authorization", "Bearer " + secret + " x"},
		{"X-Api-Token", secret + "\x01"},
	} {
		w := ask(guard, headers...)
		fmt.Fprint(&answers, w.Code, w.Header(), w.Body)
	}
	for name, got := range map[string]string{"the log": text.String(), "the answers": answers.String()} {
		if strings.Contains(got, "canary") || strings.Contains(got, token[:40]) {
			t.Errorf("%s:\n%s", name, got)
		}
	}
	if !strings.Contains(text.String(), "[secret]") {
		t.Errorf("the verifier's error is not in the log:\n%s", text)
	}
}

func TestRequireNeedsAVerifier(t *testing.T) {
	t.Parallel()
	for name, row := range map[string][]resource.Verifier{"none": nil, "nil": {nil}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			resource.Require(inside(t), nil, row...)
		}()
	}
}

// Whatever the headers hold, the handler is reached with a good key alone, and a
// verifier sees one printable credential or none.
func FuzzRequire(f *testing.F) {
	f.Add("Bearer "+ciKey, "")
	f.Add("", ciKey)
	f.Add("bearer  x ", " ")
	f.Add("Bearer a.b.c", "y")
	f.Add("Bearer\t"+ciKey, "\x00")
	keys := twoKeys(f)
	s := newIssuer()
	tokens := s.tokens(f, nil)
	f.Fuzz(func(t *testing.T, auth, token string) {
		watch := verifier(func(_ context.Context, c resource.Credential) (*mcp.Principal, error) {
			if c.Secret == "" || strings.TrimSpace(c.Secret) != c.Secret || strings.ContainsFunc(c.Secret, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("a verifier saw %q", c.Secret)
			}
			if !strings.Contains(auth, c.Secret) && !strings.Contains(token, c.Secret) {
				t.Errorf("nobody sent %q", c.Secret)
			}
			return nil, resource.ErrInvalid
		})
		guard := resource.Require(inside(t), &resource.Options{Logger: quiet(), MaxFailures: -1, Metadata: document(t)}, watch, tokens, keys)
		w := ask(guard, "Authorization", auth, "X-Api-Token", token)
		sent := strings.Contains(auth, ciKey) || strings.Contains(token, ciKey) || strings.Contains(auth, aliceKey) || strings.Contains(token, aliceKey)
		switch {
		case w.Code == http.StatusOK && !sent:
			t.Errorf("%q and %q opened the door", auth, token)
		case w.Code != 200 && w.Code != 400 && w.Code != 401:
			t.Errorf("%q and %q: %d", auth, token, w.Code)
		case w.Code != 200:
			if _, err := oauth.ParseChallenges(w.Header()["Www-Authenticate"]); err != nil {
				t.Errorf("%q: %v", w.Header(), err)
			}
		}
	})
}
