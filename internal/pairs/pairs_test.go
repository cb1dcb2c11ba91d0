package pairs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bossman-mcp/bossman/internal/need"
	"github.com/bossman-mcp/bossman/mcp/revision"
)

// until returns a side as it was when a revision was the newest.
func until(rev *revision.Revision) side {
	var names []string
	for _, r := range revision.All() {
		names = append(names, r.Name)
		if r == rev {
			break
		}
	}
	return side{rev.Name, strings.Join(names, ",")}
}

// TestEveryPair lets every client talk to every server. They must end up with the
// newest revision that both have, and say what the transcripts tell.
func TestEveryPair(t *testing.T) {
	for _, form := range []string{"stdio", "http"} {
		var spoken table
		t.Run(form, func(t *testing.T) {
			for i, c := range revision.All() {
				for j, s := range revision.All() {
					want := revision.All()[min(i, j)]
					t.Run(c.Name+"/"+s.Name, func(t *testing.T) {
						t.Parallel()
						spoken.set(c.Name, s.Name, talk(t, form, until(c), until(s), want.Name))
					})
				}
			}
		})
		if !t.Failed() {
			spoken.compare(t)
		}
	}
}

// talk has one conversation and returns the revision it was in.
func talk(t *testing.T, form string, from, to side, want string) string {
	f := newFixture()
	r := newRig(t, form, f, from, to)
	c, err := r.connect(from)
	if err != nil {
		t.Fatal(err)
	}
	spoken := c.Server().Revision
	if spoken != want {
		t.Errorf("they speak %s, want %s", spoken, want)
	}
	r.converse(c, f)
	title := fmt.Sprintf("A client that knows revisions up to %s talks to a server that knows them up to %s.", from.name, to.name)
	name := "client-" + from.name + "-server-" + to.name + ".txtar"
	r.finish(filepath.Join("testdata", "transcripts", form, name), title, spoken, c)
	return spoken
}

// table says what the pairs speak.
type table struct {
	mu    sync.Mutex
	cells map[[2]string]string // by client and server
}

func (p *table) set(from, to, spoken string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cells == nil {
		p.cells = make(map[[2]string]string)
	}
	p.cells[[2]string{from, to}] = spoken
}

// compare wants the table in the documentation.
func (p *table) compare(t *testing.T) {
	t.Helper()
	var text strings.Builder
	text.WriteString("| client ↓ server → |")
	for _, s := range revision.All() {
		fmt.Fprintf(&text, " %s |", s.Name)
	}
	text.WriteString("\n" + strings.Repeat("|---", 1+len(revision.All())) + "|\n")
	for _, c := range revision.All() {
		fmt.Fprintf(&text, "| **%s** |", c.Name)
		for _, s := range revision.All() {
			fmt.Fprintf(&text, " %s |", p.cells[[2]string{c.Name, s.Name}])
		}
		text.WriteString("\n")
	}
	page, err := os.ReadFile(filepath.Join(need.Root(t), "docs", "compatibility.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.ReplaceAll(string(page), "\r\n", "\n"), text.String()) {
		t.Errorf("docs/compatibility.md lacks this table:\n%s", text.String())
	}
}
