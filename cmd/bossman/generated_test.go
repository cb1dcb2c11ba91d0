package main_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
)

// seed makes one run of the generated messages like another.
var seed = flag.Uint64("seed", 15, "seed of the generated messages")

// badMessages is how many messages must have been refused in all.
func badMessages() int {
	if raceEnabled {
		return 20_000
	}
	return 100_000
}

// R015: mutated messages, to a bossman for each revision.
func TestR015GeneratedMessages(t *testing.T) {
	t.Logf("seed %d; run again with -args -seed=%d", *seed, *seed)
	revisions := revision.All()
	used := new(usage)
	watch := watchPauses()
	begin := time.Now()
	t.Run("revisions", func(t *testing.T) {
		for i, r := range revisions {
			t.Run(r.Name, func(t *testing.T) {
				t.Parallel()
				g := newGenerator(t, r, *seed+uint64(i), used)
				for bad := 0; bad < badMessages()/len(revisions) && !t.Failed(); {
					bad += g.chunk()
				}
				g.finish(watch.longest())
			})
		}
	})
	watch.stop()
	t.Logf("%d messages in %v; the test itself stood still for %v at most", used.total, time.Since(begin).Round(time.Millisecond), watch.longest().Round(time.Millisecond))
	if all := seeds(revision.Newest()); len(all) < 60 {
		t.Errorf("there are %d seeds, want 60", len(all))
	}
	for _, m := range append(fieldMutations(), textMutations()...) {
		if used.by[m.name] == 0 && !t.Failed() {
			t.Errorf("no message was made to %s", m.name)
		}
	}
}

// usage counts what was tried, over all connections.
type usage struct {
	mu    sync.Mutex
	by    map[string]int
	total int
}

func (u *usage) add(how string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.by == nil {
		u.by = make(map[string]int)
	}
	u.by[how]++
	u.total++
}

// generator drives one connection.
type generator struct {
	*process
	rev    *revision.Revision
	rng    *rand.Rand
	seeds  []string
	fields []mutation
	bytes  []mutation
	used   *usage
	leaks  *regexp.Regexp

	sent    int
	held    map[string]int // subscriptions that stay open, by id
	codes   map[int]int
	slowest time.Duration

	searched map[string]bool // see search
}

func newGenerator(t *testing.T, r *revision.Revision, seed uint64, used *usage) *generator {
	folder := quickFolder(t)
	g := &generator{
		process: startOn(t, filepath.Join(folder, "tasks.db"), "--answer-command", "no-such-program-anywhere"),
		rev:     r, rng: rand.New(rand.NewPCG(seed, 0)), seeds: seeds(r), fields: fieldMutations(), bytes: textMutations(), used: used,
		leaks: leaks(folder), held: make(map[string]int), codes: make(map[int]int), searched: make(map[string]bool),
	}
	if !r.Stateless {
		g.handshake(r.Name)
	}
	return g
}

// leaks finds what no client must ever read: stack traces, paths of ours, SQL,
// Go types and the names of libraries.
func leaks(folder string) *regexp.Regexp {
	home, _ := os.UserHomeDir()
	work, _ := os.Getwd()
	patterns := []string{
		`goroutine \d`, `\.go:\d`, `runtime error`, `panic`, `nil pointer`, `0x[0-9a-f]{6}`, `%!`,
		`(?i:sql)`, `\b(SELECT|INSERT|UPDATE|DELETE|PRAGMA)\b`, `constraint`, `database`, `no such table`,
		`\b[a-z]+\.[A-Z]\w`, `\bGo (value|type|struct)`, `map\[`, `\[\](string|byte|int|any)`, `\b(u?int(8|16|32|64)|float64)\b`, `interface ?\{`, `\bstruct\b`,
		`(?i:marshal)`, `jsontext`, `jsonschema`, `go-json`, `santhosh`, `modernc`, `cobra`, `strconv`, `reflect`,
		regexp.QuoteMeta(folder), regexp.QuoteMeta(filepath.Base(folder)), regexp.QuoteMeta(work), `tasks\.db`, `/proc/`, `/usr/`,
	}
	if len(home) > 1 {
		patterns = append(patterns, regexp.QuoteMeta(home+"/"))
	}
	return regexp.MustCompile(strings.Join(patterns, "|"))
}

const chunkSize = 32

// chunk sends some messages and a ping, takes all answers, and returns how many
// of the messages were refused.
func (g *generator) chunk() (bad int) {
	g.t.Helper()
	var text strings.Builder
	waiting := make(map[string]int) // answers by id; "" for those without
	lines := make(map[string]string)
	for range chunkSize {
		g.sent++
		id := fmt.Sprintf(`"%s-%d"`, g.rev.Name, g.sent)
		line, how := g.mutated(id)
		g.used.add(how)
		for _, id := range expect(g.rev, line) {
			waiting[id]++
			lines[id] = line
		}
		text.WriteString(line + "\n")
	}
	sentinel := fmt.Sprintf(`"ping-%d"`, g.sent)
	waiting[sentinel]++
	text.WriteString(`{"jsonrpc":"2.0","id":` + sentinel + `,"method":"ping"}` + "\n")
	begin := time.Now()
	if err := g.write(text.String()); err != nil {
		g.t.Fatalf("write: %v; standard error: %s", err, g.stderr)
	}
	for len(waiting) > 0 {
		l := g.nextOf(&text, waiting)
		g.slowest = max(g.slowest, l.at.Sub(begin))
		for _, answer := range answersIn(l.text) {
			id, refused := g.take(answer, lines)
			if waiting[id] == 0 {
				g.t.Fatalf("nobody waits for %s; the message under that id was %s; still waiting: %v", shorten(answer), shorten(lines[id]), waiting)
			}
			if waiting[id]--; waiting[id] == 0 {
				delete(waiting, id)
			}
			if refused {
				bad++
			}
		}
	}
	return bad
}

