package main_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/mcp/revision"
)

// badLines are lines that are no message; each is worth one error without an id.
func badLines() []string {
	return []string{
		`}{`, `{`, `}`, `{"jsonrpc":"2.0","id":1,"method":"pi`, `"jsonrpc":"2.0","id":1,"method":"ping"}`,
		"\x00", "\x00\x00\x00\x00", "\x00" + `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\x00",
		"\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "\ufeff",
		`{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping"} {"jsonrpc":"2.0","id":2,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping"},`, strings.Repeat("plain text ", 64<<10/11), strings.Repeat("x", 64<<10),
		"Content-Length: 40", "GET / HTTP/1.1", "panic: runtime error", `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\r{}", "\x1b[31mred\x1b[0m", "\x7fELF",
		`[`, `[]`, `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `1`, `"x"`, `null`, `{}`, `{"jsonrpc":"2.0"}`,
	}
}

// R010: garbage between good lines costs one error each; every good line is
// answered; the process never ends.
func TestR010TenThousandMixedLines(t *testing.T) {
	const total = 10_000
	p := startOn(t, filepath.Join(quickFolder(t), "tasks.db"))
	p.handshake(revision.NewestHandshake().Name)
	rng := rand.New(rand.NewPCG(10, 10))
	bad := badLines()
	blank := []string{"", " ", "\t", "\r", " \r", "\t \t"}
	var text strings.Builder
	wantBad, waiting := 0, make(map[string]string) // id to what its answer must hold
	for n := range total {
		switch rng.IntN(10) {
		case 0, 1, 2, 3:
			text.WriteString(bad[rng.IntN(len(bad))])
			wantBad++
		case 4:
			text.WriteString(blank[rng.IntN(len(blank))])
		default:
			id := fmt.Sprintf(`"%d"`, n)
			line, want := goodLine(rng, id)
			waiting[id] = want
			text.WriteString(line)
		}
		text.WriteString([]string{"\n", "\r\n"}[rng.IntN(2)])
	}
	go func() { // ends when all is written, or with the process
		_ = p.write(text.String())
	}()
	begin := time.Now()
	for good := len(waiting); good+wantBad > 0; {
		m := p.receive()
		switch id := string(m.ID); {
		case id == "" && m.Error != nil && wantBad > 0:
			wantBad--
		case waiting[id] != "" && strings.Contains(m.text, waiting[id]):
			delete(waiting, id)
			good--
		default:
			t.Fatalf("nobody waits for %s", shorten(m.text))
		}
	}
	t.Logf("%d lines in %v", total, time.Since(begin).Round(time.Millisecond))
	p.alive()
	if rest := p.end(); rest != "" {
		t.Errorf("came besides: %s", shorten(rest))
	}
}

// goodLine is a request, and something that its answer holds.
func goodLine(rng *rand.Rand, id string) (line, want string) {
	switch rng.IntN(6) {
	case 0:
		return modern(id, "tools/list", ""), `"create_task"`
	case 1:
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"get_task","arguments":{"id":"task_none"}}}`, "error: task not found: task_none"
	case 2:
		return ` { "jsonrpc" : "2.0" , "id" : ` + id + `, "method":"getNextTask" }	`, `"result":null`
	case 3:
		return `{"id":` + id + `,"method":"none","jsonrpc":"2.0"}`, `"code":-32601`
	case 4:
		return modern(id, "server/discover", ""), `"supportedVersions"`
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`, `"result":{}`
}

// R010: each kind of bad line by itself.
func TestR010OneErrorForEachBadLine(t *testing.T) {
	p := start(t)
	for _, bad := range badLines() {
		if m := p.ask(bad); m.ID != nil || m.code() != parseError && m.code() != invalidRequest {
			t.Errorf("%s: got %s", shorten(bad), shorten(m.text))
		}
		p.alive()
	}
	p.end()
}

// R011: how deep JSON may nest is limited, and what is deeper costs nothing.
func TestR011Nesting(t *testing.T) {
	p := start(t)
	p.handshake(revision.NewestHandshake().Name)
	before := p.memory()
	for _, shape := range []struct {
		name, opening, closing string
		levels                 int
	}{
		{"arrays", "[", "]", 1}, {"objects", `{"a":`, "}", 1}, {"both", `[{"a":`, "}]", 2},
	} {
		for _, tc := range []struct {
			depth    int
			accepted bool
		}{{100, true}, {900, true}, {1_000, false}, {1_001, false}, {100_000, false}, {500_000, false}} {
			t.Run(fmt.Sprintf("%s nested %d deep", shape.name, tc.depth), func(t *testing.T) {
				levels := (tc.depth + shape.levels - 1) / shape.levels
				p.nest(t, nested(levels, shape.opening, shape.closing), tc.accepted)
				p.nest(t, strings.Repeat(shape.opening, levels), false) // without an end
			})
		}
	}
	p.flat(before, 64<<10)
	p.end()
}

// nest sends a nested value in every place, and checks the answer and its time.
func (p *process) nest(t *testing.T, value string, accepted bool) {
	t.Helper()
	for _, place := range []struct {
		line  string
		taken bool // it is nobody's business, so that the request succeeds
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"ping","extra":%s}`, true},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"extra":%s}}`, true},
		{`{"jsonrpc":"2.0","id":1,"method":"getNextTask","params":{"_meta":{"extra":%s}}}`, true},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_tasks","arguments":{"worker":%s}}}`, false},
	} {
		begin := time.Now()
		p.send(strings.Replace(place.line, "%s", value, 1))
		l := p.next()
		m := decode(t, l.text)
		switch {
		case !accepted:
			m.refused(t, parseError, "")
		case place.taken:
			m.refused(t, 0, "1")
		default:
			if text, failed := m.content(t); !failed {
				t.Errorf("an argument of the wrong type was taken: %s", text)
			}
		}
		if took := l.at.Sub(begin); took > slack(500*time.Millisecond) {
			t.Errorf("%d bytes took %v", len(value), took)
		}
	}
	p.alive()
}

// The longest line is settable; longer ones are skipped to their end.
func TestMaxLine(t *testing.T) {
	p := start(t, "--max-line", "1000")
	fits := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"`
	fits += strings.Repeat("x", 1000-len(fits)-3) + `"}}`
	m := p.ask(fits)
	m.refused(t, 0, "1")
	for _, long := range []string{fits + " ", strings.Repeat("y", 1001), strings.Repeat("z", 1<<20)} {
		m = p.ask(long)
		m.refused(t, invalidRequest, "")
		p.alive()
	}
	p.end()
}
