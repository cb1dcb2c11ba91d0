package streamable_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/streamable"
)

func TestSessionOfEachRevision(t *testing.T) {
	for _, version := range append([]string{"2024-11-05"}, sessionVersions...) {
		t.Run(version, func(t *testing.T) {
			s := open(t, newBench(), nil)
			res := s.post(fmt.Sprintf(initialize, version))
			if m := parse(t, res.body); !strings.Contains(string(m.Result), `"protocolVersion":"`+version+`"`) {
				t.Fatalf("initialize answered %s", res.body)
			}
			c := s.join(version)
			c.call(1, "hello", "{}").wantText(t, "hello")
			c.post(`{"jsonrpc":"2.0","id":2,"method":"ping"}`).wantText(t, `"result":{}`)
			c.post(`{"jsonrpc":"2.0","id":3,"method":"no/such"}`).wantError(t, 200, -32601, "3")
			c.call(4, "panic", "{}").wantError(t, 200, -32603, "4")
			if res := c.do(http.MethodDelete); res.status != 204 {
				t.Errorf("DELETE: got %d, want 204", res.status)
			}
			c.call(5, "hello", "{}").wantError(t, 404, -32600, "5")
			if res := c.do(http.MethodDelete); res.status != 404 {
				t.Errorf("a second DELETE: got %d, want 404", res.status)
			}
		})
	}
}

func TestInitializeNegotiates(t *testing.T) {
	s := open(t, newBench(), nil)
	for _, version := range []string{newest, "2099-01-01", "what"} { // a client may open with the newest one
		res := s.post(fmt.Sprintf(initialize, version))
		if res.status != 200 || !strings.Contains(res.body, `"protocolVersion":"`+lastSession+`"`) || res.header.Get("Mcp-Session-Id") == "" {
			t.Errorf("%s: got %d %s, want a session of %s", version, res.status, res.body, lastSession)
		}
	}
}

func TestVersionHeaderInSessions(t *testing.T) {
	s := open(t, newBench(), nil)
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, version := range sessionVersions {
		c := s.join(version)
		for header, want := range map[string]int{
			"": 200, version: 200, "2024-11-05": 200, // missing is fine, and so is another that we know
			"v999": 400, "2025-11-26": 400,
		} {
			if version == "2025-03-26" { // it has no such header
				want = 200
			}
			if res := c.post(ping, "MCP-Protocol-Version: "+header); res.status != want {
				t.Errorf("session of %s, header %q: got %d %s, want %d", version, header, res.status, res.body, want)
			}
		}
	}
	c := s.join(lastSession)
	if res := c.post(ping, "MCP-Protocol-Version: "+lastSession, "+MCP-Protocol-Version: 2025-06-18"); res.status != 400 {
		t.Errorf("two headers: got %d, want 400", res.status)
	}
	if res := c.do(http.MethodGet, "MCP-Protocol-Version: v999"); res.status != 400 {
		t.Errorf("GET: got %d, want 400", res.status)
	}
	for _, header := range []string{lastSession, "2024-11-05", newest} { // some clients send it already here
		if res := s.post(fmt.Sprintf(initialize, lastSession), "MCP-Protocol-Version: "+header); res.status != 200 {
			t.Errorf("initialize with %s: got %d %s", header, res.status, res.body)
		}
	}
}

func TestRequestsWithoutASession(t *testing.T) {
	s := open(t, newBench(), nil)
	tools := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	s.post(tools).wantError(t, 400, -32600, "1")
	s.post(tools, "Mcp-Session-Id: unknown").wantError(t, 404, -32600, "1")
	s.post(tools, "Mcp-Session-Id: a", "+Mcp-Session-Id: b").wantError(t, 400, -32600, "1")
	s.post(tools, "MCP-Protocol-Version: 2025-11-25").wantError(t, 400, -32600, "1")
	s.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`).wantError(t, 400, -32600, "")
	s.post(`{"jsonrpc":"2.0","id":1,"result":{}}`).wantError(t, 400, -32600, "")
	for _, accept := range []string{"*/*", "text/event-stream"} { // some look here before they initialize
		if res := s.do(http.MethodGet, "", "Accept: "+accept); res.status != 405 {
			t.Errorf("GET with Accept %s: got %d, want 405", accept, res.status)
		}
	}
	if res := s.do(http.MethodGet, "", "Mcp-Session-Id: unknown"); res.status != 404 {
		t.Errorf("GET of an unknown session: got %d, want 404", res.status)
	}
	if got := s.e.Stats().Sessions; got != 0 {
		t.Errorf("%d sessions are left", got)
	}
}

func TestRefusedOpeningsLeaveNothing(t *testing.T) { // R048
	s := open(t, newBench(), nil)
	good := fmt.Sprintf(initialize, lastSession)
	for _, tt := range []struct{ body, header string }{
		{good, "MCP-Protocol-Version: v999"},
		{good, "Content-Type: text/plain"},
		{good, "Origin: https://evil.example"},
		{`{"jsonrpc":"2.0","id":0,"method":"initialize"}`, ""},
		{`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":5}}`, ""},
		{`{"jsonrpc":"2.0","method":"initialize","params":{}}`, ""},
		{"[" + good + "]", ""},
	} {
		if res := s.post(tt.body, tt.header); res.status < 400 || res.header.Get("Mcp-Session-Id") != "" {
			t.Errorf("%s %s: got %d %s", tt.body, tt.header, res.status, res.body)
		}
	}
	if got := s.e.Stats().Sessions; got != 0 {
		t.Errorf("%d sessions are left", got)
	}
}

