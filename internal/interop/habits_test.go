package interop_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The tests of this file play what published clients were seen to do on the wire,
// right or wrong. Each is named for those that do it.

// speakers are the ways to hold a session with a new bossman.
var speakers = []struct {
	name string
	dial func(t *testing.T) speaker
}{
	{"stdio", func(t *testing.T) speaker { return start(t, program(t)) }},
	{"HTTP", func(t *testing.T) speaker { return dial(t, serveHTTP(t)) }},
	{"SSE", func(t *testing.T) speaker { return dialPair(t, serveHTTP(t)) }},
}

func TestHabitOfOpeningWithAnyRevision(t *testing.T) {
	for _, tc := range []struct{ client, offers, agreed string }{
		{"Copilot offers the newest in a handshake", newest, "2025-11-25"},
		{"Gemini offers the third", "2025-06-18", "2025-06-18"},
		{"Cline offers the oldest", "2024-11-05", "2024-11-05"},
		{"somebody offers one that is yet to come", "2031-01-01", "2025-11-25"},
	} {
		for _, by := range speakers {
			t.Run(tc.client+" over "+by.name, func(t *testing.T) {
				s := by.dial(t)
				if got := greet(t, s, tc.offers, "habit"); got != tc.agreed {
					t.Errorf("agreed on %s, want %s", got, tc.agreed)
				}
				use(t, s)
			})
		}
	}
}

func TestHabitOfGeminiToLeaveOutTheVersionHeader(t *testing.T) {
	w := dial(t, serveHTTP(t))
	greet(t, w, "2025-06-18", "gemini-cli")
	use(t, w)
	w.open(http.MethodGet, "/mcp", "", append(w.headers, "Accept: text/event-stream")...).hangUp()
	use(t, w)
	if r := w.send(http.MethodDelete, "/mcp", "", w.headers...); r.status/100 != 2 {
		t.Errorf("DELETE: %d %s", r.status, r.body)
	}
}

func TestHabitOfProbingFirst(t *testing.T) {
	probe := modern(1, "server/discover", "")
	served := func(t *testing.T, m message) {
		t.Helper()
		// Some take any result for the newest era: it must be the truth.
		if m.Error != nil || !slices.Contains(m.Result.SupportedVersions, newest) {
			t.Errorf("server/discover: %s", m.text)
		}
	}
	for _, by := range speakers {
		t.Run("then to shake hands, over "+by.name, func(t *testing.T) {
			s := by.dial(t)
			if w, ok := s.(*web); ok {
				r := w.modern(1, "server/discover", "")
				served(t, r.message(t))
				if r.status != http.StatusOK || r.header.Get("Mcp-Session-Id") != "" {
					t.Errorf("status %d, session %q", r.status, r.header.Get("Mcp-Session-Id"))
				}
			} else {
				served(t, s.ask(probe))
			}
			if got := greet(t, s, "2025-11-25", "claude-code"); got != "2025-11-25" {
				t.Errorf("agreed on %s", got)
			}
			use(t, s)
		})
	}
	t.Run("then to go on without a handshake, over stdio", func(t *testing.T) {
		c := start(t, program(t))
		served(t, c.ask(probe))
		if m := c.ask(modern(2, "tools/list", "")); len(m.Result.Tools) == 0 {
			t.Errorf("tools/list: %s", m.text)
		}
		if m := c.ask(modern(3, "tools/call", createTask)); m.Error != nil || m.Result.IsError {
			t.Errorf("tools/call: %s", m.text)
		}
	})
	t.Run("then to go on without a handshake, over HTTP", func(t *testing.T) {
		w := dial(t, serveHTTP(t))
		first := w.modern(1, "server/discover", "")
		served(t, first.message(t))
		list := w.modern(2, "tools/list", "")
		if m := list.message(t); len(m.Result.Tools) == 0 {
			t.Errorf("tools/list: %s", m.text)
		}
		call := w.modern(3, "tools/call", createTask)
		if m := call.message(t); m.Error != nil || m.Result.IsError {
			t.Errorf("tools/call: %s", m.text)
		}
	})
}

