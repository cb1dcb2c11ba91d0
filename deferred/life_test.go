package deferred_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/deferred"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

func TestWorkOutlivesItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		first := f.as(t, "ann")
		id := first.call("wait", "{}").ID
		first.Close()
		synctest.Wait()
		second := f.as(t, "ann")
		second.wantStatus(id, mcp.DeferredWorking)
		close(f.open)
		synctest.Wait()
		second.wantStatus(id, mcp.DeferredCompleted)
	})
}

func TestARequestThatIsCancelledLeavesNoWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &faulty{Store: deferred.NewMemory(0, 0)}
		f := newFixture(t, &deferred.Options{Store: store})
		ctx, cancel := context.WithCancel(t.Context())
		store.created = func(string) { cancel() } // the client hangs up while the handle is on its way
		_, err := f.s.Handle(ctx, &mcp.Call{
			Method: mcp.MethodCallTool, Params: jsontext.Value(`{"name":"wait"}`), Client: &mcp.Client{Capabilities: declared},
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want that the context has ended", err)
		}
		if err := f.d.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.as(t, "").wantStatus(store.last(), mcp.DeferredCancelled)
	})
}

func TestGivingUpEndsTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		ended := make(chan error, 1)
		f.s.AddTool(mcp.Tool{Name: "watch"}, f.d.Optional(server.Func(func(ctx context.Context, _ none) (string, error) {
			<-ctx.Done()
			ended <- ctx.Err()
			return "too late", nil
		})))
		u := f.as(t, "")
		id := u.call("watch", "{}").ID
		synctest.Wait()
		u.cancel(id)
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the context ended with %v", err)
		}
		synctest.Wait()
		if d := u.wantStatus(id, mcp.DeferredCancelled); d.Result != nil {
			t.Errorf("a result came after the end: %s", d.Result)
		}
	})
}

func TestWhatTheWorkSaysIsItsStatusMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		again := make(chan struct{})
		f.s.AddTool(mcp.Tool{Name: "report twice"}, f.d.Optional(server.CallFunc(func(ctx context.Context, c *mcp.Call, _ none) (string, error) {
			err := errors.Join(
				c.Log(ctx, mcp.LevelInfo, "", "begun"),
				c.Log(ctx, mcp.LevelInfo, "", map[string]int{"not": 1}),
				c.Progress(ctx, 1, 2, "half way"),
			)
			<-again
			if err := errors.Join(err, c.Progress(ctx, 2, 2, "again")); err != nil {
				return "", err
			}
			return f.wait(ctx, none{})
		})))
		u := f.as(t, "")
		id := u.call("report twice", "{}").ID
		synctest.Wait()
		if d := u.wantStatus(id, mcp.DeferredWorking); d.StatusMessage != "half way (1 of 2)" {
			t.Errorf("the message is %q", d.StatusMessage)
		}
		u.Send(listen(id))
		u.Receive()
		if line := u.Receive(); !strings.Contains(line, "half way (1 of 2)") {
			t.Errorf("subscribers hear %s", line)
		}
		time.Sleep(45 * time.Minute) // the record got more time
		again <- struct{}{}
		if line := u.Receive(); !strings.Contains(line, "again (2 of 2)") {
			t.Errorf("subscribers hear %s", line)
		}
		close(f.open)
		synctest.Wait()
		if line := u.Receive(); !strings.Contains(line, `"status":"completed"`) || !strings.Contains(line, `"text":"waited"`) {
			t.Errorf("subscribers hear %s", line)
		}
		if d := u.get(id); d.StatusMessage != "" {
			t.Errorf("the message outlived the work: %q", d.StatusMessage)
		}
	})
}

func TestResultsAreKeptForTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, &deferred.Options{TTL: time.Minute, PollInterval: 5 * time.Second})
		u := f.as(t, "")
		id, parked := u.call("wait", "{}").ID, u.call("confirm", "{}").ID
		time.Sleep(50 * time.Second)
		u.wantStatus(parked, mcp.DeferredInputRequired)
		time.Sleep(10*time.Minute + time.Second) // far longer than a result is kept, but there is work
		d := u.wantStatus(id, mcp.DeferredWorking)
		if left := d.CreatedAt.Add(time.Duration(*d.TTLMs) * time.Millisecond).Sub(time.Now()); left < 20*time.Second || d.PollIntervalMs != 5000 {
			t.Errorf("the state is kept for another %v, and to be asked for every %d ms", left, d.PollIntervalMs)
		}
		_, err := u.Request(mcp.MethodGetDeferred, &mcp.DeferredParams{ID: parked})
		wantCode(t, "a result that nobody answered", err, jsonrpc.CodeInvalidParams)
		close(f.open)
		time.Sleep(55 * time.Second)
		u.wantStatus(id, mcp.DeferredCompleted)
		time.Sleep(6 * time.Second)
		_, err = u.Request(mcp.MethodGetDeferred, &mcp.DeferredParams{ID: id})
		wantCode(t, "a result after its time", err, jsonrpc.CodeInvalidParams)
	})
}

func TestLongWorkIsKeptHoweverShortItsResultIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, &deferred.Options{TTL: time.Second})
		u := f.as(t, "")
		id := u.call("wait", "{}").ID
		for range 100 {
			time.Sleep(3 * time.Second)
			u.wantStatus(id, mcp.DeferredWorking)
		}
		close(f.open)
		synctest.Wait()
		u.wantStatus(id, mcp.DeferredCompleted)
		time.Sleep(2 * time.Second)
		_, err := u.Request(mcp.MethodGetDeferred, &mcp.DeferredParams{ID: id})
		wantCode(t, "a result after its time", err, jsonrpc.CodeInvalidParams)
	})
}

