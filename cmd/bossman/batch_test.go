package main_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/mcp/revision"
)

// askBatch sends a line and returns the messages of the array that comes back.
func (p *process) askBatch(t testing.TB, text string) []message {
	t.Helper()
	p.send(text)
	var elements []jsontext.Value
	got := p.next().text
	if err := json.Unmarshal([]byte(got), &elements); err != nil || len(elements) == 0 {
		t.Fatalf("no array of answers: %s", shorten(got))
	}
	messages := make([]message, len(elements))
	for i, element := range elements {
		messages[i] = decode(t, string(element))
	}
	return messages
}

// verdicts lists ids and error codes, sorted: answers come in any order.
func verdicts(messages []message) string {
	list := make([]string, len(messages))
	for i, m := range messages {
		list[i] = fmt.Sprintf("%s:%d", string(m.ID), m.code())
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// R013: batches in the revision that has them.
func TestR013Batches(t *testing.T) {
	p := start(t)
	p.handshake(batching(t))
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	hundred := strings.TrimSuffix(strings.Repeat(ping[:len(ping)-1]+"},", 100), ",")
	for i := range 100 {
		hundred = strings.Replace(hundred, `"id":1,`, fmt.Sprintf(`"id":"p%d",`, i), 1)
	}
	for _, tc := range []struct{ name, line, want string }{
		{"one element", `[` + ping + `]`, `1:0`},
		{"two requests", `[` + ping + `,{"jsonrpc":"2.0","id":2,"method":"tools/list"}]`, `1:0 2:0`},
		{"requests, notifications and answers", `[` + ping + `,{"jsonrpc":"2.0","method":"notifications/progress"},{"jsonrpc":"2.0","id":3,"result":{}},{"jsonrpc":"2.0","id":"c","method":"getNextTask"}]`, `"c":0 1:0`},
		{"an unknown method among them", `[` + ping + `,{"jsonrpc":"2.0","id":2,"method":"none"}]`, `1:0 2:-32601`},
		{"a call that the model reads as failed", `[{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_task","arguments":{"id":"none"}}}]`, `2:0`},
		{"a number among them", `[1,` + ping + `]`, `1:0 :-32600`},
		{"nothing but numbers", `[1,2,3]`, `:-32600 :-32600 :-32600`},
		{"an empty object", `[{}]`, `:-32600`},
		{"a batch within a batch", `[[` + ping + `]]`, `:-32600`},
		{"bad ids among them", `[{"jsonrpc":"2.0","id":1.5,"method":"ping"},{"jsonrpc":"2.0","id":null,"method":"ping"},` + ping + `]`, `1:0 :-32600 :-32600`},
		{"initialize among them", `[{"jsonrpc":"2.0","id":5,"method":"initialize","params":{"protocolVersion":"1"}},` + ping + `]`, `1:0 5:-32600`},
		{"blanks around it", ` [ ` + ping + ` ] `, `1:0`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := verdicts(p.askBatch(t, tc.line)); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			p.alive()
		})
	}
	if got := p.askBatch(t, "["+hundred+"]"); len(got) != 100 {
		t.Errorf("a hundred pings got %d answers", len(got))
	}
	for _, silent := range []string{
		`[{"jsonrpc":"2.0","method":"notifications/progress"}]`,
		`[{"jsonrpc":"2.0","method":"notifications/progress"},{"jsonrpc":"2.0","method":"none"}]`,
		`[{"jsonrpc":"2.0","id":77,"result":{}}]`,
		`[{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}},{"jsonrpc":"2.0","id":78,"error":{"code":1,"message":"x"}}]`,
	} {
		p.send(silent)
		p.alive()
	}
	for _, tc := range []struct {
		name, line string
		code       int
	}{
		{"empty", `[]`, invalidRequest},
		{"empty, with a blank", `[ ]`, invalidRequest},
		{"one more than a hundred", `[` + hundred + `,` + ping + `]`, invalidRequest},
		{"cut off", `[` + ping + `,`, parseError},
		{"an error of grammar at its end", `[` + ping + `,]`, parseError},
		{"a duplicate in one of them", `[{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"},` + ping + `]`, parseError},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := p.ask(tc.line)
			m.refused(t, tc.code, "")
			p.alive()
		})
	}
	p.end()
}

// R013: tools work in a batch, all of them at once.
func TestR013BatchOfCalls(t *testing.T) {
	p := start(t)
	p.handshake(batching(t))
	var calls []string
	for i := range 50 {
		calls = append(calls, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"create_task","arguments":{"description":"task %d"}}}`, i, i))
	}
	answers := p.askBatch(t, "["+strings.Join(calls, ",")+"]")
	for _, m := range answers {
		if text, failed := m.content(t); failed || !strings.Contains(text, fmt.Sprintf(`"task %s"`, m.ID)) {
			t.Errorf("got %s", m.text)
		}
	}
	if n := p.tasks(); n != 50 || len(answers) != 50 {
		t.Errorf("%d answers, %d tasks", len(answers), n)
	}
	p.end()
}

// R013: a batch that is far too long is refused quickly, and nothing of it runs.
func TestR013FiftyThousandPings(t *testing.T) {
	p := start(t)
	p.handshake(batching(t))
	line := "[" + strings.TrimSuffix(strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"ping"},`, 50_000), ",") + "]"
	var best time.Duration
	for range 3 { // the best of three: the machine may be busy
		begin := time.Now()
		p.send(line)
		l := p.next()
		m := decode(t, l.text)
		m.refused(t, invalidRequest, "")
		if took := l.at.Sub(begin); best == 0 || took < best {
			best = took
		}
		p.alive()
	}
	t.Logf("refused after %v", best.Round(time.Millisecond))
	if best > slack(100*time.Millisecond) {
		t.Errorf("the refusal took %v", best)
	}
	p.end()
}

// R013: the other revisions have no batches.
func TestR013NoBatches(t *testing.T) {
	lines := []string{
		`[]`, `[1]`, `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `[{"jsonrpc":"2.0","method":"notifications/progress"}]`,
		`[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + creation + `}}]`, `[` + modern("1", "tools/call", creation) + `]`,
	}
	for _, r := range revision.All() {
		if r.Batch {
			continue
		}
		t.Run(r.Name, func(t *testing.T) {
			p := start(t)
			if !r.Stateless {
				p.handshake(r.Name)
			}
			for _, line := range lines {
				m := p.ask(line)
				m.refused(t, invalidRequest, "")
				p.alive()
			}
			m := p.ask(`[{"jsonrpc":"2.0"`)
			m.refused(t, parseError, "")
			if n := p.tasks(); n != 0 {
				t.Errorf("%d calls were carried out", n)
			}
			p.end()
		})
	}
}
