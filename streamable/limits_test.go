package streamable_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

func TestCallsOfASessionAreCapped(t *testing.T) {
	b := newBench()
	c := open(t, b, nil).join("2025-03-26")
	var wg sync.WaitGroup
	for batch := range 10 { // a thousand calls need not be a thousand connections
		var calls []string
		for i := range 100 {
			calls = append(calls, callBody(batch*100+i, "wait", "{}"))
		}
		wg.Go(func() {
			if all := answersOf(t, c.post("["+strings.Join(calls, ",")+"]")); len(all) != 100 {
				t.Errorf("%d of 100 were answered", len(all))
			}
		})
	}
	for range 1000 {
		b.running(t)
	}
	res := c.call(5000, "hello", "{}")
	res.wantError(t, 429, -32603, "5000")
	if res.header.Get("Retry-After") == "" {
		t.Error("it does not say when to come again")
	}
	close(b.proceed)
	wg.Wait()
	c.call(5000, "hello", "{}").wantText(t, "hello")
}

func TestWhatNobodyReadsIsBounded(t *testing.T) {
	b := newBench()
	b.AddTool(mcp.Tool{Name: "flood"}, server.CallFunc(func(ctx context.Context, c *mcp.Call, _ nothing) (string, error) {
		c.Release()
		for i := range 2000 {
			if err := c.Progress(ctx, float64(i+1), 0, ""); err != nil {
				return "", err
			}
		}
		return b.wait(ctx, c)
	}))
	c := open(t, b, nil).join(lastSession)
	e := c.stream(http.MethodPost, callBody(1, "flood", "{}"))
	last := e.take()
	for event := range e.next { // some may come before the connection is closed
		last = event
	}
	b.running(t)
	close(b.proceed)
	again := c.stream(http.MethodGet, "", "Last-Event-ID: "+last.ID)
	progress, answered := 0, false
	for event := range again.next {
		if len(event.Data) == 0 {
			continue
		}
		if m := parse(t, string(event.Data)); m.Method == "" {
			answered = true
		} else {
			progress++
		}
	}
	if !answered || progress > 1000 {
		t.Errorf("answered: %v, with %d notifications; want the answer and a thousand at most", answered, progress)
	}
}

func TestResultsThatNobodyFetchesAreBounded(t *testing.T) {
	b := newBench()
	c := open(t, b, nil).join(lastSession)
	const calls = 80
	var ids []string
	for i := range calls {
		e := c.stream(http.MethodPost, callBody(i, "release", "{}"))
		ids = append(ids, e.take().ID)
		e.ended()
		b.running(t)
		b.proceed <- struct{}{}
	}
	kept, forgotten := 0, 0
	for _, id := range ids {
		switch res := c.do(http.MethodGet, "Last-Event-ID: "+id); {
		case res.status == 200 && strings.Contains(res.body, "waited"):
			kept++
		case res.status == 400:
			forgotten++
		}
	}
	if kept < 64 || kept > 64+8 { // the last few calls may not have been over yet when the first were fetched
		t.Errorf("%d results of %d were kept, want 64", kept, calls)
	}
	if kept+forgotten != calls {
		t.Errorf("%d results were kept and %d forgotten, of %d", kept, forgotten, calls)
	}
}

func TestChangesThatNobodyReadsAreJoined(t *testing.T) {
	b := newBench()
	c := open(t, b, nil).join(lastSession)
	e := c.stream(http.MethodGet, "")
	prime := e.take()
	e.close()
	eventually(t, "the stream is free", func() bool { return c.site.e.Stats().Streams == 0 })
	for i := range 50 {
		b.AddTool(mcp.Tool{Name: fmt.Sprint(i)}, server.Func(func(context.Context, nothing) (string, error) { return "", nil }))
	}
	again := c.stream(http.MethodGet, "", "Last-Event-ID: "+prime.ID)
	if m := again.message(); m.Method != "notifications/tools/list_changed" {
		t.Errorf("got %+v", m)
	}
	time.Sleep(50 * time.Millisecond) // what was on its way when the client came back
	seen := len(again.next)
	if seen > 5 {
		t.Errorf("%d more came, want them joined", seen)
	}
}

func TestAHandlerThatPanicsAtANotification(t *testing.T) { // R017
	s := open(t, mcp.HandlerFunc(func(_ context.Context, c *mcp.Call) (any, error) {
		if c.Method == mcp.MethodSubscriptionsListen {
			panic("oh no")
		}
		return struct{}{}, nil
	}), nil)
	s.join(lastSession).call(1, "x", "{}").wantText(t, `"result"`)
	s.post(listenBody, modernHeaders("subscriptions/listen", "")...).wantError(t, 200, -32603, "1")
}

func TestAHandlerThatPanicsAtInitialize(t *testing.T) { // R017
	s := open(t, mcp.HandlerFunc(func(context.Context, *mcp.Call) (any, error) { panic("oh no") }), nil)
	s.post(fmt.Sprintf(initialize, lastSession)).wantError(t, 200, -32603, "0")
	if got := s.e.Stats().Sessions; got != 0 {
		t.Errorf("%d sessions are left", got)
	}
}
