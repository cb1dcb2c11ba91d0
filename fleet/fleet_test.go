package fleet_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/fleet"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/streamable"
)

// overHTTP serves a worker to those who know the key, until the test ends.
func overHTTP(t *testing.T, key string) string {
	t.Helper()
	endpoint := streamable.Handler(newWorker(), &streamable.Options{Logger: quiet})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Token") != key {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		endpoint.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		_ = endpoint.Shutdown(context.WithoutCancel(t.Context()))
		srv.Close()
	})
	return srv.URL
}

func wantSum(t *testing.T, f *fleet.Fleet, name string) {
	t.Helper()
	result, err := f.Call(t.Context(), name, "add", pair{2, 40})
	if err != nil {
		t.Fatalf("call %s: %v", name, err)
	}
	var got sum
	if err := json.Unmarshal(result.StructuredContent, &got); err != nil || got.Result != 42 {
		t.Fatalf("call %s: %s, %v", name, result.StructuredContent, err)
	}
}

func TestOneDeadServerDoesNotTakeTheOthersDown(t *testing.T) {
	url := overHTTP(t, "k")
	disabled := child(asWorker)
	disabled.Disabled = true
	f := launch(t, servers{
		"child":    child(asWorker),
		"web":      {URL: url, Header: map[string]string{"X-Api-Token": "k"}},
		"shut":     {URL: url},
		"dying":    child(asDying),
		"silent":   child(asSilent),
		"missing":  {Command: "no-such-program-anywhere"},
		"broken":   {Command: "x", Err: errors.New("the variable K is not set")},
		"disabled": disabled,
	}, &fleet.Options{ListTimeout: 3 * time.Second})
	began := time.Now()
	tools, failed := f.Tools(t.Context())
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("it took %v", took)
	}
	var names []string
	for _, tool := range tools {
		names = append(names, tool.Server+"."+tool.Name)
	}
	if want := "child.add child.crash child.env child.wedge web.add web.crash web.env web.wedge"; strings.Join(slices.Sorted(slices.Values(names)), " ") != want {
		t.Errorf("tools: %v", names)
	}
	said := map[string]string{
		"broken": "K is not set", "dying": "no licence found", "missing": "no-such-program-anywhere", "shut": "401", "silent": "deadline exceeded",
	}
	for _, e := range failed {
		if want := said[e.Server]; want == "" || !strings.Contains(e.Error(), want) {
			t.Errorf("%v; want %q", e, want)
		}
		delete(said, e.Server)
	}
	if len(said) > 0 {
		t.Errorf("not reported: %v", said)
	}
	states := make(map[string]fleet.State)
	for _, s := range f.Status() {
		states[s.Name] = s.State
	}
	for name, want := range map[string]fleet.State{"child": "ready", "web": "ready", "broken": "invalid", "disabled": "disabled", "silent": "starting"} {
		if states[name] != want {
			t.Errorf("%s is %s, want %s", name, states[name], want)
		}
	}
	wantSum(t, f, "child")
	wantSum(t, f, "web")
	if _, err := f.Call(t.Context(), "disabled", "add", nil); !errors.Is(err, fleet.ErrDisabled) {
		t.Errorf("disabled: %v", err)
	}
}

