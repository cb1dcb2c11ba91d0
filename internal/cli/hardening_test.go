package cli

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/oauth/resource"
)

// request sends a request with headers, given as name and value by turns.
func request(t *testing.T, method, url string, headers ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if req.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res
}

// R027, R028: no path that tells something is open to web pages.
func TestR028WebPagesReachNothing(t *testing.T) {
	url := serveHTTP(t, &httpFlags{})
	for _, path := range []string{"/mcp", "/sse", "/metrics"} {
		for _, header := range [][]string{
			{"Host", "evil.example"}, {"Host", "localhost.evil.example"}, {"Host", "127.0.0.1.evil.example"}, {"Host", "localhost."},
			{"Origin", "https://evil.example"}, {"Origin", "null"}, {"Origin", "http://127.0.0.1:1"},
		} {
			if res := request(t, http.MethodGet, url+path, header...); res.StatusCode != http.StatusForbidden {
				t.Errorf("%s with %v: %d", path, header, res.StatusCode)
			}
		}
		if res := request(t, http.MethodGet, url+path, "Host", "localhost", "Accept", "text/plain"); res.StatusCode == http.StatusForbidden {
			t.Errorf("%s for ourselves: %d", path, res.StatusCode)
		}
	}
}

// R027: a page that is listed may come, and asks first, without a key.
func TestAListedPageMayAskFirst(t *testing.T) {
	t.Setenv("BOSSMAN_API_KEYS", "alice=a-key-that-is-long-enough")
	url := serveHTTP(t, &httpFlags{origins: []string{"https://good.example"}})
	res := request(t, http.MethodOptions, url+"/mcp", "Origin", "https://good.example", "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization")
	if res.StatusCode != http.StatusNoContent || res.Header.Get("Access-Control-Allow-Origin") != "https://good.example" || res.Header.Get("Access-Control-Allow-Headers") != "authorization" {
		t.Errorf("a listed page: %d %v", res.StatusCode, res.Header)
	}
	res = request(t, http.MethodPost, url+"/mcp", "Origin", "https://good.example")
	if res.StatusCode != http.StatusUnauthorized || res.Header.Get("Access-Control-Allow-Origin") != "https://good.example" || len(res.Header["Vary"]) != 1 {
		t.Errorf("a listed page without a key: %d %v", res.StatusCode, res.Header)
	}
	res = request(t, http.MethodPost, url+"/mcp", "Origin", "https://good.example", "Authorization", "Bearer a-key-that-is-long-enough")
	if res.StatusCode == http.StatusUnauthorized || len(res.Header["Vary"]) != 1 {
		t.Errorf("a listed page with a key: %d %v", res.StatusCode, res.Header)
	}
	res = request(t, http.MethodOptions, url+"/mcp", "Origin", "https://evil.example", "Access-Control-Request-Method", "POST")
	if res.StatusCode != http.StatusForbidden || res.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("another page: %d %v", res.StatusCode, res.Header)
	}
}

// R029: no address that others can reach is served without keys.
func TestR029NoPublicAddressWithoutKeys(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.7:0", "[2001:db8::1]:0", "[::ffff:192.0.2.7]:0", "example.com:0", "localhost.example:0", "", "8181"} {
		f := &httpFlags{addr: addr, serveFlags: serveFlags{logLevel: "error", db: filepath.Join(t.TempDir(), "tasks.db")}}
		var usage *usageError
		if err := f.http(t.Context()); !errors.As(err, &usage) || !strings.Contains(err.Error(), "without API keys") {
			t.Errorf("%q: %v", addr, err)
		}
		if _, err := os.Stat(f.db); err == nil {
			t.Errorf("%q: the tasks were opened", addr)
		}
	}
	flag := newServe().Flag("http")
	if !isLoopback(flag.DefValue) {
		t.Errorf("by default it listens on %s", flag.DefValue)
	}
}

// R033: with certificates, HTTP/2 is not offered.
func TestR033HTTP2IsNotOffered(t *testing.T) {
	cert, key, _ := writeCertificate(t)
	config, err := (&httpFlags{cert: cert, key: key}).tlsConfig()
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(http.NotFoundHandler())
	srv.TLS = config
	srv.StartTLS()
	defer srv.Close()
	for _, offer := range [][]string{{"h2", "http/1.1"}, {"http/1.1", "h2"}, nil} {
		conn, err := tls.Dial("tcp", srv.Listener.Addr().String(), &tls.Config{InsecureSkipVerify: true, NextProtos: offer})
		if err != nil {
			t.Fatal(err)
		}
		if got := conn.ConnectionState().NegotiatedProtocol; got == "h2" {
			t.Errorf("%v: agreed on %s", offer, got)
		}
		_ = conn.Close()
	}
	if conn, err := tls.Dial("tcp", srv.Listener.Addr().String(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}); err == nil {
		_ = conn.Close()
		t.Error("who speaks nothing but HTTP/2 was let in")
	}
}

// R057: a key that is taken out of the file is refused within a second, in use as
// it is; a thousand guesses get 429; the file has hashes only.
func TestR057KeysOfTheServer(t *testing.T) {
	const alice, bob = "alices-key-that-is-long-enough", "bobs-key-that-is-long-enough"
	file := filepath.Join(t.TempDir(), "keys")
	write := func(lines ...string) {
		t.Helper()
		if err := errors.Join(os.WriteFile(file+".next", []byte(strings.Join(lines, "\n")), 0o600), os.Rename(file+".next", file)); err != nil {
			t.Fatal(err)
		}
	}
	line := func(name, key string) string { return name + " = " + resource.HashKey(key) }
	write(line("alice", alice), line("bob", bob))
	f := &httpFlags{keyFile: file}
	if keys, err := f.keys(slog.New(slog.DiscardHandler)); err != nil || keys == nil {
		t.Fatalf("%v, %v", keys, err)
	}
	url := serveHTTP(t, f)
	status := func(key string) int {
		code, _ := callTool(t, url, key, "list_tasks", `{}`)
		return code
	}
	if a, b := status(alice), status(bob); a != 200 || b != 200 {
		t.Fatalf("before: %d, %d", a, b)
	}
	write(line("alice", alice))
	removed := time.Now()
	for status(bob) == 200 {
		if time.Since(removed) > 5*time.Second { // the machine may be busy
			t.Fatal("a key that was taken out is still good")
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Logf("refused after %v", time.Since(removed))
	for _, key := range []string{alice[:len(alice)-1], alice[:8], alice + "x", resource.HashKey(alice), strings.ToUpper(alice)} {
		if got := status(key); got != 401 {
			t.Errorf("%s: %d", key, got)
		}
	}
	counts := make(map[int]int)
	for i := range 1000 {
		counts[status(fmt.Sprint("guess-", i))]++
	}
	if counts[429] < 980 || counts[401]+counts[429] != 1000 {
		t.Errorf("a thousand guesses: %v", counts)
	}
	if got := status(alice); got != 200 {
		t.Errorf("a key that was good before: %d", got)
	}
}
