package streamable_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/streamable"
)

// R048: however many try to open sessions, there are as many as the cap allows,
// and what is refused leaves nothing.
func TestHeavyOpeningsAreBoundedInNumberAndMemory(t *testing.T) {
	const most, growth = 10_000, 64 << 20
	d := openDirect(t, newBench(), nil)
	before := heap()
	var opened, busy atomic.Int32
	inParallel(heavily(100_000, 12_000), func(int) {
		switch w := d.post(t.Context(), asJSON(), fmt.Sprintf(initialize, lastSession)); {
		case w.status == http.StatusOK && w.header.Get("Mcp-Session-Id") != "":
			opened.Add(1)
		case w.status == http.StatusServiceUnavailable && w.header.Get("Retry-After") != "" && w.header.Get("Mcp-Session-Id") == "":
			busy.Add(1)
		default:
			t.Errorf("initialize: %d %s", w.status, w.text())
		}
	})
	if got := d.e.Stats().Sessions; opened.Load() != most || got != most {
		t.Errorf("%d sessions were opened and %d are there, want %d", opened.Load(), got, most)
	}
	t.Logf("%d opened, %d refused", opened.Load(), busy.Load())
	grown := heap() - before
	t.Logf("%d sessions hold %d KiB", most, grown>>10)
	if grown > growth {
		t.Errorf("memory grew by %d MiB", grown>>20)
	}
}