func TestChildrenGetOnlyTheListedEnvironment(t *testing.T) {
	t.Setenv("FLEET_TEST_SECRET", "not for children")
	c := child(asWorker)
	c.Env = map[string]string{"LISTED": "yes", "BASE": "replaced"}
	bare := launch(t, servers{"a": child(asWorker)}, nil)
	if result, err := bare.Call(t.Context(), "a", "env", nil); err != nil || strings.Contains(client.TextOf(result.Content), "FLEET_TEST_SECRET") {
		t.Errorf("with nothing listed: %v, %v", result, err)
	}
	f := launch(t, servers{"a": c}, &fleet.Options{Env: []string{"BASE=base", "ALSO=1"}})
	result, err := f.Call(t.Context(), "a", "env", nil)
	if err != nil {
		t.Fatal(err)
	}
	text := client.TextOf(result.Content)
	for _, want := range []string{"LISTED=yes", "BASE=replaced", "ALSO=1"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	for _, other := range []string{"FLEET_TEST_SECRET", "BASE=base", "PATH=" + os.Getenv("PATH")} {
		if strings.Contains(text, other) {
			t.Errorf("%s reached the child", other)
		}
	}
}

func TestToolsAreFiltered(t *testing.T) {
	c := child(asWorker)
	c.Allow, c.Deny = []string{"a*", "crash"}, []string{"crash"}
	f := launch(t, servers{"a": c}, nil)
	s := get(t, f, "a")
	tools, err := client.Collect(s.Tools(t.Context()))
	if err != nil || len(tools) != 1 || tools[0].Name != "add" {
		t.Errorf("tools: %v, %v", tools, err)
	}
	for _, name := range []string{"crash", "env", "no such"} {
		if _, err := s.CallTool(t.Context(), name, nil, nil); !errors.Is(err, fleet.ErrDenied) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.Do(t.Context(), mcp.MethodCallTool, map[string]any{"name": "crash"}, nil, nil); !errors.Is(err, fleet.ErrDenied) {
		t.Errorf("by another way: %v", err)
	}
	if status := s.Status(); status.State != fleet.StateReady || status.Restarts != 0 || status.Server.Name != "worker" {
		t.Errorf("status: %+v", status)
	}
	c.Allow, c.Deny = nil, nil
	if err := f.Reload(&fleet.Config{Servers: servers{"a": c}}); err != nil {
		t.Fatal(err)
	}
	if tools, err := client.Collect(s.Tools(t.Context())); err != nil || len(tools) != 4 {
		t.Errorf("tools after the reload: %v, %v", tools, err)
	}
}

func TestACrashedChildIsStartedAgain(t *testing.T) {
	f := launch(t, servers{"a": child(asWorker), "b": child(asWorker)}, nil)
	wantSum(t, f, "a")
	wantSum(t, f, "b")
	_, err := f.Call(t.Context(), "a", "crash", nil)
	var theirs *jsonrpc.Error
	if err == nil || errors.As(err, &theirs) || !strings.Contains(err.Error(), "exit status 4") {
		t.Errorf("crash: %v", err)
	}
	wantSum(t, f, "a")
	waitFor(t, f, "a", func(s fleet.Status) bool { return s.State == fleet.StateReady && s.Restarts == 1 })
	if s := get(t, f, "b").Status(); s.State != fleet.StateReady || s.Restarts != 0 {
		t.Errorf("the other: %+v", s)
	}
}

// waitFor waits until a server is as it should be.
func waitFor(t *testing.T, f *fleet.Fleet, name string, good func(fleet.Status) bool) {
	t.Helper()
	s := get(t, f, name)
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if good(s.Status()) {
			return
		}
	}
	t.Fatalf("%s stays %+v", name, s.Status())
}

func TestAChildThatHangsIsReplaced(t *testing.T) {
	f := launch(t, servers{"a": child(asWorker)}, &fleet.Options{HealthEvery: 50 * time.Millisecond, HealthTimeout: 500 * time.Millisecond})
	if _, err := f.Call(t.Context(), "a", "wedge", nil); err != nil {
		t.Fatal(err)
	}
	waitFor(t, f, "a", func(s fleet.Status) bool { return s.Restarts >= 1 && s.State == fleet.StateReady })
	wantSum(t, f, "a")
}

func TestEagerServersStartByThemselves(t *testing.T) {
	eager := child(asWorker)
	eager.Eager = true
	states := make(chan fleet.Status, 100)
	f := launch(t, servers{"eager": eager, "lazy": child(asWorker)}, &fleet.Options{OnChange: func(s fleet.Status) { states <- s }})
	for _, want := range []fleet.State{fleet.StateStarting, fleet.StateReady} {
		if s := <-states; s.Name != "eager" || s.State != want {
			t.Fatalf("%+v, want %s", s, want)
		}
	}
	if s := get(t, f, "lazy").Status(); s.State != fleet.StateIdle {
		t.Errorf("lazy: %+v", s)
	}
}

func TestCloseIsBoundedAndForAllAtOnce(t *testing.T) {
	all := make(servers)
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		c := child(asSilent)
		c.Eager = true
		all[name] = c
	}
	f := fleet.New(&fleet.Config{Servers: all}, &fleet.Options{Logger: quiet})
	done := make(chan error, 1)
	go func() {
		_, err := f.Call(t.Context(), "a", "add", nil)
		done <- err
	}()
	began := time.Now()
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 6*time.Second {
		t.Errorf("it took %v", took)
	}
	if err := <-done; err == nil {
		t.Error("a call of a server that never answered succeeded")
	}
	if _, err := f.Call(t.Context(), "a", "add", nil); !errors.Is(err, fleet.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
	if err := errors.Join(f.Close(), f.Close()); err != nil {
		t.Errorf("again: %v", err)
	}
	if err := f.Reload(nil); !errors.Is(err, fleet.ErrClosed) {
		t.Errorf("reload after the end: %v", err)
	}
}