func TestHabitOfProbingWithARevisionThatIsYetToCome(t *testing.T) {
	probe := modernIn("2031-01-01", 1, "server/discover", "")
	refused := func(t *testing.T, m message) {
		t.Helper()
		if m.code() != -32022 || string(m.ID) != "1" || !strings.Contains(string(m.Error.Data), newest) {
			t.Errorf("got %s", m.text)
		}
	}
	t.Run("over stdio", func(t *testing.T) {
		c := start(t, program(t))
		refused(t, c.ask(probe))
		greet(t, c, "2025-11-25", "habit")
		use(t, c)
	})
	t.Run("over HTTP", func(t *testing.T) {
		w := dial(t, serveHTTP(t))
		r := w.send(http.MethodPost, "/mcp", probe, "Mcp-Protocol-Version: 2031-01-01", "Mcp-Method: server/discover")
		refused(t, r.message(t))
		if r.status != http.StatusBadRequest {
			t.Errorf("status %d", r.status)
		}
		greet(t, w, "2025-11-25", "habit")
		use(t, w)
	})
}

// listen is the params of a subscription to everything.
const listen = `"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true}`

const acknowledged = "notifications/subscriptions/acknowledged"

func TestHabitOfListeningDuringAllOtherCallsOverStdio(t *testing.T) {
	c := start(t, program(t))
	c.ask(modern(1, "server/discover", ""))
	if m := c.ask(modern(2, "subscriptions/listen", listen)); m.Method != acknowledged {
		t.Fatalf("subscriptions/listen: %s", m.text)
	}
	for id := 3; id < 8; id++ {
		if m := c.ask(modern(id, "tools/call", createTask)); string(m.ID) != fmt.Sprint(id) || m.Error != nil {
			t.Errorf("call %d: %s", id, m.text)
		}
	}
	c.tell(notification("notifications/cancelled", `"requestId":2`))
	if m := c.ask(modern(9, "tools/list", "")); string(m.ID) != "9" {
		t.Errorf("after the cancellation: %s", m.text)
	}
}

func TestHabitOfClosingTheInputWhileListening(t *testing.T) {
	c := start(t, program(t))
	if m := c.ask(modern(2, "subscriptions/listen", listen)); m.Method != acknowledged {
		t.Fatalf("subscriptions/listen: %s", m.text)
	}
	if err := c.in.Close(); err != nil {
		t.Fatal(err)
	}
	if m := c.next(); string(m.ID) != "2" || m.Error != nil {
		t.Errorf("the last word: %s", m.text)
	}
}

func TestHabitOfListeningDuringAllOtherCallsOverHTTP(t *testing.T) {
	w := dial(t, serveHTTP(t))
	w.modern(1, "server/discover", "")
	s := w.open(http.MethodPost, "/mcp", modern(2, "subscriptions/listen", listen), routing("subscriptions/listen", "")...)
	if m := s.next(); m.Method != acknowledged {
		t.Fatalf("subscriptions/listen: %s", m.text)
	}
	for id := 3; id < 8; id++ {
		r := w.modern(id, "tools/call", createTask)
		if m := r.message(t); string(m.ID) != fmt.Sprint(id) || m.Error != nil {
			t.Errorf("call %d: %s", id, m.text)
		}
	}
	s.stillOpen()
	if !w.measures("bossman_streams 1") {
		t.Error("the stream is not open any more")
	}
	s.hangUp()
	for begin := time.Now(); !w.measures("bossman_streams 0"); {
		if time.Since(begin) > patience {
			t.Fatal("the stream outlives its client")
		}
	}
}

// measures reports whether a line is among bossman's figures.
func (w *web) measures(line string) bool {
	w.t.Helper()
	r := w.send(http.MethodGet, "/metrics", "")
	return strings.Contains(r.body, "\n"+line+"\n")
}

