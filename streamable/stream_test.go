package streamable_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/internal/sse"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/streamable"
)

func TestSessionCallThatSpeaksIsAStream(t *testing.T) {
	for _, version := range append([]string{"2024-11-05"}, sessionVersions...) {
		t.Run(version, func(t *testing.T) {
			c := open(t, newBench(), &streamable.Options{Retry: 1234 * time.Millisecond}).join(version)
			e := c.stream(http.MethodPost, callBody(1, "count", "{}"))
			if version == lastSession {
				prime := e.take()
				if !prime.HasID || prime.ID == "" || prime.Data == nil || len(prime.Data) > 0 || prime.Retry != 1234*time.Millisecond {
					t.Errorf("the stream began with %+v, want an id, empty data and a retry", prime)
				}
			}
			var ids []string
			for i := range 4 {
				event := e.take()
				if event.HasID != (version != "2024-11-05") {
					t.Errorf("event %d has an id: %v", i, event.HasID)
				}
				if event.HasID && slices.Contains(ids, event.ID) {
					t.Errorf("the id %s is used twice", event.ID)
				}
				ids = append(ids, event.ID)
				if m := parse(t, string(event.Data)); i < 3 && m.Method != "notifications/progress" || i == 3 && string(m.ID) != "1" {
					t.Errorf("event %d is %s", i, event.Data)
				}
			}
			e.ended()
		})
	}
}

func TestEarlyClose(t *testing.T) { // conformance: server-sse-polling
	b := newBench()
	c := open(t, b, nil).join(lastSession)
	e := c.stream(http.MethodPost, callBody(1, "release", "{}"))
	prime := e.take()
	e.ended()
	b.running(t)

	again := c.stream(http.MethodGet, "", "Last-Event-ID: "+prime.ID) // it waits, then gets the result
	close(b.proceed)
	if m := again.message(); string(m.ID) != "1" || !strings.Contains(string(m.Result), "waited") {
		t.Errorf("got %+v, want the result", m)
	}
	again.ended()
	if res := c.do(http.MethodGet, "Last-Event-ID: 99-0"); res.status != 400 {
		t.Errorf("a stream that never was: got %d, want 400", res.status)
	}
}

func TestEarlyCloseAndAResultThatWaits(t *testing.T) {
	b := newBench()
	c := open(t, b, nil).join(lastSession)
	e := c.stream(http.MethodPost, callBody(1, "release", "{}"))
	prime := e.take()
	e.ended()
	b.running(t)
	close(b.proceed)
	time.Sleep(20 * time.Millisecond) // the call ends while nobody listens
	for range 2 {                     // and its result can be fetched more than once, should the first time have failed
		again := c.stream(http.MethodGet, "", "Last-Event-ID: "+prime.ID)
		if m := again.message(); string(m.ID) != "1" || !strings.Contains(string(m.Result), "waited") {
			t.Errorf("got %+v, want the result", m)
		}
		again.ended()
	}
}

func TestEarlyCloseIsForRevisionsThatHaveIt(t *testing.T) {
	b := newBench()
	s := open(t, b, nil)
	close(b.proceed)
	s.join("2025-06-18").call(1, "release", "{}").wantText(t, "waited")
	s.callTool("release", "{}").wantText(t, "waited")
}

func TestBrokenStreamIsTakenUp(t *testing.T) {
	for _, version := range sessionVersions {
		t.Run(version, func(t *testing.T) {
			b := newBench()
			c := open(t, b, nil).join(version)
			e := c.stream(http.MethodPost, callBody(1, "speak", "{}"))
			var last sse.Event
			for len(last.Data) == 0 { // the priming event, if any, then progress
				last = e.take()
			}
			b.running(t)
			e.close() // the connection breaks; the call goes on

			again := c.stream(http.MethodGet, "", "Last-Event-ID: "+last.ID)
			close(b.proceed)
			if m := again.message(); string(m.ID) != "1" {
				t.Errorf("got %+v, want the result and nothing before it", m)
			}
			again.ended()
		})
	}
}

