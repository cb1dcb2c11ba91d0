package streamable_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/streamable"
)

// untouched starts a server that nobody may connect to.
func untouched(t *testing.T) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		t.Errorf("%s %s reached the other side, with %v and %s", r.Method, r.URL, r.Header, body)
	}))
	t.Cleanup(srv.Close)
	return srv
}

func TestR042RedirectsAwayAreNotFollowed(t *testing.T) {
	other := untouched(t)
	port := other.URL[strings.LastIndex(other.URL, ":"):]
	targets := []string{
		other.URL + "/mcp",
		"http://localhost" + port + "/mcp", // the same machine by another name
		"//" + strings.TrimPrefix(other.URL, "http://") + "/mcp",
		"https://127.0.0.1" + port + "/mcp",
		"http://10.0.0.1/mcp", "http://169.254.169.254/latest/meta-data",
		"file:///etc/passwd", "", "http://[bad",
	}
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, target := range targets {
			d := dialTo(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Location", target)
				w.WriteHeader(status)
			}, &streamable.DialOptions{Header: http.Header{"X-Api-Token": {"secret"}, "Authorization": {"Bearer secret"}}})
			for _, message := range []string{selfDescribed(1, "tools/call", `"name":"x",`), hello(1), notice("n")} {
				err := d.try(message)
				var redirect *streamable.RedirectError
				if !errors.As(err, &redirect) || redirect.Status != status || redirect.To != target || redirect.From != d.url {
					t.Errorf("%d to %q: %v", status, target, err)
				}
			}
		}
	}
}

func TestR042RedirectsToAnotherSchemeAreNotFollowed(t *testing.T) {
	var from string // the server's address, without its scheme
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/mcp" {
			t.Errorf("%s was reached", r.URL)
		}
		scheme := "https://"
		if r.TLS != nil {
			scheme = "http://"
		}
		w.Header().Set("Location", scheme+from+"/other")
		w.WriteHeader(http.StatusPermanentRedirect)
	})
	plain, secure := httptest.NewServer(h), httptest.NewTLSServer(h)
	defer plain.Close()
	defer secure.Close()
	for _, srv := range []*httptest.Server{plain, secure} {
		_, from, _ = strings.Cut(srv.URL, "://")
		d := dialURL(t, srv.URL+"/mcp", &streamable.DialOptions{Client: srv.Client()})
		var redirect *streamable.RedirectError
		if err := d.try(selfDescribed(1, "tools/list", "")); !errors.As(err, &redirect) {
			t.Errorf("%s: %v", srv.URL, err)
		}
	}
}

func TestR042NothingOfASessionFollowsARedirectAway(t *testing.T) {
	other := untouched(t)
	away := func(w http.ResponseWriter) {
		w.Header().Set("Location", other.URL)
		w.WriteHeader(http.StatusTemporaryRedirect)
	}
	asked := make(chan struct{}, 1)
	s := &sessionServer{
		get: func(w http.ResponseWriter, _ *http.Request) {
			away(w)
			asked <- struct{}{}
		},
		post: func(w http.ResponseWriter, r *http.Request, _ jsonrpc.Message) { away(w) },
	}
	d := dialTo(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			away(w)
			return
		}
		s.ServeHTTP(w, r)
	}, nil)
	d.greet(s)
	<-asked
	var redirect *streamable.RedirectError
	if err := d.try(plainRequest(1, "tools/list")); !errors.As(err, &redirect) {
		t.Errorf("got %v", err)
	}
	_ = d.Close()
}

func TestRedirectsWithinTheOriginAreFollowedAFewTimes(t *testing.T) {
	tests := []struct {
		status, hops int
		ok           bool
	}{
		{307, 1, true}, {308, 3, true}, {307, 4, false}, {301, 1, false}, {302, 1, false}, {303, 1, false},
	}
	for _, test := range tests {
		var s seen
		d := dialTo(t, func(w http.ResponseWriter, r *http.Request) {
			if hop := len(s.list()); hop < test.hops {
				s.note(r)
				w.Header().Set("Location", fmt.Sprintf("/mcp/%d?hop=%d", hop, hop))
				w.WriteHeader(test.status)
				return
			}
			s.answered(t)(w, r)
		}, &streamable.DialOptions{Header: http.Header{"X-Api-Token": {"k"}}})
		err := d.try(selfDescribed(1, "tools/list", ""))
		var redirect *streamable.RedirectError
		if !test.ok {
			if !errors.As(err, &redirect) {
				t.Errorf("%d, %d times: %v", test.status, test.hops, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%d, %d times: %v", test.status, test.hops, err)
			continue
		}
		all := s.list()
		last := all[len(all)-1]
		if last.method != http.MethodPost || last.body != all[0].body || last.header.Get("X-Api-Token") != "k" || last.header.Get("Mcp-Method") != "tools/list" {
			t.Errorf("%d: the redirected request is %v", test.status, last)
		}
	}
}

// guardian is an authorizer that the test plays.
type guardian struct {
	authorize func(r *http.Request) error
	challenge func(r *http.Response) (bool, error)
}

func (g *guardian) Authorize(ctx context.Context, r *http.Request) error {
	if ctx != r.Context() {
		return errors.New("the contexts differ")
	}
	return g.authorize(r)
}

func (g *guardian) Challenge(_ context.Context, r *http.Response) (bool, error) {
	return g.challenge(r)
}

func TestAnAuthorizerSignsEachAttempt(t *testing.T) {
	var proofs atomic.Int32
	token := "old"
	g := &guardian{
		authorize: func(r *http.Request) error {
			r.Header.Set("Authorization", "DPoP "+token)
			r.Header.Set("DPoP", fmt.Sprintf("%d %s %s", proofs.Add(1), r.Method, r.URL.Path))
			return nil
		},
		challenge: func(r *http.Response) (bool, error) {
			if body, _ := io.ReadAll(r.Body); string(body) != "who?" || r.Request.URL.Path != "/moved" {
				t.Errorf("challenged by %s %s", r.Request.URL, body)
			}
			token = r.Header.Get("WWW-Authenticate")
			return true, nil
		},
	}
	var s seen
	d := dialTo(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/moved":
			s.note(r)
			w.Header().Set("Location", "/moved")
			w.WriteHeader(307)
		case r.Header.Get("Authorization") != "DPoP new":
			s.note(r)
			w.Header().Set("WWW-Authenticate", "new")
			w.WriteHeader(401)
			_, _ = io.WriteString(w, "who?")
		default:
			s.answered(t)(w, r)
		}
	}, &streamable.DialOptions{Auth: g})
	d.send(selfDescribed(1, "tools/list", ""))
	d.want(emptyResult(1))
	var got []string
	for _, r := range s.list() {
		got = append(got, r.header.Get("Authorization")+": "+r.header.Get("DPoP"))
		if len(r.header["Dpop"]) != 1 || r.body == "" {
			t.Errorf("sent %v", r)
		}
	}
	if want := "DPoP old: 1 POST /mcp, DPoP old: 2 POST /moved, DPoP new: 3 POST /moved"; strings.Join(got, ", ") != want {
		t.Errorf("got %v", got)
	}
}