func TestHabitOfStartingAServerForTheProbeOnly(t *testing.T) {
	for name, stop := range map[string]func(*child){"closed": (*child).end, "killed": (*child).kill, "left running": func(*child) {}} {
		t.Run("which is then "+name, func(t *testing.T) {
			server := program(t)
			first := start(t, server)
			if m := first.ask(modern(1, "server/discover", "")); m.Error != nil {
				t.Fatalf("server/discover: %s", m.text)
			}
			stop(first)
			second := start(t, server)
			greet(t, second, "2025-11-25", "typescript")
			m := second.ask(request(1, "tools/call", `"name":"list_tasks","arguments":{}`))
			if m.Error != nil || string(m.Result.StructuredContent) != `{"tasks":[]}` {
				t.Errorf("the probe left something behind: %s", m.text)
			}
			use(t, second)
			if extra, err := filepath.Glob(filepath.Join(filepath.Dir(server), "*")); err != nil || len(extra) > 4 {
				t.Errorf("more files than the script and the database's three: %v %v", extra, err)
			}
		})
	}
}

func TestHabitsOfTheAISDK(t *testing.T) {
	url := serveHTTP(t)
	t.Run("the stream before the handshake", func(t *testing.T) {
		r := dial(t, url).send(http.MethodGet, "/mcp", "", "Accept: text/event-stream", "Mcp-Protocol-Version: 2025-11-25")
		if r.status != http.StatusBadRequest && r.status != http.StatusMethodNotAllowed {
			t.Errorf("status %d %s", r.status, r.body)
		}
	})
	for _, revision := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", newest} {
		t.Run("the version header on initialize, "+revision, func(t *testing.T) {
			w := dial(t, url)
			r := w.send(http.MethodPost, "/mcp", initialize(revision, "ai-sdk"), "Mcp-Protocol-Version: "+revision)
			m := r.message(t)
			if r.status != http.StatusOK || m.Error != nil {
				t.Fatalf("%d %s", r.status, r.body)
			}
			w.headers = []string{"Mcp-Session-Id: " + r.header.Get("Mcp-Session-Id"), "Mcp-Protocol-Version: " + m.Result.ProtocolVersion}
			w.tell(notification("notifications/initialized", ""))
			use(t, w)
		})
	}
}

func TestHabitsOfCodex(t *testing.T) {
	url := serveHTTP(t)
	w := dial(t, url)
	for _, headers := range [][]string{nil, {"X-Api-Token:"}} {
		r := w.send(http.MethodGet, "/mcp", "", append(headers, "Accept: */*")...)
		if r.status/100 != 4 {
			t.Errorf("GET without a session: %d %s", r.status, r.body)
		}
		for _, path := range []string{
			"/.well-known/oauth-protected-resource/mcp",
			"/.well-known/oauth-protected-resource",
			"/.well-known/oauth-authorization-server/mcp",
			"/mcp/.well-known/oauth-authorization-server",
			"/.well-known/oauth-authorization-server",
			"/.well-known/openid-configuration/mcp",
			"/.well-known/openid-configuration",
		} {
			if r := w.send(http.MethodGet, path, "", append(headers, "Mcp-Protocol-Version: 2024-11-05", "Accept: */*")...); r.status/100 != 4 {
				t.Errorf("GET %s: %d %s", path, r.status, r.body)
			}
		}
	}
	var last []string
	for range 2 {
		w := dial(t, url)
		greet(t, w, "2025-06-18", "codex-mcp-client")
		if slices.Equal(w.headers, last) {
			t.Error("two sessions have one id")
		}
		last = w.headers
		use(t, w)
		if r := w.send(http.MethodDelete, "/mcp", "", w.headers...); r.status/100 != 2 {
			t.Errorf("DELETE: %d %s", r.status, r.body)
		}
		if r := w.send(http.MethodPost, "/mcp", request(1, "tools/list", ""), w.headers...); r.status != http.StatusNotFound {
			t.Errorf("after DELETE: %d %s", r.status, r.body)
		}
	}
}

