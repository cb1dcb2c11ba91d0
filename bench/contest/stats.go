package contest

import (
	"fmt"
	"math"
	"slices"
)

// Spread is a median and what lies around it.
type Spread struct {
	Median, Low, High float64
	N                 int // how many values there are
}

func spreadOf(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	slices.Sort(values)
	n := len(values)
	return Spread{Median: (values[(n-1)/2] + values[n/2]) / 2, Low: values[0], High: values[n-1], N: n}
}

// Value is what a server measured in a cell, over the rounds.
func (o *Outcome) Value(cell, server string, m Metric) Spread {
	var values []float64
	for round := range o.Rounds {
		if v, ok := o.value(cell, server, m, round); ok {
			values = append(values, v)
		}
	}
	return spreadOf(values)
}

func (o *Outcome) value(cell, server string, m Metric, round int) (float64, bool) {
	v, ok := o.samples[key{cell, server, round}][m]
	return v, ok && !math.IsNaN(v)
}

// Ratio is how a server compares with another in a cell: values are divided within
// each round.
func (o *Outcome) Ratio(cell, server, other string, m Metric) Spread {
	var values []float64
	for round := range o.Rounds {
		a, ok := o.value(cell, server, m, round)
		b, ok2 := o.value(cell, other, m, round)
		if ok && ok2 && b != 0 {
			values = append(values, a/b)
		}
	}
	return spreadOf(values)
}

// BestPeer is the peer with the best median in a cell, or empty.
func (o *Outcome) BestPeer(cell string, m Metric) string {
	best, bestValue := "", 0.0
	for _, s := range o.Servers {
		if s.Name == Floor || s.Name == Ours {
			continue
		}
		v := o.Value(cell, s.Name, m)
		better := v.Median < bestValue
		if m.higherIsBetter() {
			better = v.Median > bestValue
		}
		if v.N > 0 && (best == "" || better) {
			best, bestValue = s.Name, v.Median
		}
	}
	return best
}

// times writes a ratio as people say it: 2.5× or 1/8.0.
func times(v float64) string {
	if v > 0 && v < 1 {
		return "1/" + short(1/v)
	}
	return short(v) + "×"
}

// short writes a number with three digits that count.
func short(v float64) string {
	switch {
	case v == 0:
		return "0"
	case math.Abs(v) >= 100:
		return fmt.Sprintf("%.0f", v)
	case math.Abs(v) >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// String writes the median and, if there is more than one value, the range.
func (s Spread) String() string {
	if s.N == 0 {
		return "–"
	}
	if s.N == 1 {
		return times(s.Median)
	}
	return fmt.Sprintf("%s (%s–%s)", times(s.Median), times(s.Low), times(s.High))
}
