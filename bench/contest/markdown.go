package contest

import (
	"fmt"
	"io"
	"strings"

	"github.com/bossman-mcp/bossman/bench/measure"
)

// WriteReport writes everything as Markdown.
func (o *Outcome) WriteReport(w io.Writer, m measure.Machine) error {
	var b strings.Builder
	b.WriteString("# Results\n\nWritten by `make bench`; [README.md](README.md) says what is measured and how.\n\n")
	o.circumstances(&b, m)
	b.WriteString("\n## Ours in relation to the others\n\n")
	b.WriteString("A ratio is the median of the ratios within the rounds; in brackets, the lowest and the highest. ")
	b.WriteString("Behind a comma, the target and whether it is met. Lower is better, except for what is counted a second.\n\n")
	table(&b, o.ratios())
	for _, section := range []struct {
		title   string
		metrics []Metric
	}{
		{"Processor time of the server, µs a request", []Metric{CPU}},
		{"Requests a second", []Metric{Rate}},
		{"Latency in µs: p50 / p99", []Metric{P50, P99}},
		{"Peak memory, MiB", []Metric{Peak}},
		{"Memory of an idle client, KiB", []Metric{Each}},
		{"Cold start, ms: until the first answer / processor time", []Metric{Start, StartCPU}},
		{"Progress: processor time in µs a notification / notifications a second / lost in the run", []Metric{EventCPU, EventRate, Lost}},
		{"Processor time of the client, µs a call", []Metric{CallCPU}},
	} {
		o.absolute(&b, section.title, section.metrics)
	}
	o.failures(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (o *Outcome) circumstances(b *strings.Builder, m measure.Machine) {
	fmt.Fprintf(b, "- Machine: %s, %d cores", m.System, m.Cores)
	if m.CPU != "" {
		fmt.Fprintf(b, ", %s", m.CPU)
	}
	fmt.Fprintf(b, "; %s", m.Go)
	if m.Node != "" {
		fmt.Fprintf(b, ", Node %s", m.Node)
	}
	if m.Load != "" {
		fmt.Fprintf(b, "; load average %s before the first run", m.Load)
	}
	fmt.Fprintf(b, "\n- Rounds: %d; each run: %v of warm-up, %v measured; %d idle clients; %d cold starts; %d notifications of progress a call\n",
		o.Rounds, o.On.Warmup, o.On.Window, o.On.Idle, o.On.Starts, o.On.Steps)
	for _, s := range o.Servers {
		if s.Version != "" {
			fmt.Fprintf(b, "- `%s`: %s\n", s.Name, s.Version)
		}
	}
}

// absolute writes the medians of some metrics of all servers, where there are any.
func (o *Outcome) absolute(b *strings.Builder, title string, metrics []Metric) {
	header := []string{"cell"}
	for _, s := range o.Servers {
		header = append(header, s.Name)
	}
	lines := [][]string{header}
	for _, c := range o.Cells {
		line, any := []string{c.Name}, false
		for _, s := range o.Servers {
			var parts []string
			for _, m := range metrics {
				if v := o.Value(c.Name, s.Name, m); v.N > 0 {
					parts = append(parts, short(v.Median))
				}
			}
			any = any || len(parts) > 0
			line = append(line, strings.Join(parts, " / "))
		}
		if any {
			lines = append(lines, line)
		}
	}
	if len(lines) > 1 {
		fmt.Fprintf(b, "\n## %s\n\n", title)
		table(b, lines)
	}
}

func (o *Outcome) failures(b *strings.Builder) {
	b.WriteString("\n## Runs that failed\n\n")
	failed := false
	for _, s := range o.Servers {
		for _, line := range o.Failures(s.Name) {
			first, _, _ := strings.Cut(line, "\n")
			fmt.Fprintf(b, "- %s\n", first)
			failed = true
		}
	}
	if !failed {
		b.WriteString("None. Every answer was checked.\n")
	}
}

// table writes lines as a Markdown table; the first is its head.
func table(b *strings.Builder, lines [][]string) {
	for i, line := range lines {
		fmt.Fprintf(b, "| %s |\n", strings.Join(line, " | "))
		if i == 0 {
			b.WriteString(strings.Repeat("| --- ", len(line)) + "|\n")
		}
	}
}