func TestResumptionReplaysTheRightStreamOnly(t *testing.T) {
	c := open(t, newBench(), nil).join("2025-06-18")
	collect := func(e *events) (all []sse.Event) {
		for event := range e.next {
			if len(event.Data) > 0 {
				all = append(all, event)
			}
		}
		return all
	}
	one := collect(c.stream(http.MethodPost, callBody(1, "count", "{}")))
	two := collect(c.stream(http.MethodPost, callBody(2, "count", "{}")))
	for i, streams := range [][]sse.Event{one, two} {
		for from := range 3 {
			got := collect(c.stream(http.MethodGet, "", "Last-Event-ID: "+streams[from].ID))
			if !slices.EqualFunc(got, streams[from+1:], func(a, b sse.Event) bool { return a.ID == b.ID && string(a.Data) == string(b.Data) }) {
				t.Errorf("stream %d after event %d: got %+v, want %+v", i+1, from, got, streams[from+1:])
			}
		}
		if res := c.do(http.MethodGet, "Last-Event-ID: "+streams[3].ID); res.status != 400 {
			t.Errorf("nothing is left: got %d, want 400, so that clients stop asking", res.status)
		}
	}
	other := open(t, newBench(), nil).join("2025-06-18")
	if res := other.do(http.MethodGet, "Last-Event-ID: "+one[0].ID); res.status != 400 {
		t.Errorf("another session's event: got %d, want 400", res.status)
	}
	for _, id := range []string{"x", "1", "1-", "-1", "01-1", "1-1-1", "18446744073709551616-1", "1 - 1"} {
		if res := c.do(http.MethodGet, "Last-Event-ID: "+id); res.status != 400 {
			t.Errorf("Last-Event-ID %q: got %d, want 400", id, res.status)
		}
	}
}

func TestOwnStreamCarriesChanges(t *testing.T) {
	b := newBench()
	c := open(t, b, nil).join(lastSession)
	addTool := func(name string) {
		b.AddTool(mcp.Tool{Name: name}, server.Func(func(context.Context, nothing) (string, error) { return "", nil }))
	}
	addTool("before") // nobody listens yet
	e := c.stream(http.MethodGet, "")
	prime := e.take()
	e.quiet()
	addTool("while")
	event := e.take()
	if m := parse(t, string(event.Data)); m.Method != "notifications/tools/list_changed" {
		t.Errorf("got %s", event.Data)
	}
	e.close()

	eventually(t, "the stream is free", func() bool { return c.site.e.Stats().Streams == 0 })
	for i := range 5 {
		addTool(fmt.Sprint("after", i))
	}
	again := c.stream(http.MethodGet, "", "Last-Event-ID: "+event.ID)
	if m := again.message(); m.Method != "notifications/tools/list_changed" {
		t.Errorf("got %+v, want what was missed", m)
	}
	again.close()
	eventually(t, "the stream is free", func() bool { return c.site.e.Stats().Streams == 0 })
	all := c.stream(http.MethodGet, "", "Last-Event-ID: "+prime.ID)
	got := all.take()
	for len(got.Data) == 0 {
		got = all.take()
	}
	if got.ID != event.ID {
		t.Errorf("from the beginning came %+v, want %s", got, event.ID)
	}
}

func TestAChangeAfterOneThatWasSeenIsToldAgain(t *testing.T) {
	b := newBench()
	c := open(t, b, nil).join(lastSession)
	e := c.stream(http.MethodGet, "")
	e.take()
	for i := range 500 { // each as soon as the one before was seen
		b.AddTool(mcp.Tool{Name: fmt.Sprint(i)}, server.Func(func(context.Context, nothing) (string, error) { return "", nil }))
		e.message()
	}
}

func TestSecondOwnStreamIsRefused(t *testing.T) { // R047
	b := newBench()
	c := open(t, b, nil).join(lastSession)
	first := c.stream(http.MethodGet, "")
	prime := first.take()
	if res := c.do(http.MethodGet); res.status != 409 {
		t.Fatalf("a second stream: got %d, want 409", res.status)
	}
	b.RemoveTool("hello")
	if m := first.message(); m.Method != "notifications/tools/list_changed" {
		t.Errorf("the first stream got %+v", m)
	}
	// Who proves to have been there takes over: his old connection is dead.
	second := c.stream(http.MethodGet, "", "Last-Event-ID: "+prime.ID)
	first.ended()
	if m := second.message(); m.Method != "notifications/tools/list_changed" {
		t.Errorf("the second stream got %+v", m)
	}
	if res := c.do(http.MethodGet, "Accept: application/json"); res.status != 406 {
		t.Errorf("GET without the right Accept: got %d, want 406", res.status)
	}
}

