package contest

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/bench/measure"
)

// scripted is a cell whose figures are written down: a value a round for each
// server, 0 for a run that fails, and nothing for one that does not take part.
func scripted(name string, m Metric, values map[string][]float64) Cell {
	turn := make(map[string]int)
	return Cell{Name: name, Headline: m, run: func(s Server, _ Conditions) (Sample, error) {
		list, ok := values[s.Name]
		if !ok {
			return nil, errAbsent
		}
		v := list[turn[s.Name]]
		turn[s.Name]++
		if v == 0 {
			return nil, errors.New("out of breath\nand more")
		}
		return Sample{m: v}, nil
	}}
}

func names(list ...string) []Server {
	var servers []Server
	for _, name := range list {
		servers = append(servers, Server{Name: name, Version: "version of " + name})
	}
	return servers
}

func run(t *testing.T, cells ...Cell) *Outcome {
	t.Helper()
	c := Contest{Servers: names(Floor, Ours, GoSDK, "mcpgo"), Cells: cells, Rounds: 3}
	return c.Run(t.Context())
}

func TestRatiosAreTakenWithinRounds(t *testing.T) {
	// The machine is ten times slower in the second round.
	o := run(t, scripted("c", CPU, map[string][]float64{Floor: {1, 10, 2}, Ours: {3, 40, 4}, GoSDK: {30, 300, 0}}))
	if got := o.Ratio("c", Ours, Floor, CPU); got != (Spread{Median: 3, Low: 2, High: 4, N: 3}) {
		t.Errorf("ours to floor: %+v, want 3 between 2 and 4", got)
	}
	if got := o.Ratio("c", Ours, GoSDK, CPU); got.N != 2 || got.Low != 0.1 {
		t.Errorf("ours to gosdk: %+v, want the two rounds in which both ran", got)
	}
	if got := o.Ratio("c", Ours, "mcpgo", CPU); got.N != 0 || got.String() != "–" {
		t.Errorf("ours to one that does not take part: %v", got)
	}
	if got := o.Failures(GoSDK); len(got) != 1 || !strings.Contains(got[0], "gosdk, c, round 3: out of breath") {
		t.Errorf("failures of gosdk: %q", got)
	}
	if got := o.Failures("mcpgo"); got != nil {
		t.Errorf("not to take part is no failure: %q", got)
	}
}

func TestTheBestPeerIsTheOneWithTheBestMedian(t *testing.T) {
	o := run(t,
		scripted("low", CPU, map[string][]float64{Floor: {1, 1, 1}, Ours: {2, 2, 2}, GoSDK: {9, 5, 9}, "mcpgo": {8, 8, 8}}),
		scripted("high", Rate, map[string][]float64{Floor: {9, 9, 9}, Ours: {8, 8, 8}, GoSDK: {3, 9, 3}, "mcpgo": {2, 2, 2}}),
		scripted("alone", CPU, map[string][]float64{Floor: {1, 1, 1}, Ours: {2, 2, 2}}))
	for cell, want := range map[string]string{"low": "mcpgo", "alone": ""} {
		if got := o.BestPeer(cell, CPU); got != want {
			t.Errorf("%s: the best peer is %q, want %q", cell, got, want)
		}
	}
	if got := o.BestPeer("high", Rate); got != GoSDK {
		t.Errorf("high: the best peer is %q, want gosdk", got)
	}
}

