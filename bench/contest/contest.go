package contest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
)

// The names of servers that have a part of their own in the comparison.
const (
	Floor = "floor"
	Ours  = "ours"
	GoSDK = "gosdk"
)

// Contest is what is to be run.
type Contest struct {
	Servers []Server
	Cells   []Cell
	Rounds  int
	On      Conditions
	// Log hears of each run. Nil: nobody does.
	Log func(format string, args ...any)
}

// Outcome is all that was measured.
type Outcome struct {
	Servers []Server
	Cells   []Cell
	Rounds  int
	On      Conditions
	samples map[key]Sample
	errors  map[key]error
}

type key struct {
	cell, server string
	round        int
}

// Select returns the cells whose names match.
func Select(cells []Cell, only *regexp.Regexp) []Cell {
	return slices.DeleteFunc(slices.Clone(cells), func(c Cell) bool { return !only.MatchString(c.Name) })
}

// Run runs every server in every cell once a round, in another order each round. A
// run that fails has no figures; the others go on. It stops early when ctx ends.
func (c *Contest) Run(ctx context.Context) *Outcome {
	o := &Outcome{
		Servers: c.Servers, Cells: c.Cells, Rounds: c.Rounds, On: c.On,
		samples: make(map[key]Sample), errors: make(map[key]error),
	}
	for round := range c.Rounds {
		order := rand.New(rand.NewPCG(uint64(round), 1))
		for _, cell := range c.Cells {
			for _, i := range order.Perm(len(c.Servers)) {
				if ctx.Err() != nil {
					return o
				}
				c.one(o, cell, c.Servers[i], round)
			}
		}
	}
	return o
}

func (c *Contest) one(o *Outcome, cell Cell, s Server, round int) {
	k := key{cell.Name, s.Name, round}
	sample, err := cell.run(s, c.On)
	if errors.Is(err, errAbsent) {
		return
	}
	if err != nil {
		o.errors[k] = err
		c.logf("round %d  %-24s %-8s failed: %v", round+1, cell.Name, s.Name, err)
		return
	}
	o.samples[k] = sample
	c.logf("round %d  %-24s %-8s %12.4g %s", round+1, cell.Name, s.Name, sample[cell.Headline], cell.Headline)
}

func (c *Contest) logf(format string, args ...any) {
	if c.Log != nil {
		c.Log(format, args...)
	}
}

// Failures are the runs that failed, as text, those of one server only.
func (o *Outcome) Failures(server string) []string {
	var lines []string
	for k, err := range o.errors {
		if k.server == server {
			lines = append(lines, fmt.Sprintf("%s, %s, round %d: %v", k.server, k.cell, k.round+1, err))
		}
	}
	slices.Sort(lines)
	return lines
}