func TestSessionsAreCapped(t *testing.T) { // R048
	s := open(t, newBench(), &streamable.Options{MaxSessions: 3})
	first := s.join(lastSession)
	s.join(lastSession)
	s.join(lastSession)
	res := s.post(fmt.Sprintf(initialize, lastSession))
	if res.status != 503 || res.header.Get("Retry-After") == "" || res.header.Get("Mcp-Session-Id") != "" {
		t.Errorf("got %d %v, want 503 and when to come again", res.status, res.header)
	}
	first.call(1, "hello", "{}").wantText(t, "hello")
	first.do(http.MethodDelete)
	s.join(lastSession)
	if got := s.e.Stats().Sessions; got != 3 {
		t.Errorf("%d sessions are open, want 3", got)
	}
}

func TestSessionIDs(t *testing.T) { // R047
	s := open(t, newBench(), nil)
	seen := make(map[string]bool)
	for range 200 {
		res := s.post(fmt.Sprintf(initialize, lastSession), "Mcp-Session-Id: chosen-by-the-client")
		id := res.header.Get("Mcp-Session-Id")
		if len(id) < 26 || strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" || seen[id] { // 26 letters of 5 bits
			t.Fatalf("session %q is too short, odd, or not new", id)
		}
		seen[id] = true
	}
	s.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Mcp-Session-Id: chosen-by-the-client").wantError(t, 404, -32600, "1")
	c := s.join(lastSession)
	c.post(fmt.Sprintf(initialize, lastSession)).wantError(t, 200, -32600, "0") // once is enough
}

// principals takes the caller's name from a header, as authentication would.
func principals(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name := r.Header.Get("X-User"); name != "" {
			r = r.WithContext(mcp.WithPrincipal(r.Context(), &mcp.Principal{Name: name}))
		}
		next.ServeHTTP(w, r)
	})
}

func TestASessionBelongsToWhoOpenedIt(t *testing.T) { // R047
	s := openBehind(t, newBench(), nil, principals)
	alice := s.join(lastSession, "X-User: alice")
	who := callBody(1, "who", "{}")
	alice.post(who, "X-User: alice").wantText(t, "you are alice")
	for _, thief := range []string{"bob", ""} {
		alice.post(who, "X-User: "+thief).wantError(t, 404, -32600, "1")
		if res := alice.do(http.MethodGet, "X-User: "+thief); res.status != 404 {
			t.Errorf("GET by %q: got %d, want 404", thief, res.status)
		}
		if res := alice.do(http.MethodGet, "X-User: "+thief, "Last-Event-ID: 0-0"); res.status != 404 {
			t.Errorf("resumption by %q: got %d, want 404", thief, res.status)
		}
		if res := alice.do(http.MethodDelete, "X-User: "+thief); res.status != 404 {
			t.Errorf("DELETE by %q: got %d, want 404", thief, res.status)
		}
		// An initialize by somebody else opens another session.
		if res := alice.post(fmt.Sprintf(initialize, lastSession), "X-User: "+thief); res.status != 200 || res.header.Get("Mcp-Session-Id") == alice.id {
			t.Errorf("initialize by %q: got %d", thief, res.status)
		}
	}
	alice.post(who, "X-User: alice").wantText(t, "you are alice")
	nobody := s.join(lastSession)
	nobody.post(who, "X-User: alice").wantError(t, 404, -32600, "1")
	s.post(modernBody("tools/call", `"name":"who","arguments":{}`), modernHeaders("tools/call", "who", "X-User: carol")...).wantText(t, "you are carol")
}

