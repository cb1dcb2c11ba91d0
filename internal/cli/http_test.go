package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/bossman-mcp/bossman/mcp/revision"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"))
}

// serveHTTP lays out a server over a store in a new file and returns its URL.
func serveHTTP(t *testing.T, f *httpFlags) string {
	t.Helper()
	f.db = filepath.Join(t.TempDir(), "tasks.db")
	quiet := slog.New(slog.DiscardHandler)
	keys, err := f.keys(quiet)
	if err != nil {
		t.Fatal(err)
	}
	store, _, err := f.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	handler, endpoint := f.handler(store, keys, quiet)
	srv := httptest.NewServer(handler)
	t.Cleanup(func() {
		_ = endpoint.Shutdown(context.Background())
		srv.Close()
		_ = store.Close()
	})
	return srv.URL
}

func get(t *testing.T, url, key string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return send(t, req, key)
}

func send(t *testing.T, req *http.Request, key string) (int, string) {
	t.Helper()
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// callTool calls a tool in the newest revision and returns status and body.
func callTool(t *testing.T, url, key, tool, arguments string) (int, string) {
	t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":{}}}}`,
		tool, arguments, revision.Newest().Name)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("MCP-Protocol-Version", revision.Newest().Name)
	req.Header.Set("Mcp-Method", "tools/call")
	req.Header.Set("Mcp-Name", tool)
	return send(t, req, key)
}

func TestTheServersPaths(t *testing.T) {
	url := serveHTTP(t, &httpFlags{})
	if code, body := get(t, url+"/healthz", ""); code != 200 || body != "ok\n" {
		t.Errorf("/healthz: %d %q", code, body)
	}
	if code, body := callTool(t, url, "", "create_task", `{"description":"over HTTP"}`); code != 200 || !strings.Contains(body, "over HTTP") {
		t.Errorf("/mcp: %d %s", code, body)
	}
	callTool(t, url, "", "get_task", `{"id":"task_none"}`)
	code, body := get(t, url+"/metrics", "")
	for _, want := range []string{
		`bossman_calls_total{method="tools/call",outcome="ok"} 1`, `bossman_calls_total{method="tools/call",outcome="error"} 1`,
		"bossman_sessions 0", "bossman_goroutines ", `bossman_info{version="` + Version + `"} 1`,
	} {
		if code != 200 || !strings.Contains(body, want) {
			t.Errorf("/metrics has no %s: %d\n%s", want, code, body)
		}
	}
	if code, _ := get(t, url+"/", ""); code != http.StatusNotFound {
		t.Errorf("/: %d", code)
	}
}

func TestKeysGuardTheServer(t *testing.T) {
	t.Setenv("BOSSMAN_API_KEYS", "alice=a key that is long enough, bob=another key, just as long")
	f := &httpFlags{}
	if _, err := f.keys(slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a pair without a name was taken")
	}
	t.Setenv("BOSSMAN_API_KEYS", "alice=a-key-that-is-long-enough,bob=another-key-just-as-long")
	url := serveHTTP(t, f)
	for key, want := range map[string]int{"": 401, "wrong": 401, "a-key-that-is-long-enough": 200, "another-key-just-as-long": 200} {
		if code, body := callTool(t, url, key, "list_tasks", `{}`); code != want {
			t.Errorf("key %q: %d %s", key, code, body)
		}
	}
	if code, _ := get(t, url+"/metrics", ""); code != 401 {
		t.Errorf("/metrics without a key: %d", code)
	}
	if code, _ := get(t, url+"/healthz", ""); code != 200 {
		t.Errorf("/healthz without a key: %d", code)
	}
}

func TestKeysFromAFile(t *testing.T) {
	var key, line bytes.Buffer
	cmd := newNewKey()
	cmd.SetArgs([]string{"alice"})
	cmd.SetOut(&line)
	cmd.SetErr(&key)
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(file, line.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	_, secret, _ := strings.Cut(strings.TrimSpace(key.String()), ": ")
	url := serveHTTP(t, &httpFlags{keyFile: file})
	if code, body := callTool(t, url, secret, "list_tasks", `{}`); code != 200 {
		t.Errorf("the new key: %d %s", code, body)
	}
	if strings.Contains(line.String(), secret) {
		t.Error("the file's line holds the key itself")
	}
}

func TestAPublicAddressNeedsKeys(t *testing.T) {
	for addr, loopback := range map[string]bool{
		"127.0.0.1:8181": true, "[::1]:80": true, "localhost:1": true, "127.9.9.9:1": true,
		"0.0.0.0:8181": false, ":8181": false, "192.0.2.7:1": false, "example.com:1": false, "localhost.example.com:1": false, "nonsense": false,
	} {
		if isLoopback(addr) != loopback {
			t.Errorf("isLoopback(%q) is %v", addr, !loopback)
		}
	}
	f := &httpFlags{addr: "0.0.0.0:0", serveFlags: serveFlags{logLevel: "error"}}
	if err := f.http(t.Context()); err == nil || !strings.Contains(err.Error(), "without API keys") {
		t.Errorf("serving everybody: %v", err)
	}
}

func TestServeStartsAndEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := &httpFlags{addr: "127.0.0.1:0", serveFlags: serveFlags{logLevel: "error", db: filepath.Join(t.TempDir(), "tasks.db")}}
	done := make(chan error, 1)
	go func() { done <- f.http(ctx) }()
	cancel()
	if err := <-done; err != nil {
		t.Errorf("serve: %v", err)
	}
}

// TestTwoServersShareAFile is the case of several agents on one machine, each
// with a bossman of its own, and nobody sees a lock.
func TestTwoServersShareAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	var urls []string
	for range 2 {
		f := &httpFlags{serveFlags: serveFlags{db: path}}
		quiet := slog.New(slog.DiscardHandler)
		store, _, err := f.open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		handler, endpoint := f.handler(store, nil, quiet)
		srv := httptest.NewServer(handler)
		t.Cleanup(func() {
			_ = endpoint.Shutdown(context.Background())
			srv.Close()
			_ = store.Close()
		})
		urls = append(urls, srv.URL)
	}
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 25 {
				code, body := callTool(t, urls[worker%2], "", "create_task", fmt.Sprintf(`{"description":"%d of %d"}`, i, worker))
				if code != 200 || strings.Contains(body, `"isError":true`) {
					t.Errorf("create: %d %s", code, body)
				}
			}
		})
	}
	wg.Wait()
	_, body := callTool(t, urls[0], "", "list_tasks", `{"limit":500}`)
	if n := strings.Count(body, `\"description\"`); n != 200 {
		t.Errorf("%d tasks, want 200", n)
	}
}
