package fleet_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/fleet"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

func TestAServerThatKeepsFailingIsGivenUpUntilItHasRested(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &inMemory{handler: newWorker()}
		d.fail(errors.New("out of order"))
		f := launch(t, servers{"a": {Command: "x"}}, &fleet.Options{Dial: dialAll(d), MaxFailures: 3, Rest: time.Minute})
		if _, err := f.Call(t.Context(), "a", "add", nil); err == nil || !strings.Contains(err.Error(), `server "a": connect: dial: out of order`) {
			t.Errorf("the first failure: %v", err)
		}
		if s := get(t, f, "a").Status(); s.State != fleet.StateFailing || s.Err == nil {
			t.Errorf("after the first failure: %+v", s)
		}
		time.Sleep(30 * time.Second)
		if s := get(t, f, "a").Status(); s.State != fleet.StateDown || d.count() != 3 {
			t.Errorf("after %d attempts: %+v", d.count(), s)
		}
		began := time.Now()
		if _, err := f.Call(t.Context(), "a", "add", nil); !errors.Is(err, fleet.ErrDown) || !strings.Contains(err.Error(), "out of order") {
			t.Errorf("a call of a server that is down: %v", err)
		}
		if time.Since(began) != 0 || d.count() != 3 {
			t.Errorf("it waited %v, and dialled %d times", time.Since(began), d.count())
		}
		d.err.Store(nil)
		time.Sleep(time.Minute)
		wantSum(t, f, "a")
	})
}

func TestAServerThatDoesNotLastIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &inMemory{handler: newWorker()}
		f := launch(t, servers{"a": {Command: "x"}}, &fleet.Options{Dial: dialAll(d), MaxFailures: 4})
		for range 3 {
			wantSum(t, f, "a")
			d.crash()
			synctest.Wait()
		}
		wantSum(t, f, "a")
		time.Sleep(11 * time.Second) // and now it has lasted
		d.crash()
		synctest.Wait()
		wantSum(t, f, "a")
		for range 3 {
			d.crash()
			time.Sleep(5 * time.Second)
		}
		if s := get(t, f, "a").Status(); s.State != fleet.StateDown {
			t.Errorf("%+v", s)
		}
	})
}

// single does one thing at a time, as many servers do.
type single struct {
	next mcp.Handler
	turn sync.Mutex
}

func (s *single) Handle(ctx context.Context, c *mcp.Call) (any, error) {
	if c.Method == mcp.MethodCallTool {
		s.turn.Lock()
		defer s.turn.Unlock()
		return s.next.Handle(ctx, c)
	}
	for !s.turn.TryLock() {
		time.Sleep(time.Second)
	}
	defer s.turn.Unlock()
	return s.next.Handle(ctx, c)
}

func TestAServerAtWorkIsNotTakenForOneThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := server.New("worker", "1", nil)
		server.Tool(s, "work", "Work for half an hour", func(context.Context, struct{}) (string, error) {
			time.Sleep(30 * time.Minute)
			return "done", nil
		})
		d := &inMemory{handler: &single{next: s}}
		f := launch(t, servers{"a": {Command: "x", Timeout: time.Hour}}, &fleet.Options{Dial: dialAll(d)})
		result, err := f.Call(t.Context(), "a", "work", nil)
		if err != nil || client.TextOf(result.Content) != "done" {
			t.Fatalf("%v, %v", result, err)
		}
		if d.count() != 1 {
			t.Errorf("it was dialled %d times", d.count())
		}
	})
}

func TestReloadTouchesOnlyWhatChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dialers := make(map[string]*inMemory)
		for _, name := range []string{"same", "rules", "other", "gone", "new"} {
			dialers[name] = &inMemory{handler: newWorker()}
		}
		f := launch(t, servers{"same": {Command: "x"}, "rules": {Command: "x"}, "other": {Command: "x"}, "gone": {Command: "x"}},
			&fleet.Options{Dial: func(name string, _ fleet.ServerConfig) client.Dialer { return dialers[name] }})
		other, gone := get(t, f, "other"), get(t, f, "gone")
		if tools, failed := f.Tools(t.Context()); len(tools) != 16 || failed != nil {
			t.Fatalf("%d tools, %v", len(tools), failed)
		}
		err := f.Reload(&fleet.Config{Servers: servers{
			"same": {Command: "x"}, "rules": {Command: "x", Deny: []string{"e*"}}, "other": {Command: "y"}, "new": {Command: "x", Eager: true},
		}})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if s := get(t, f, "new").Status(); s.State != fleet.StateReady {
			t.Errorf("new: %+v", s)
		}
		if s := other.Status(); s.State != fleet.StateIdle {
			t.Errorf("other: %+v", s)
		}
		if err := other.Ping(t.Context()); err != nil {
			t.Errorf("ping other: %v", err)
		}
		if err := gone.Ping(t.Context()); !errors.Is(err, fleet.ErrUnknown) {
			t.Errorf("ping gone: %v", err)
		}
		if _, err := f.Server("sane"); !errors.Is(err, fleet.ErrUnknown) || !strings.Contains(err.Error(), `did you mean "same"?`) {
			t.Errorf("a slip: %v", err)
		}
		if tools, failed := f.Tools(t.Context()); len(tools) != 15 || failed != nil {
			t.Errorf("%d tools, %v", len(tools), failed)
		}
		for name, want := range map[string]int{"same": 1, "rules": 1, "other": 2, "gone": 1, "new": 1} {
			if got := dialers[name].count(); got != want {
				t.Errorf("%s was dialled %d times, want %d", name, got, want)
			}
		}
	})
}