func TestResourceUpdatesInSessions(t *testing.T) {
	b := newBench()
	b.AddResource(mcp.Resource{URI: "test://x", Name: "x"}, func(context.Context, *mcp.Call, server.ReadRequest) ([]mcp.ResourceContents, error) {
		return nil, nil
	})
	c := open(t, b, nil).join(lastSession)
	e := c.stream(http.MethodGet, "")
	e.take()
	b.ResourceUpdated("test://x")
	e.quiet()
	c.post(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://x"}}`).wantText(t, `"result":{}`)
	b.ResourceUpdated("test://x")
	if m := e.message(); m.Method != "notifications/resources/updated" || !strings.Contains(string(m.Params), "test://x") {
		t.Errorf("got %+v", m)
	}
}

func TestQuestionsInSessions(t *testing.T) {
	for _, version := range []string{"2025-06-18", lastSession} {
		t.Run(version, func(t *testing.T) {
			c := open(t, newBench(), nil).join(version)
			e := c.stream(http.MethodPost, callBody(1, "ask", "{}"))
			question := e.message()
			if question.Method != "elicitation/create" || len(question.ID) == 0 {
				t.Fatalf("got %+v, want a question", question)
			}
			for _, foreign := range []string{`{"jsonrpc":"2.0","id":99,"result":{}}`, `{"jsonrpc":"2.0","error":{"code":1,"message":"x"}}`} {
				if res := c.post(foreign); res.status != 202 {
					t.Errorf("an answer that nobody waits for: got %d, want 202", res.status)
				}
			}
			other := c.site.join(version)
			if res := other.post(`{"jsonrpc":"2.0","id":` + string(question.ID) + `,"result":{"action":"cancel"}}`); res.status != 202 {
				t.Errorf("another session's answer: got %d, want 202", res.status)
			}
			e.quiet() // which was not for this question
			if res := c.post(`{"jsonrpc":"2.0","id":` + string(question.ID) + `,"result":{"action":"decline"}}`); res.status != 202 || res.body != "" {
				t.Errorf("the answer: got %d %q, want 202 and nothing", res.status, res.body)
			}
			if m := e.message(); !strings.Contains(string(m.Result), "the user said decline") {
				t.Errorf("got %+v, want the result", m)
			}
			e.ended()
		})
	}
}

func TestRefusedQuestionIsAnError(t *testing.T) {
	c := open(t, newBench(), nil).join(lastSession)
	e := c.stream(http.MethodPost, callBody(1, "ask", "{}"))
	question := e.message()
	c.post(`{"jsonrpc":"2.0","id":` + string(question.ID) + `,"error":{"code":-1,"message":"no"}}`)
	if m := e.message(); m.code() != -32603 {
		t.Errorf("got %+v, want an error", m)
	}
}

func TestCancelledQuestionIsTakenBack(t *testing.T) {
	c := open(t, newBench(), nil).join(lastSession)
	e := c.stream(http.MethodPost, callBody(1, "ask", "{}"))
	question := e.message()
	c.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if event, ok := <-e.next; ok { // the stream may have ended before it
		if m := parse(t, string(event.Data)); m.Method != "notifications/cancelled" || !strings.Contains(string(m.Params), string(question.ID)) {
			t.Errorf("got %+v", m)
		}
	}
	c.call(1, "hello", "{}").wantText(t, "hello")
}

func TestKeepAlive(t *testing.T) {
	b := newBench()
	s := open(t, b, &streamable.Options{KeepAlive: 5 * time.Millisecond})
	c := s.join(lastSession)
	for name, e := range map[string]*http.Request{
		"a subscription": s.request(t.Context(), http.MethodPost, listenBody, modernHeaders("subscriptions/listen", "")...),
		"a session":      s.request(t.Context(), http.MethodGet, "", "Mcp-Session-Id: "+c.id),
		"a call":         s.request(t.Context(), http.MethodPost, callBody(1, "speak", "{}"), "Mcp-Session-Id: "+c.id),
	} {
		res, err := s.client.Do(e)
		if err != nil {
			t.Fatal(err)
		}
		seen := ""
		for buf := make([]byte, 1000); strings.Count(seen, "\n:\n") < 3; {
			n, err := res.Body.Read(buf)
			if err != nil {
				t.Fatalf("%s: %v after %q", name, err, seen)
			}
			seen += string(buf[:n])
		}
		res.Body.Close()
	}
	close(b.proceed)
}

func TestFetchedLaterHasALimit(t *testing.T) {
	b := newBench()
	close(b.proceed)
	c := open(t, b, nil).join(lastSession)
	var ids []string
	for i := range 70 {
		e := c.stream(http.MethodPost, callBody(i, "release", "{}"))
		ids = append(ids, e.take().ID)
		for range e.next { // the result may come on it, if the tool is quick
		}
	}
	// However many were left behind, the newest can be fetched.
	e := c.stream(http.MethodGet, "", "Last-Event-ID: "+ids[len(ids)-1])
	if m := e.message(); !strings.Contains(string(m.Result), "waited") {
		t.Errorf("got %+v", m)
	}
}