func TestIdleSessionsAreReaped(t *testing.T) { // R048
	synctest.Test(t, func(t *testing.T) {
		l := newPipeListener()
		b := newBench()
		s := l.serve(t, b, &streamable.Options{SessionIdle: 10 * time.Minute})
		c := s.join(lastSession)
		halfOpen := s.post(fmt.Sprintf(initialize, lastSession)).header.Get("Mcp-Session-Id")
		withStream := s.join(lastSession)
		stream := withStream.stream(http.MethodGet, "")
		defer stream.close()
		busy := s.join(lastSession)
		answered := make(chan int, 1)
		go func() { // answered below; without a time limit, since the clock will leap
			res, err := s.client.Do(s.request(t.Context(), http.MethodPost, callBody(1, "wait", "{}"), "Mcp-Session-Id: "+busy.id))
			if err != nil {
				t.Error(err)
				answered <- 0
				return
			}
			res.Body.Close()
			answered <- res.StatusCode
		}()
		b.running(t)

		time.Sleep(5 * time.Minute)
		s.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Mcp-Session-Id: "+halfOpen).wantError(t, 404, -32600, "1")
		c.call(1, "hello", "{}").wantText(t, "hello") // which keeps it for another 10 minutes
		time.Sleep(9 * time.Minute)
		c.call(2, "hello", "{}").wantText(t, "hello")
		time.Sleep(14 * time.Minute)
		c.call(3, "hello", "{}").wantError(t, 404, -32600, "3")
		withStream.call(4, "hello", "{}").wantText(t, "hello")
		if got := s.e.Stats().Sessions; got != 2 {
			t.Errorf("%d sessions are open, want the one with a stream and the busy one", got)
		}
		close(b.proceed)
		if status := <-answered; status != 200 {
			t.Errorf("the busy call got %d", status)
		}
		time.Sleep(14 * time.Minute)
		if got := s.e.Stats().Sessions; got != 1 {
			t.Errorf("%d sessions are open, want the one with a stream", got)
		}
	})
}

func TestDuplicateIDInFlight(t *testing.T) { // R014
	b := newBench()
	c := open(t, b, nil).join(lastSession)
	first := make(chan response, 1)
	go func() { first <- c.call(7, "wait", "{}") }() // awaited below
	b.running(t)
	c.call(7, "hello", "{}").wantError(t, 400, -32600, "7")
	c.call(8, "hello", "{}").wantText(t, "hello")
	close(b.proceed)
	receive(t, first).wantText(t, "waited")
	c.call(7, "hello", "{}").wantText(t, "hello") // it is free again
}

func TestCancellationInSessions(t *testing.T) {
	b := newBench()
	c := open(t, b, nil).join(lastSession)
	first := make(chan response, 1)
	go func() { first <- c.call(7, "wait", "{}") }() // awaited below
	b.running(t)
	for _, params := range []string{`{"requestId":8}`, `{"requestId":"7"}`, `{}`, `{"requestId":null}`, `{"requestId":{}}`} {
		if res := c.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":` + params + `}`); res.status != 202 {
			t.Errorf("%s: got %d, want 202", params, res.status)
		}
	}
	select {
	case <-b.ended:
		t.Fatal("a cancellation of something else hit the call")
	default:
	}
	c.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	if err := receive(t, b.ended); err != context.Canceled {
		t.Errorf("the context ended with %v", err)
	}
	if res := receive(t, first); res.status != 202 || res.body != "" {
		t.Errorf("the cancelled call was answered: %d %s", res.status, res.body)
	}
	c.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`) // too late, and ignored
	c.call(7, "hello", "{}").wantText(t, "hello")
}

func TestHangUpIsNoCancellationInSessions(t *testing.T) { // R040
	b := newBench()
	s := open(t, b, nil)
	c := s.join(lastSession)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() { // ends with its context
		res, err := s.client.Do(s.request(ctx, http.MethodPost, callBody(1, "wait", "{}"), "Mcp-Session-Id: "+c.id))
		if err == nil {
			res.Body.Close()
		}
		failed <- err
	}()
	b.running(t)
	cancel()
	receive(t, failed)
	select {
	case <-b.ended:
		t.Error("the call was cancelled")
	case <-time.After(100 * time.Millisecond):
	}
	b.proceed <- struct{}{} // it is still there to take it
	c.call(2, "hello", "{}").wantText(t, "hello")
}

func TestDeleteCancelsWhatIsInFlight(t *testing.T) {
	b := newBench()
	c := open(t, b, nil).join(lastSession)
	first := make(chan response, 1)
	go func() { first <- c.call(7, "wait", "{}") }() // awaited below
	b.running(t)
	c.do(http.MethodDelete)
	if err := receive(t, b.ended); err != context.Canceled {
		t.Errorf("the context ended with %v", err)
	}
	receive(t, first).wantError(t, 404, -32600, "")
}

func TestCancelAndCompleteRace(t *testing.T) { // R040
	b := newBench()
	c := open(t, b, nil).join(lastSession)
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range 50 {
				id := worker*1000 + i
				done := make(chan response, 1)
				go func() { done <- c.call(id, "count", "{}") }() // awaited below
				c.post(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
				res := receive(t, done)
				if n := strings.Count(res.body, `"result"`); n > 1 || n == 0 && strings.Contains(res.body, `"id":`+fmt.Sprint(id)) {
					t.Errorf("call %d: %d %s", id, res.status, res.body)
				}
			}
		})
	}
	wg.Wait()
	c.call(1, "hello", "{}").wantText(t, "hello")
}