func TestHeavyFirstMessagesOfOtherKindsLeaveNothing(t *testing.T) {
	const growth = 64 << 20
	d := openDirect(t, newBench(), nil)
	firsts := []struct {
		header http.Header
		body   string
		status int
	}{
		{asJSON(), `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, 400},
		{asJSON(), `{"jsonrpc":"2.0","method":"notifications/initialized"}`, 400},
		{asJSON(), `{"jsonrpc":"2.0","id":7,"result":{}}`, 400},
		{asJSON(), `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, 400},
		{asJSON("Mcp-Session-Id", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"), `{"jsonrpc":"2.0","id":1,"method":"ping"}`, 404},
		{asJSON("Mcp-Protocol-Version", lastSession), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hello"}}`, 400},
		{asJSON("Mcp-Protocol-Version", "v999"), fmt.Sprintf(initialize, lastSession), 400},
		{asJSON("Mcp-Protocol-Version", newest, "Mcp-Method", "tools/list"), modernBody("tools/list", ""), 200},
	}
	before := heap()
	inParallel(heavily(100_000, 8_000), func(i int) {
		first := firsts[i%len(firsts)]
		if w := d.post(t.Context(), first.header, first.body); w.status != first.status || w.header.Get("Mcp-Session-Id") != "" {
			t.Errorf("%s: got %d %s, want %d and no session", first.body, w.status, w.text(), first.status)
		}
	})
	if got := d.e.Stats(); got != (streamable.Stats{}) {
		t.Errorf("left: %+v", got)
	}
	if grown := heap() - before; grown > growth/8 {
		t.Errorf("memory grew by %d KiB", grown>>10)
	}
}

// inParallel does something so many times, on a few goroutines.
func inParallel(times int, do func(i int)) {
	var wg sync.WaitGroup
	var next atomic.Int64
	for range 8 {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < times; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wg.Wait()
}

// own is what a call says of itself, so that a foreign answer is seen.
type own struct {
	Who string `json:"who"`
	N   int    `json:"n"`
}

func (o own) String() string { return fmt.Sprintf("%s/%d", o.Who, o.N) }

// crowd is a server whose tools repeat to whom they talk, in results and progress.
type crowd struct {
	*server.Server
	hanging sync.Map // by own.String(): chan string, what happened to a call of hang
}

func newCrowd() *crowd {
	c := &crowd{Server: server.New("crowd", "1.0.0", nil)}
	tool := func(name string, f func(ctx context.Context, call *mcp.Call, in own) (string, error)) {
		c.AddTool(mcp.Tool{Name: name}, server.CallFunc(f))
	}
	tool("echo", func(_ context.Context, _ *mcp.Call, in own) (string, error) { return in.String(), nil })
	tool("progress", func(ctx context.Context, call *mcp.Call, in own) (string, error) {
		for i := range 2 {
			if err := call.Progress(ctx, float64(i+1), 2, in.String()); err != nil {
				return "", err
			}
		}
		return in.String(), nil
	})
	tool("hang", func(ctx context.Context, _ *mcp.Call, in own) (string, error) {
		v, ok := c.hanging.Load(in.String())
		if !ok {
			return "", errors.New("nobody waits for " + in.String())
		}
		talk := v.(chan string)
		talk <- "began"
		select {
		case <-ctx.Done():
			talk <- "cancelled"
			return "", ctx.Err()
		case <-talk:
			return in.String(), nil
		}
	})
	return c
}

// R049: clients that all count their ids from 0 see nothing of each other.
func TestHeavyClientsThatCountAlikeSeeOnlyTheirOwn(t *testing.T) {
	const clients = 200
	calls := heavily(1_000_000, 4_000) / clients
	c := newCrowd()
	d := openDirect(t, c, nil)
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			m := &member{t: t, d: d, c: c, who: fmt.Sprint("client", i)}
			if i%4 > 0 {
				m.session = d.open(t, sessionVersions[i%4-1])
			}
			for n := range calls {
				m.call(n)
			}
		})
	}
	wg.Wait()
	if n := d.e.Stats(); n.Streams != 0 {
		t.Errorf("left: %+v", n)
	}
}

// member is one of many clients.
type member struct {
	t       *testing.T
	d       direct
	c       *crowd
	who     string
	session http.Header // nil in the newest revision
}

// call makes the call with id n: mostly plain ones, some with progress, some that
// are cancelled while others with the same id go on.
func (m *member) call(n int) {
	mine := own{m.who, n}
	switch {
	case n%20 == 7:
		m.answered(mine, m.post(m.t.Context(), "progress", mine), 2)
	case n%20 == 13:
		m.hang(mine)
	default:
		m.answered(mine, m.post(m.t.Context(), "echo", mine), 0)
	}
}

func (m *member) post(ctx context.Context, tool string, mine own) *written {
	params := fmt.Sprintf(`"name":"%s","arguments":{"who":"%s","n":%d}`, tool, mine.Who, mine.N)
	head := m.session
	about := fmt.Sprintf(`"progressToken":%d`, mine.N)
	if head == nil {
		head = asJSON("Mcp-Protocol-Version", newest, "Mcp-Method", "tools/call", "Mcp-Name", tool)
		about += `,"io.modelcontextprotocol/protocolVersion":"` + newest + `","io.modelcontextprotocol/clientCapabilities":{}`
	}
	return m.d.post(ctx, head, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{%s,"_meta":{%s}}}`, mine.N, params, about))
}

// hang makes a call that waits. Every other one is cancelled; the rest must not
// be by anybody.
func (m *member) hang(mine own) {
	talk := make(chan string)
	m.c.hanging.Store(mine.String(), talk)
	defer m.c.hanging.Delete(mine.String())
	ctx, hangUp := context.WithTimeout(m.t.Context(), patience)
	defer hangUp()
	answer := make(chan *written, 1)
	go func() { answer <- m.post(ctx, "hang", mine) }() // awaited below
	if got := m.hear(talk); got != "began" {
		m.t.Errorf("%s: %s", mine, got)
		return
	}
	if len(m.who)%2 == mine.N/20%2 { // some of those with this id
		select {
		case talk <- "go on":
			m.answered(mine, <-answer, 0)
		case got := <-talk:
			m.t.Errorf("%s was %s by somebody else", mine, got)
			<-answer
		}
		return
	}
	if m.session == nil {
		hangUp()
	} else if w := m.d.post(m.t.Context(), m.session, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, mine.N)); w.status != 202 {
		m.t.Errorf("%s: the cancellation got %d", mine, w.status)
	}
	if got := m.hear(talk); got != "cancelled" {
		m.t.Errorf("%s: %s", mine, got)
		return
	}
	if w := <-answer; w.text() != "" {
		m.t.Errorf("%s was cancelled and got %s", mine, w.text())
	}
}

// hear waits for what a call has to tell.
func (m *member) hear(talk <-chan string) string {
	select {
	case got := <-talk:
		return got
	case <-time.After(patience):
		return "nothing was heard of it"
	}
}

// answered checks that an answer, and the progress before it, are the call's own.
func (m *member) answered(mine own, w *written, progress int) {
	w.end()
	seen, results := 0, 0
	for line := range strings.Lines(w.text()) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			line = data
		} else if progress > 0 {
			continue // another line of an event
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		var got struct {
			ID     jsontext.Value `json:"id"`
			Params struct {
				Token   jsontext.Value `json:"progressToken"`
				Message string         `json:"message"`
			} `json:"params"`
			Result struct {
				Content []struct {
					Text string `json:"text"`
				} `json:"content"`
			} `json:"result"`
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			m.t.Errorf("%s: %q: %v", mine, line, err)
			return
		}
		number := fmt.Sprint(mine.N)
		switch {
		case string(got.Params.Token) == number && got.Params.Message == mine.String():
			seen++
		case string(got.ID) == number && len(got.Result.Content) == 1 && got.Result.Content[0].Text == mine.String():
			results++
		default:
			m.t.Errorf("%s got %s", mine, line)
		}
	}
	if w.status != 200 || results != 1 || seen != progress {
		m.t.Errorf("%s: %d, %d results, %d times progress: %s", mine, w.status, results, seen, w.text())
	}
}
