package streamable_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/streamable"
)

// pairClient is a client of the oldest revision's two endpoints.
type pairClient struct {
	*site
	*events
	t        *testing.T
	endpoint string
}

func (s *site) openPair(t *testing.T, headers ...string) *pairClient {
	t.Helper()
	at := *s
	at.url = s.srv.URL + "/sse"
	e := at.stream(http.MethodGet, "", headers...)
	first := e.take()
	if first.Name != "endpoint" || !strings.HasPrefix(string(first.Data), "/sse?sessionId=") {
		t.Fatalf("the stream began with %s %s", first.Name, first.Data)
	}
	at.url = s.srv.URL + string(first.Data)
	return &pairClient{&at, e, t, string(first.Data)}
}

// send posts a message, whose answer comes on the stream.
func (c *pairClient) send(body string, headers ...string) {
	c.t.Helper()
	if res := c.post(body, headers...); res.status != 202 || res.body != "" {
		c.t.Fatalf("POST: got %d %q, want 202 and nothing", res.status, res.body)
	}
}

func (c *pairClient) join(version string) {
	c.t.Helper()
	c.send(fmt.Sprintf(initialize, version))
	if m := c.message(); !strings.Contains(string(m.Result), `"protocolVersion":"`+version+`"`) {
		c.t.Fatalf("initialize answered %+v", m)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func TestPairOfEndpoints(t *testing.T) {
	b := newBench()
	s := open(t, b, nil)
	c := s.openPair(t)
	c.join("2024-11-05")
	c.send(callBody(1, "hello", "{}"), "Accept:")
	event := c.take()
	if m := parse(t, string(event.Data)); event.Name != "message" || event.HasID || !strings.Contains(string(m.Result), "hello") {
		t.Errorf("got %s %s", event.Name, event.Data)
	}
	c.send(callBody(2, "count", "{}"))
	for range 3 {
		if m := c.message(); m.Method != "notifications/progress" {
			t.Errorf("got %+v, want progress", m)
		}
	}
	c.message()
	b.RemoveTool("fail")
	if m := c.message(); m.Method != "notifications/tools/list_changed" {
		t.Errorf("got %+v, want a change", m)
	}
	c.send(callBody(3, "wait", "{}"))
	b.running(t)
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
	receive(t, b.ended)
	c.send("this is not JSON")
	if m := c.message(); m.code() != -32700 {
		t.Errorf("got %+v, want a parse error", m)
	}
	if got := s.e.Stats(); got.Sessions != 1 || got.Streams != 1 {
		t.Errorf("got %+v", got)
	}
	c.close()
	eventually(t, "the session is over", func() bool { return s.e.Stats() == streamable.Stats{} })
	c.post(ping(1)).wantError(t, 404, -32600, "1")
}

func TestPairAsksOnItsStream(t *testing.T) {
	c := open(t, newBench(), nil).openPair(t)
	c.join(lastSession) // newer clients use it too
	c.send(callBody(1, "ask", "{}"))
	question := c.message()
	if question.Method != "elicitation/create" {
		t.Fatalf("got %+v, want a question", question)
	}
	c.send(`{"jsonrpc":"2.0","id":` + string(question.ID) + `,"result":{"action":"decline"}}`)
	if m := c.message(); !strings.Contains(string(m.Result), "the user said decline") {
		t.Errorf("got %+v", m)
	}
}

func TestPairNegotiates(t *testing.T) {
	c := open(t, newBench(), nil).openPair(t)
	c.send(fmt.Sprintf(initialize, newest)) // as one client does
	if m := c.message(); !strings.Contains(string(m.Result), lastSession) {
		t.Errorf("got %+v, want a revision that has a handshake", m)
	}
}

func TestPairIsGuarded(t *testing.T) {
	s := openBehind(t, newBench(), nil, principals)
	alice := s.openPair(t, "X-User: alice")
	for _, thief := range []string{"X-User: bob", "X-User:"} {
		alice.post(ping(1), thief).wantError(t, 404, -32600, "1")
	}
	alice.send(ping(1), "X-User: alice")
	if m := alice.message(); string(m.ID) != "1" {
		t.Errorf("got %+v", m)
	}
	alice.post(ping(1), "X-User: alice", "Content-Type: text/plain").wantError(t, 415, -32600, "")
	alice.post(strings.Repeat(" ", 4<<20+1), "X-User: alice").wantError(t, 413, -32600, "")
	at := *s
	at.url = s.srv.URL + "/sse"
	for _, header := range []string{"Origin: https://evil.example", "Host: evil.example"} {
		if res := at.do(http.MethodGet, "", header); res.status != 403 {
			t.Errorf("%s: got %d, want 403", header, res.status)
		}
	}
	if res := at.do(http.MethodGet, "", "Accept: application/json"); res.status != 406 {
		t.Errorf("got %d, want 406", res.status)
	}
	if res := at.do(http.MethodDelete, ""); res.status != 405 || res.header.Get("Allow") != "GET, POST" {
		t.Errorf("got %d, want 405", res.status)
	}
	at.post(ping(1)).wantError(t, 404, -32600, "1")
}

func TestPairStreamsAreCappedAndKeptAlive(t *testing.T) {
	s := open(t, newBench(), &streamable.Options{MaxStreams: 1, KeepAlive: time.Millisecond})
	c := s.openPair(t)
	at := *s
	at.url = s.srv.URL + "/sse"
	if res := at.do(http.MethodGet, ""); res.status != 503 {
		t.Errorf("got %d, want 503", res.status)
	}
	time.Sleep(20 * time.Millisecond)
	c.join("2024-11-05") // comments do no harm
}

func TestPairBehindAPrefix(t *testing.T) {
	s := openBehind(t, newBench(), nil, func(next http.Handler) http.Handler { return http.StripPrefix("/deep", next) })
	at := *s
	at.url = s.srv.URL + "/deep/sse"
	e := at.stream(http.MethodGet, "")
	if first := e.take(); !strings.HasPrefix(string(first.Data), "/deep/sse?sessionId=") {
		t.Errorf("the endpoint is %s, want the path that the client used", first.Data)
	}
}