func TestResultsOfQuickWorkAreSwept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := deferred.NewMemory(0, 0)
		u := newFixture(t, &deferred.Options{Store: store, TTL: 10 * time.Second}).as(t, "")
		for range 100 {
			u.call("add", `{"a":1,"b":2}`)
			time.Sleep(10 * time.Second)
		}
		n, err := store.Sweep(t.Context(), time.Now().Add(time.Hour))
		if err != nil || n > 10 {
			t.Errorf("%d results are left, %v", n, err)
		}
	})
}

func TestTheWorkSeesTheRequestAsItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		f.s.AddTool(mcp.Tool{Name: "look"}, f.d.Optional(server.CallFunc(func(_ context.Context, c *mcp.Call, _ none) (string, error) {
			return fmt.Sprint(c.Detached, " ", c.Principal.Name, c.Principal.Scopes, " ", c.Client.Info.Name, " ", strings.Contains(string(c.Meta), `"com.example/x":1`)), nil
		})))
		u := f.as(t, "ann")
		result, err := u.Request(mcp.MethodCallTool, jsontext.Value(`{"name":"look","_meta":{"com.example/x":1}}`))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if d := u.wantStatus(u.read(result).ID, mcp.DeferredCompleted); !strings.Contains(string(d.Result), "true ann[x] mcptest true") {
			t.Errorf("the work saw %s", d.Result)
		}
	})
}

func TestResultsAreKeptForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, &deferred.Options{TTL: -1})
		u := f.as(t, "")
		d := u.call("add", `{"a":1,"b":2}`)
		if d.TTLMs != nil {
			t.Errorf("the result is kept for %d ms", *d.TTLMs)
		}
		time.Sleep(10_000 * time.Hour)
		u.wantStatus(d.ID, mcp.DeferredCompleted)
	})
}

func TestOnlySoManyAreWorkedOnAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, &deferred.Options{MaxRunning: 2, MaxWaiting: 3})
		begun := make(chan int, 10)
		f.s.AddTool(mcp.Tool{Name: "count"}, f.d.Optional(server.Func(func(ctx context.Context, in struct {
			N int `json:"n"`
		}) (string, error) {
			begun <- in.N
			return f.wait(ctx, none{})
		})))
		u := f.as(t, "")
		var ids []string
		for n := range 5 {
			ids = append(ids, u.call("count", fmt.Sprintf(`{"n":%d}`, n)).ID)
			synctest.Wait()
		}
		if len(begun) != 2 {
			t.Errorf("%d are worked on, want 2", len(begun))
		}
		result, err := u.Request(mcp.MethodCallTool, jsontext.Value(`{"name":"count","arguments":{"n":6}}`))
		if err != nil || !strings.Contains(string(result), "try again later") || !strings.Contains(string(result), `"isError":true`) {
			t.Errorf("one more: got %s, %v", result, err)
		}
		u.cancel(ids[4]) // one that waits
		synctest.Wait()
		close(f.open)
		synctest.Wait()
		if len(begun) != 4 {
			t.Errorf("%d were worked on, want 4", len(begun))
		}
		for _, id := range ids[:4] {
			u.wantStatus(id, mcp.DeferredCompleted)
		}
		u.wantStatus(ids[4], mcp.DeferredCancelled)
	})
}

func TestCloseWaitsForWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		u := f.as(t, "")
		id := u.call("wait", "{}").ID
		time.AfterFunc(time.Minute, func() { close(f.open) })
		if err := f.d.Close(t.Context()); err != nil {
			t.Errorf("close: %v", err)
		}
		u.wantStatus(id, mcp.DeferredCompleted)
		result, err := u.Request(mcp.MethodCallTool, jsontext.Value(`{"name":"wait"}`))
		if err != nil || !strings.Contains(string(result), "stopping") {
			t.Errorf("a call after the end: %s, %v", result, err)
		}
		if err := f.d.Close(t.Context()); err != nil {
			t.Errorf("close again: %v", err)
		}
	})
}

func TestCloseStopsWorkWhenItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, &deferred.Options{MaxRunning: 2})
		deaf := make(chan struct{})
		f.s.AddTool(mcp.Tool{Name: "deaf"}, f.d.Optional(server.Func(func(context.Context, none) (string, error) {
			<-deaf
			return "after all", nil
		})))
		u := f.as(t, "")
		ids := []string{u.call("wait", "{}").ID, u.call("deaf", "{}").ID}
		synctest.Wait() // both have their turn
		ids = append(ids, u.call("add", `{"a":1,"b":2}`).ID)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := f.d.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("close: %v", err)
		}
		for _, id := range ids {
			d := u.wantStatus(id, mcp.DeferredFailed)
			if d.Error.Code != jsonrpc.CodeInternalError || !strings.Contains(d.Error.Message, "stopped before the work was done") {
				t.Errorf("the error is %v", d.Error)
			}
		}
		close(deaf)
		synctest.Wait()
		u.wantStatus(ids[1], mcp.DeferredFailed)
	})
}

func TestToolsWithoutADeferrerOfTheirOwnFailClearly(t *testing.T) {
	f := newFixture(t, nil)
	other := server.New("other", "1", nil)
	server.Tool(other, "x", "", func(context.Context, none) (string, error) {
		return "", f.d.Later(&mcp.Call{Client: &mcp.Client{Capabilities: declared}})
	})
	u := (&fixture{s: other}).as(t, "")
	_, err := u.Request(mcp.MethodCallTool, jsontext.Value(`{"name":"x"}`))
	wantCode(t, "a tool on another server", err, jsonrpc.CodeInternalError)
}