func TestTargetsAreJudged(t *testing.T) {
	for _, tt := range []struct {
		name   string
		cell   string
		metric Metric
		values map[string][]float64
		want   string
	}{
		{"all limits kept", "stdio/modern/add-64", CPU, map[string][]float64{Floor: {1, 1, 1}, Ours: {6, 6, 6}, GoSDK: {151, 151, 151}, "mcpgo": {50, 50, 50}}, "pass"},
		{"above the floor's multiple", "stdio/modern/add-64", CPU, map[string][]float64{Floor: {1, 1, 1}, Ours: {7, 7, 7}, GoSDK: {1000, 1000, 1000}}, "FAIL"},
		{"too close to a peer", "stdio/modern/add-64", CPU, map[string][]float64{Floor: {1, 1, 1}, Ours: {2, 2, 2}, GoSDK: {100, 100, 100}, "mcpgo": {15, 15, 15}}, "FAIL"},
		{"more is better of rates", "http/legacy/slow-200", Rate, map[string][]float64{Floor: {100, 100, 100}, Ours: {95, 95, 95}, GoSDK: {20, 20, 20}}, "pass"},
		{"too few of a rate", "http/legacy/slow-200", Rate, map[string][]float64{Floor: {100, 100, 100}, Ours: {85, 85, 85}}, "FAIL"},
		{"light enough", "http/legacy/idle-sessions", Each, map[string][]float64{Ours: {3, 4, 4}}, "pass"},
		{"too heavy", "http/legacy/idle-sessions", Each, map[string][]float64{Ours: {3, 4.1, 5}}, "FAIL"},
		{"no target", "stdio/modern/echo-1m", CPU, map[string][]float64{Floor: {1, 1, 1}, Ours: {2, 2, 2}}, ""},
		{"not measured", "stdio/modern/add-64", CPU, map[string][]float64{Floor: {1, 1, 1}, Ours: {0, 0, 0}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := run(t, scripted(tt.cell, tt.metric, tt.values))
			rows := o.rows()
			if len(rows) != 1 || rows[0].passed != tt.want {
				t.Errorf("got %+v, want one row that says %q", rows, tt.want)
			}
		})
	}
}

func TestEveryTargetHasACell(t *testing.T) {
	for _, target := range Targets() {
		if !slices.ContainsFunc(Cells(), func(c Cell) bool { return target.cells.MatchString(c.Name) }) {
			t.Errorf("no cell matches %v", target.cells)
		}
	}
}

func TestCellsHaveNamesOfTheirOwn(t *testing.T) {
	seen := make(map[string]bool)
	for _, c := range Cells() {
		if seen[c.Name] {
			t.Errorf("two cells are called %s", c.Name)
		}
		seen[c.Name] = true
	}
	if got := Select(Cells(), regexp.MustCompile("^stdio/modern/add-1$")); len(got) != 1 {
		t.Errorf("selected %d cells, want 1", len(got))
	}
}

func TestTheOrderChangesFromRoundToRound(t *testing.T) {
	var order []string
	c := Contest{Servers: names("a", "b", "c", "d"), Rounds: 4, Cells: []Cell{{Name: "c", Headline: CPU,
		run: func(s Server, _ Conditions) (Sample, error) {
			order = append(order, s.Name)
			return Sample{CPU: 1}, nil
		}}}}
	c.Run(t.Context())
	rounds := make(map[string]bool)
	for round := range slices.Chunk(order, 4) {
		rounds[fmt.Sprint(round)] = true
		slices.Sort(round)
		if fmt.Sprint(round) != "[a b c d]" {
			t.Errorf("a round ran %v, want each server once", round)
		}
	}
	if len(rounds) < 2 {
		t.Errorf("all rounds had one order: %v", rounds)
	}
}

func TestTheReportHoldsWhatAReaderNeeds(t *testing.T) {
	o := run(t, scripted("stdio/modern/add-64", CPU, map[string][]float64{Floor: {1, 1, 1}, Ours: {4, 5, 6}, GoSDK: {200, 200, 0}}))
	var b strings.Builder
	if err := o.WriteReport(&b, measure.Machine{System: "plan9/mips", Cores: 3, CPU: "abacus", Go: "go9", Node: "8", Load: "0.50"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"plan9/mips, 3 cores, abacus; go9, Node 8; load average 0.50 before", "Rounds: 3", "`gosdk`: version of gosdk",
		"| stdio/modern/add-64 | CPU µs/request | 5.00 | 5.00× (4.00×–6.00×), ≤ 6.00× ✓ |",
		"| stdio/modern/add-64 | 1.00 | 5.00 | 200 |  |",
		"- gosdk, stdio/modern/add-64, round 3: out of breath\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, b.String())
		}
	}
}

func TestNumbersAreShort(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.004: "0.00", 1.234: "1.23", 12.34: "12.3", 123.4: "123"} {
		if got := short(v); got != want {
			t.Errorf("short(%v) = %s, want %s", v, got, want)
		}
	}
	for v, want := range map[float64]string{2.5: "2.50×", 0.125: "1/8.00", 1: "1.00×"} {
		if got := times(v); got != want {
			t.Errorf("times(%v) = %s, want %s", v, got, want)
		}
	}
}