// nextOf is next with a better excuse.
func (g *generator) nextOf(sent *strings.Builder, waiting map[string]int) line {
	g.t.Helper()
	select {
	case l, ok := <-g.lines:
		if ok {
			return l
		}
		g.t.Fatalf("the output ended; standard error: %s", g.stderr)
	case <-time.After(patience):
		g.t.Fatalf("no answer for %v among\n%s", waiting, sent)
	}
	return line{}
}

// answersIn are the messages of a line: one, or those of a batch.
func answersIn(text string) []string {
	text = strings.TrimSuffix(text, "\n")
	if !strings.HasPrefix(text, "[") {
		return []string{text}
	}
	return elements(text)
}

// allowed are the codes that a server may send.
var allowed = []int{
	parseError, invalidRequest, methodNotFound, invalidParams, internalError,
	mcp.CodeHeaderMismatch, mcp.CodeMissingCapability, mcp.CodeUnsupportedVersion, -32002,
}

// take checks one answer to one of lines, which are by id, and returns the id
// that it answers, and whether it refuses what was asked.
func (g *generator) take(text string, lines map[string]string) (id string, refused bool) {
	g.t.Helper()
	m := decode(g.t, text)
	if m.Method == mcp.NotificationSubscriptionsAcknowledged {
		id = asWritten(member(m.Params, "_meta", mcp.MetaSubscriptionID), lines)
		g.held[id]++
		return id, false
	}
	if m.Method != "" {
		g.t.Errorf("an unexpected question: %s", shorten(text))
	}
	refused = m.Error != nil || string(m.member("isError")) == "true"
	g.codes[m.code()]++
	if m.Error != nil && !slices.Contains(allowed, m.Error.Code) {
		g.t.Errorf("a code that is not allowed: %s", shorten(text))
	}
	if refused {
		g.search(m, lines[string(m.ID)])
	}
	return string(m.ID), refused
}

// search looks for leaks in a refusal of a line. What the client said itself is
// no secret. Texts that differ in numbers only are searched once.
func (g *generator) search(m message, sent string) {
	g.t.Helper()
	text := string(m.Result)
	if m.Error != nil {
		text = m.Error.Message + string(m.Error.Data)
	}
	key := strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return '0'
		}
		return r
	}, text)
	if g.searched[key] {
		return
	}
	found := g.leaks.FindString(text)
	if found == "" {
		g.searched[key] = true
	} else if !strings.Contains(sent, found) {
		g.t.Errorf("an answer shows our insides (%q): %s", found, shorten(m.text))
	}
}

// asWritten finds the id with that value among the ids of lines: within params
// a string may come back with other escapes.
func asWritten(id jsontext.Value, lines map[string]string) string {
	for written := range lines {
		if raw := jsontext.Value(written); written != "" && (written == string(id) || raw.Kind() == '"' && unquoted(raw) == unquoted(id)) {
			return written
		}
	}
	return string(id)
}

// finish ends the connection: only subscriptions are still answered.
func (g *generator) finish(pause time.Duration) {
	g.t.Helper()
	for text := range strings.Lines(g.end()) {
		m := decode(g.t, strings.TrimSuffix(text, "\n"))
		if g.held[string(m.ID)]--; g.held[string(m.ID)] < 0 || m.Error != nil {
			g.t.Errorf("came at the end: %s", shorten(text))
		}
	}
	g.t.Logf("%d messages, answered with %v (0: a result); the slowest took %v", g.sent, g.codes, g.slowest.Round(time.Millisecond))
	// A second is the limit. The test shares two cores with what it drives and
	// whatever else runs: as long as it stood still itself, so may bossman have.
	if limit := time.Second + 2*pause; g.slowest > limit {
		g.t.Errorf("an answer took %v, %v at most", g.slowest, limit)
	}
}

// expect says which answers a line must get, by their ids. It knows JSON-RPC
// only, and reads with the JSON library.
func expect(r *revision.Revision, text string) (ids []string) {
	text = strings.Trim(text, " \t\r\n")
	const deepest = 1000
	switch {
	case text == "":
		return nil
	case !jsontext.Value(text).IsValid(), text[0] != '[' && depth(text) > deepest, depth(text) > deepest+1:
		return []string{""}
	case text[0] != '[':
		return expectOne(text)
	}
	all := elements(text)
	if !r.Batch || len(all) == 0 || len(all) > 100 {
		return []string{""}
	}
	for _, element := range all {
		if depth(element) > deepest {
			ids = append(ids, "")
			continue
		}
		ids = append(ids, expectOne(element)...)
	}
	return ids
}

var goodID = regexp.MustCompile(`^(".*"|-?\d+)$`)

// expectOne is the same for one message.
func expectOne(text string) []string {
	members, ok := object(text)
	if !ok {
		return []string{""}
	}
	method, asks := members["method"]
	_, hasResult := members["result"]
	_, hasError := members["error"]
	if !asks && (hasResult || hasError) {
		return nil
	}
	id := ""
	if raw, ok := members["id"]; ok && (asks || string(raw) != "null") {
		if !goodID.Match(raw) || len(raw) > 1024 {
			return []string{""}
		}
		id = string(raw)
	}
	params := members["params"]
	switch {
	case unquoted(members["jsonrpc"]) != "2.0", hasResult || hasError, unquoted(method) == "":
		return []string{id}
	case id == "": // a notification, whatever its params are
		return nil
	case params != nil && params.Kind() != '{' && params.Kind() != 'n':
		return []string{id}
	}
	return []string{id}
}