func TestHabitOfAcceptingInAnotherOrder(t *testing.T) {
	w := dial(t, serveHTTP(t))
	for _, accept := range []string{
		"text/event-stream, application/json", "text/event-stream,application/json",
		"Text/Event-Stream;q=0.9 , application/json; q=1", "*/*",
	} {
		t.Run(accept, func(t *testing.T) {
			r := w.modern(1, "tools/list", "", "Accept: "+accept)
			if m := r.message(t); len(m.Result.Tools) == 0 {
				t.Errorf("in the newest revision: %s", m.text)
			}
			s := dial(t, w.url)
			s.headers = []string{"Accept: " + accept}
			greet(t, s, "2025-11-25", "copilot")
			use(t, s)
		})
	}
}

func TestHabitOfMcpGoToForgetTheKeyOnDELETE(t *testing.T) {
	w := dial(t, serveHTTP(t))
	greet(t, w, "2025-11-25", "mcp-go")
	if r := w.send(http.MethodDelete, "/mcp", "", append(w.headers, "X-Api-Token:")...); r.status != http.StatusUnauthorized {
		t.Errorf("DELETE without the key: %d %s", r.status, r.body)
	}
	use(t, w) // a stranger ended nothing
}

func TestHabitOfCancellingACallThatHasEnded(t *testing.T) {
	for _, by := range speakers {
		t.Run("over "+by.name, func(t *testing.T) {
			s := by.dial(t)
			greet(t, s, "2025-11-25", "opencode")
			use(t, s)
			for _, id := range []string{"102", "0", `"never sent"`} {
				s.tell(notification("notifications/cancelled", `"requestId":`+id+`,"reason":"too late"`))
			}
			use(t, s)
		})
	}
}

func TestHabitOfMcpRemoteToThrowSessionsAway(t *testing.T) {
	url := serveHTTP(t)
	w := dial(t, url)
	const many = 300
	for i := range many {
		w.headers = nil
		greet(t, w, "2025-11-25", "mcp-remote-fallback-test")
		if i%3 == 0 { // others just go away
			w.send(http.MethodDelete, "/mcp", "", w.headers...)
		}
	}
	w.headers = nil
	greet(t, w, "2025-11-25", "mcp-remote")
	use(t, w)
	if !w.measures(fmt.Sprintf("bossman_sessions %d", many-many/3+1)) {
		t.Error("sessions that were ended are still open")
	}
}

func TestHabitsOfMCPJam(t *testing.T) {
	url := serveHTTP(t)
	t.Run("an unknown method in a session is a JSON-RPC error", func(t *testing.T) {
		w := dial(t, url)
		greet(t, w, "2025-11-25", "mcpjam")
		if m := w.ask(request(7, "no/such/method", "")); m.code() != -32601 || string(m.ID) != "7" {
			t.Errorf("got %s", m.text)
		}
	})
	t.Run("an unknown method without one is too", func(t *testing.T) {
		r := dial(t, url).modern(7, "no/such/method", "")
		if m := r.message(t); m.code() != -32601 || string(m.ID) != "7" || r.status != http.StatusNotFound {
			t.Errorf("got %d %s", r.status, m.text)
		}
	})
	t.Run("and so is one from a client that never opened a session", func(t *testing.T) {
		r := dial(t, url).send(http.MethodPost, "/mcp", request(7, "no/such/method", ""))
		if m := r.message(t); m.Error == nil || string(m.ID) != "7" || r.status != http.StatusBadRequest {
			t.Errorf("got %d %s", r.status, m.text)
		}
	})
	for _, host := range []string{"evil.example", "evil.example:8181", "127.0.0.1.evil.example", "localhost.evil.example"} {
		for _, path := range []string{"/mcp", "/sse"} {
			t.Run("a foreign Host is refused: "+host+path, func(t *testing.T) {
				if r := dial(t, url).send(http.MethodPost, path, initialize("2025-11-25", "mcpjam"), "Host: "+host); r.status != http.StatusForbidden {
					t.Errorf("got %d %s", r.status, r.body)
				}
			})
		}
	}
}
