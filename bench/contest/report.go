package contest

import (
	"fmt"
	"io"
	"strings"
)

// row is a line of the table of ratios.
type row struct {
	cell   string
	metric Metric
	value  Spread
	cells  [3]string // against the floor, the best peer, the Go SDK
	passed string
}

// rows are our ratios in every cell: the metrics that have targets, and the
// headline of the cells that have none.
func (o *Outcome) rows() []row {
	var rows []row
	for _, c := range o.Cells {
		aimed := false
		for _, t := range Targets() {
			if t.cells.MatchString(c.Name) {
				aimed = true
				rows = append(rows, o.row(c.Name, t))
			}
		}
		if !aimed {
			rows = append(rows, o.row(c.Name, Target{metric: c.Headline}))
		}
	}
	return rows
}

func (o *Outcome) row(cell string, t Target) row {
	r := row{cell: cell, metric: t.metric, value: o.Value(cell, Ours, t.metric)}
	best := o.BestPeer(cell, t.metric)
	missed, kept := 0, 0
	judge := func(v Spread, limit float64, name string) string {
		if v.N == 0 {
			return "–"
		}
		text := v.String()
		if name != "" {
			text += " " + name
		}
		if limit == 0 {
			return text
		}
		sign := "≤"
		if t.metric.higherIsBetter() {
			sign = "≥"
		}
		if t.keeps(v, limit) {
			kept++
			return fmt.Sprintf("%s, %s %s ✓", text, sign, times(limit))
		}
		missed++
		return fmt.Sprintf("%s, %s %s ✗", text, sign, times(limit))
	}
	r.cells[0] = judge(o.Ratio(cell, Ours, Floor, t.metric), t.floor, "")
	r.cells[1] = judge(o.Ratio(cell, Ours, best, t.metric), t.best, best)
	r.cells[2] = judge(o.Ratio(cell, Ours, GoSDK, t.metric), t.gosdk, "")
	if t.absolute > 0 && r.value.N > 0 {
		if r.value.Median <= t.absolute {
			kept++
		} else {
			missed++
		}
	}
	switch {
	case missed > 0:
		r.passed = "FAIL"
	case kept > 0:
		r.passed = "pass"
	}
	return r
}

// WriteRatios writes the table of our ratios as text in columns.
func (o *Outcome) WriteRatios(w io.Writer) error {
	return writeColumns(w, o.ratios())
}

// ratios is the table of our ratios; its first line is its head.
func (o *Outcome) ratios() [][]string {
	lines := [][]string{{"cell", "metric", "ours", "ours / floor", "ours / best peer", "ours / gosdk", "targets"}}
	for _, r := range o.rows() {
		lines = append(lines, []string{r.cell, string(r.metric), o.ours(r), r.cells[0], r.cells[1], r.cells[2], r.passed})
	}
	return lines
}

// ours is our own value in a row, with its limit if it has one.
func (o *Outcome) ours(r row) string {
	if r.value.N == 0 {
		return "failed"
	}
	text := short(r.value.Median)
	for _, t := range Targets() {
		if t.absolute > 0 && t.metric == r.metric && t.cells.MatchString(r.cell) {
			text += fmt.Sprintf(", ≤ %s", short(t.absolute))
		}
	}
	return text
}

// writeColumns pads columns to the same width; runes count, not bytes.
func writeColumns(w io.Writer, lines [][]string) error {
	width := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, text := range line {
			width[i] = max(width[i], len([]rune(text)))
		}
	}
	for _, line := range lines {
		var b strings.Builder
		for i, text := range line {
			b.WriteString(text)
			b.WriteString(strings.Repeat(" ", width[i]-len([]rune(text))+2))
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(b.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}