func TestManyCallsOfALazyServerStartItOnce(t *testing.T) {
	d := &inMemory{handler: newWorker()}
	f := launch(t, servers{"a": {Command: "x"}}, &fleet.Options{Dial: dialAll(d)})
	var calls sync.WaitGroup
	for range 50 {
		calls.Go(func() {
			if err := get(t, f, "a").Ping(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	if d.count() != 1 {
		t.Errorf("it was dialled %d times", d.count())
	}
}

func TestSubscriptionsSurviveACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorker()
		d := &inMemory{handler: s}
		f := launch(t, servers{"a": {Command: "x"}}, &fleet.Options{Dial: dialAll(d)})
		heard := make(chan mcp.Event, 10)
		_, err := get(t, f, "a").Listen(t.Context(), mcp.SubscriptionFilter{ToolsListChanged: true}, func(e mcp.Event) { heard <- e })
		if err != nil {
			t.Fatal(err)
		}
		d.crash()
		time.Sleep(5 * time.Second)
		s.RemoveTool("env")
		for e := range heard {
			if e.Method == mcp.NotificationToolsListChanged {
				break
			}
		}
		wantSum(t, f, "a")
	})
}

// fixed is a memory that was told before.
type fixed struct {
	verdict client.Verdict
	kept    chan client.Verdict
}

func (m *fixed) Recall() (client.Verdict, bool) { return m.verdict, true }
func (m *fixed) Remember(v client.Verdict)      { m.kept <- v }

func TestTheEraIsRemembered(t *testing.T) {
	memory := &fixed{client.Verdict{Era: "handshake", Until: time.Now().Add(time.Hour)}, make(chan client.Verdict, 1)}
	var keys []string
	f := launch(t, servers{"a": {Command: "x", Args: []string{"--token=s3cret"}}}, &fleet.Options{
		Dial:   dialAll(&inMemory{handler: newWorker()}),
		Memory: func(key string) client.Memory { keys = append(keys, key); return memory },
	})
	if err := get(t, f, "a").Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := get(t, f, "a").Status(); s.Server.Stateless {
		t.Errorf("what was remembered did not count: %+v", s)
	}
	if v := <-memory.kept; v.Era != "handshake" || len(keys) != 1 || strings.Contains(keys[0], "s3cret") {
		t.Errorf("%+v by %q", v, keys)
	}
}

func TestAVerdictExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := fleet.NewMemory()
		of("a").Remember(client.Verdict{Era: "handshake", Until: time.Now().Add(time.Hour)})
		if v, ok := of("a").Recall(); !ok || v.Era != "handshake" {
			t.Errorf("%+v, %t", v, ok)
		}
		if v, ok := of("b").Recall(); ok {
			t.Errorf("another server: %+v", v)
		}
		time.Sleep(time.Hour)
		if v, ok := of("a").Recall(); ok {
			t.Errorf("after an hour: %+v", v)
		}
	})
}

func TestReloadCallsCrashesAndCloseAtOnce(t *testing.T) {
	d := &inMemory{handler: newWorker()}
	all := servers{"a": {Command: "x"}, "b": {Command: "x", Eager: true}, "c": {Command: "x"}}
	f := launch(t, all, &fleet.Options{Dial: dialAll(d), HealthEvery: time.Millisecond, Rest: time.Nanosecond, MaxFailures: 1, OnChange: func(fleet.Status) {}})
	var work sync.WaitGroup
	for i := range 4 {
		work.Go(func() {
			for range 50 {
				_, _ = f.Call(t.Context(), string(rune('a'+i)), "add", pair{1, 2}) // one of them is unknown
				f.Status()
			}
		})
	}
	work.Go(func() {
		for i := range 20 {
			changed := servers{"a": {Command: "x", Timeout: time.Duration(i+1) * time.Minute}, "b": {Command: "x", Eager: i%2 == 0}}
			if i%3 == 0 {
				changed["c"] = fleet.ServerConfig{Command: "x"}
			}
			if err := f.Reload(&fleet.Config{Servers: changed}); err != nil {
				t.Error(err)
			}
		}
	})
	work.Go(func() {
		for range 10 {
			f.Tools(t.Context())
			d.crash()
		}
	})
	work.Wait()
	if err := f.Reload(&fleet.Config{Servers: all}); err != nil {
		t.Error(err)
	}
	for name := range all {
		s := get(t, f, name)
		_ = s.Ping(t.Context()) // may be the one that learns of the crash
		if err := s.Ping(t.Context()); err != nil {
			t.Errorf("%s did not come back: %v; %+v", name, err, s.Status())
		}
	}
}
