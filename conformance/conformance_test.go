package conformance_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/bossman-mcp/bossman/internal/need"
)

// suite is the referee.
const suite = "@modelcontextprotocol/conformance@0.2.0-alpha.12"

// leg is one run of the suite.
type leg struct {
	side   string // server or client
	args   string // which scenarios
	wire   string // the revision that all of them speak; empty: each its own
	frozen bool   // it is a set of requirements, which has extensions too
	probe  bool   // the client is not told which revision to speak
}

func (l *leg) String() string {
	text := l.side + " " + l.args
	if l.probe {
		text += ", not told the revision"
	}
	return text
}

func legs() (all []*leg) {
	for _, side := range []string{"server", "client"} {
		for _, wire := range []string{"2025-11-25", "2026-07-28"} {
			all = append(all, &leg{side: side, args: "--requirements " + wire, wire: wire, frozen: true})
		}
		all = append(all, &leg{side: side, args: "--suite all"})
		for _, wire := range wires {
			all = append(all, &leg{side: side, args: "--suite all --spec-version " + wire, wire: wire})
		}
	}
	return append(all, &leg{side: "client", args: "--suite all", probe: true})
}

// lane names the legs that are run one after the other. A lane has a server
// process of its own: legs that ran at the same time would see each other's
// changes. Both sets of requirements and the whole suite are met by one process.
func (l *leg) lane() string {
	switch {
	case l.side == "client":
		return "client"
	case l.frozen || l.wire == "":
		return "server"
	}
	return "server, by revision"
}

// TestConformance runs every leg, and prints what they came to.
func TestConformance(t *testing.T) {
	r := &referee{node: need.Node(t), dir: need.NPM(t, suite), verdicts: make(map[*leg]*verdict)}
	r.client = build(t, "./client")
	server := build(t, "./server")
	all := legs()
	t.Run("lanes", func(t *testing.T) {
		for _, lane := range []string{"server", "client", "server, by revision"} { // the longest first
			t.Run(lane, func(t *testing.T) {
				t.Parallel()
				address := serve(t, server)
				for _, l := range all {
					if l.lane() == lane {
						t.Run(l.String(), func(t *testing.T) { r.run(t, l, address) })
					}
				}
			})
		}
	})
	t.Log("\n" + r.table(all))
}

// referee runs the suite.
type referee struct {
	node, dir string
	client    string // the program

	mu       sync.Mutex
	verdicts map[*leg]*verdict
}

func (r *referee) run(t *testing.T, l *leg, address string) {
	results := t.TempDir()
	args := append([]string{l.side}, strings.Fields(l.args)...)
	args = append(args, "-o", results)
	switch {
	case l.side == "server":
		args = append(args, "--url", address)
	case l.probe:
		args = append(args, "--command", r.client+" -probe")
	default:
		args = append(args, "--command", r.client)
	}
	began := time.Now()
	out, err := need.NodeTool(t, r.node, r.dir, "conformance", args...).CombinedOutput()
	v := judge(results, expectation(l))
	v.took = time.Since(began)
	r.mu.Lock()
	r.verdicts[l] = v
	r.mu.Unlock()
	for _, problem := range v.problems {
		t.Error(problem)
	}
	if err != nil {
		t.Errorf("the suite ended with %v\n%s", err, out)
	}
}

// table is what all legs came to.
func (r *referee) table(all []*leg) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "leg\tscenarios\tchecks\tskipped\tproblems\ttime")
	for _, l := range all {
		if v := r.verdicts[l]; v != nil {
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%.1fs\n", l, v.scenarios, v.passed, v.skipped, len(v.problems), v.took.Seconds())
		}
	}
	_ = w.Flush() // into memory
	return text.String()
}

// TestTheTableIsTheSuites holds the table to the suite's own list of scenarios,
// so that none is forgotten when the suite grows.
func TestTheTableIsTheSuites(t *testing.T) {
	cmd := need.NodeTool(t, need.Node(t), need.NPM(t, suite), "conformance", "list")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, problem := range compareList(string(out)) {
		t.Error(problem)
	}
}
