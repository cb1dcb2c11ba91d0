package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/cobra"

	"github.com/bossman-mcp/bossman/oauth/login"
	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/streamable"
)

// club is an MCP server with a door, and the authorization server that it trusts.
type club struct {
	url    string
	logins atomic.Int32 // codes that were exchanged for a token
	client atomic.Value // who exchanged the last
}

// openClub serves until the test ends, and gives the user a home of its own.
func openClub(t *testing.T) *club {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	s := server.New("club", "1", nil)
	server.Tool(s, "hello", "Say hello", func(context.Context, struct{}) (string, error) { return "hello, member", nil })
	endpoint := streamable.Handler(s, nil)
	c := &club{}
	mux := http.NewServeMux()
	srv := httptest.NewServer(mux)
	t.Cleanup(func() {
		_ = endpoint.Shutdown(context.WithoutCancel(t.Context()))
		srv.Close()
	})
	c.url = srv.URL + "/mcp"
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer t0ken" {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+srv.URL+`/.well-known/oauth-protected-resource/mcp"`)
			http.Error(w, "members only", http.StatusUnauthorized)
			return
		}
		endpoint.ServeHTTP(w, r)
	})
	document := func(pattern string, status int, text string) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, strings.ReplaceAll(text, "HERE", srv.URL))
		})
	}
	document("GET /.well-known/oauth-protected-resource/mcp", 200, `{"resource":"HERE/mcp","authorization_servers":["HERE"]}`)
	document("GET /.well-known/oauth-authorization-server", 200, `{"issuer":"HERE","authorization_endpoint":"HERE/authorize",
		"token_endpoint":"HERE/token","registration_endpoint":"HERE/register","code_challenge_methods_supported":["S256"]}`)
	document("POST /register", 201, `{"client_id":"registered","token_endpoint_auth_method":"none"}`)
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		back := url.Values{"code": {"c0de"}, "state": {q.Get("state")}}
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		who := r.PostFormValue("client_id")
		if id, secret, ok := r.BasicAuth(); ok {
			who = id + ":" + secret
		}
		c.client.Store(who)
		c.logins.Add(1)
		_, _ = io.WriteString(w, `{"access_token":"t0ken","token_type":"Bearer"}`)
	})
	return c
}

// visitor reads what the command says, and visits the page in it as a person would.
type visitor struct {
	text bytes.Buffer
	seen bool
	done chan error
}

var page = regexp.MustCompile(`(?m)^  (http://\S+)$`)

func (v *visitor) Write(p []byte) (int, error) {
	v.text.Write(p)
	if match := page.FindStringSubmatch(v.text.String()); match != nil && !v.seen {
		v.seen = true
		go func() { // the test waits for it
			res, err := http.Get(match[1])
			if err == nil {
				_ = res.Body.Close()
				if res.StatusCode != http.StatusOK {
					err = fmt.Errorf("the page ended with %s", res.Status)
				}
			}
			v.done <- err
		}()
	}
	return len(p), nil
}

// runWithPerson runs a command line, and a person who does what it says.
func runWithPerson(t *testing.T, args ...string) (stdout string, v *visitor, err error) {
	t.Helper()
	var out bytes.Buffer
	v = &visitor{done: make(chan error, 1)}
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(v)
	root.SetContext(t.Context())
	err = root.Execute()
	if v.seen {
		if err := <-v.done; err != nil {
			t.Error(err)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	return out.String(), v, err
}

func TestAPersonLogsInOnce(t *testing.T) {
	c := openClub(t)
	for round, wantPage := range []bool{true, false} {
		out, v, err := runWithPerson(t, "call", "hello", "--no-browser", "--url", c.url)
		if err != nil || out != "hello, member\n" || v.seen != wantPage {
			t.Fatalf("round %d: %q, %v; it showed a page: %v\n%s", round, out, err, v.seen, v.text.String())
		}
	}
	if n := c.logins.Load(); n != 1 || c.client.Load() != "registered" {
		t.Errorf("%d logins, the last as %v", n, c.client.Load())
	}
	checkPrivate(t, loginFolder())

	if out, _, err := runWithPerson(t, "logout", "--url", c.url); err != nil || out != "ok\n" {
		t.Errorf("logout: %q, %v", out, err)
	}
	if _, _, err := runWithPerson(t, "ping", "--no-browser", "--url", c.url); err != nil || c.logins.Load() != 2 {
		t.Errorf("after the logout: %v, %d logins", err, c.logins.Load())
	}
}

// checkPrivate wants a folder whose files only their owner can read.
func checkPrivate(t *testing.T, folder string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil || files == 0 {
		t.Errorf("%d files in %s: %v", files, folder, err)
	}
}

func TestAConfiguredServerCanWantALogin(t *testing.T) {
	c := openClub(t)
	t.Setenv("BOSSMAN_CLIENT_SECRET", "s3cret")
	config := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(config, fmt.Appendf(nil, `{"mcpServers":{"club":{"url":%q}}}`, c.url), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _, err := runWithPerson(t, "call", "hello", "--no-browser", "--client-id", "known", "--config", config, "--server", "club")
	if err != nil || out != "hello, member\n" || c.client.Load() != "known:s3cret" {
		t.Errorf("%q, %v, as %v", out, err, c.client.Load())
	}
	if err := os.WriteFile(config, fmt.Appendf(nil, `{"mcpServers":{"club":{"url":%q,"oauth":{"clientId":"written","clientSecret":"d0wn"}}}}`, c.url), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := runWithPerson(t, "ping", "--no-browser", "--config", config, "--server", "club"); err != nil || c.client.Load() != "written:d0wn" {
		t.Errorf("%v, as %v", err, c.client.Load())
	}
	if out, _, err := runWithPerson(t, "logout", "--client-id", "known", "--config", config, "--server", "club"); err != nil || out != "ok\n" {
		t.Errorf("logout: %q, %v", out, err)
	}
}

func TestWhereNobodyIsTheLoginIsRefused(t *testing.T) {
	c := openClub(t)
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"without a terminal", nil, "--no-browser"},
		{"with a token that is wrong", []string{"--header", "Authorization: Bearer wrong"}, "401"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, v, err := runWithPerson(t, append([]string{"ping", "--url", c.url}, test.args...)...)
			if err == nil || v.seen || !strings.Contains(err.Error(), test.want) || exitCode(err) != exitError {
				t.Errorf("got %v", err)
			}
		})
	}
	if n := c.logins.Load(); n != 0 {
		t.Errorf("%d logins", n)
	}
}

// A server that anybody may run must not make us reach into private networks.
func TestLoginsInPrivateNetworksAreOffLimits(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource") {
			fmt.Fprintf(w, `{"resource":"http://%s/mcp","authorization_servers":["https://10.1.2.3"]}`, r.Host)
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer srv.Close()
	_, _, err := runWithPerson(t, "ping", "--no-browser", "--url", srv.URL+"/mcp")
	if !errors.Is(err, login.ErrBlocked) || !strings.Contains(err.Error(), "--login-network") {
		t.Errorf("got %v", err)
	}
	f := &loginFlags{}
	cmd := &cobra.Command{}
	f.bind(cmd)
	if err := cmd.ParseFlags([]string{"--login-network", "10.1.0.0/16,fd00::/8"}); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(prefixes(f.networks)); got != "[10.1.0.0/16 fd00::/8]" {
		t.Errorf("opened %s", got)
	}
}

func TestLogoutNeedsAServerOverHTTP(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	for _, args := range [][]string{{}, {"--url", "http://example.com/mcp"}, {"--url", "https://u:p@example.com/"}, {"--url", "https://example.com", "--server", "x"}} {
		if _, _, err := runWithPerson(t, append([]string{"logout"}, args...)...); exitCode(err) != exitUsage {
			t.Errorf("%v: got %v", args, err)
		}
	}
}