func TestAnAuthorizerIsAskedFourTimesAtMost(t *testing.T) {
	asked, no := 0, errors.New("the user said no")
	answer := func() (bool, error) { return true, nil }
	g := &guardian{
		authorize: func(*http.Request) error { return nil },
		challenge: func(*http.Response) (bool, error) { asked++; return answer() },
	}
	for _, status := range []int{401, 403} {
		d := dialTo(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "not you", status)
		}, &streamable.DialOptions{Auth: g})
		var wrong *streamable.HTTPError
		asked, answer = 0, func() (bool, error) { return true, nil }
		if err := d.try(hello(0)); !errors.As(err, &wrong) || wrong.Status != status || wrong.Body != "not you" || wrong.Header.Get("WWW-Authenticate") != "Bearer" || asked != 4 {
			t.Errorf("asked %d times: %v", asked, err)
		}
		asked, answer = 0, func() (bool, error) { return false, nil }
		if err := d.try(hello(0)); !errors.As(err, &wrong) || wrong.Body != "not you" || asked != 1 {
			t.Errorf("asked %d times: %v", asked, err)
		}
		asked, answer = 0, func() (bool, error) { return false, no }
		if err := d.try(hello(0)); !errors.Is(err, no) || asked != 1 {
			t.Errorf("asked %d times: %v", asked, err)
		}
	}
	g.authorize = func(*http.Request) error { return no }
	d := dialURL(t, untouched(t).URL, &streamable.DialOptions{Auth: g})
	if err := d.try(hello(0)); !errors.Is(err, no) {
		t.Errorf("got %v", err)
	}
}

func TestTheURLsUserAndAHostAndCookiesAreSent(t *testing.T) {
	var s seen
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "sticky", Value: "7"})
		if r.Host != "mcp.example" {
			t.Errorf("Host is %q", r.Host)
		}
		s.answered(t)(w, r)
	}))
	defer srv.Close()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	own := &http.Transport{}
	defer own.CloseIdleConnections()
	d := dialURL(t, strings.Replace(srv.URL, "http://", "http://me:pass@", 1)+"/mcp?key=k#part", &streamable.DialOptions{
		Header: http.Header{"host": {"mcp.example"}},
		Client: &http.Client{Transport: own, Jar: jar},
	})
	for id := range 2 {
		d.send(selfDescribed(id, "tools/list", ""))
		d.want(emptyResult(id))
	}
	all := s.list()
	if got := all[0].header.Get("Authorization"); got != "Basic bWU6cGFzcw==" {
		t.Errorf("Authorization is %q", got)
	}
	if all[0].header["Cookie"] != nil || all[1].header.Get("Cookie") != "sticky=7" {
		t.Errorf("cookies are %v and %v", all[0].header["Cookie"], all[1].header["Cookie"])
	}
	srv.Close()
	err = d.try(selfDescribed(9, "tools/list", ""))
	if err == nil { // the connection was still there
		err = d.wantLost(9)
	}
	if err == nil || strings.Contains(err.Error(), "pass") || strings.Contains(err.Error(), "key=k") {
		t.Errorf("the error shows a secret, or is none: %v", err)
	}
}

func TestDialRefusesWhatIsNoAddress(t *testing.T) {
	for _, url := range []string{"", "mcp", "ftp://x/", "http://", "file:///x", "http://user:secret@bad host/", "localhost:8080/mcp"} {
		d := streamable.Dial(url, nil)
		if _, err := d.Dial(t.Context()); err == nil || strings.Contains(err.Error()+d.String(), "secret") {
			t.Errorf("%q: %v", url, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := streamable.Dial("http://localhost/", nil).Dial(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if got := streamable.Dial("https://u:p@h:1/mcp?k=v#f", nil).String(); got != "https://h:1/mcp" {
		t.Errorf("String is %q", got)
	}
}
