// Command bench runs MCP servers side by side under the same load and compares
// them. See README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/bossman-mcp/bossman/bench/contest"
	"github.com/bossman-mcp/bossman/bench/measure"
)

// options are the command line.
type options struct {
	rounds  int
	seconds float64
	warmup  float64
	only    string
	servers string
	out     string
	quiet   bool

	idle, starts, least int // see contest.Conditions
}

func main() {
	o := options{idle: 2000, starts: 10, least: 20}
	flag.IntVar(&o.rounds, "rounds", 5, "how often every server runs in every cell")
	flag.Float64Var(&o.seconds, "seconds", 1, "how long a run is measured")
	flag.Float64Var(&o.warmup, "warmup", 1, "how long a run warms up, in seconds")
	flag.StringVar(&o.only, "only", ".", "regular expression: run the cells that match")
	flag.StringVar(&o.servers, "servers", "", "run these servers only, by name, separated by commas")
	flag.StringVar(&o.out, "out", "", "file to write the report to, in Markdown")
	flag.BoolVar(&o.quiet, "quiet", false, "print the table only, not each run")
	quick := flag.Bool("quick", false, "run for a minute or two: three short rounds of most cells, without TypeScript")
	flag.Parse()
	if *quick {
		o.hurry()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		log.Fatal(err)
	}
}

// hurry makes everything that was not said otherwise shorter.
func (o *options) hurry() {
	said := make(map[string]bool)
	flag.Visit(func(f *flag.Flag) { said[f.Name] = true })
	if !said["rounds"] {
		o.rounds = 3
	}
	if !said["seconds"] {
		o.seconds = 0.15
	}
	if !said["warmup"] {
		o.warmup = 0.1
	}
	if !said["servers"] {
		o.servers = "floor,ours,gosdk,mcpgo"
	}
	if !said["only"] {
		o.only = "add|echo-64k|list|slow|cold|idle"
	}
	o.starts, o.least, o.quiet = 5, 5, true
}

func run(ctx context.Context, o options) error {
	only, err := regexp.Compile(o.only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	servers, against, err := build(ctx, dir, wanted(o.servers))
	if err != nil {
		return err
	}
	c := contest.Contest{
		Servers: servers,
		Cells:   contest.Select(contest.Cells(), only),
		Rounds:  o.rounds,
		On: contest.Conditions{
			Warmup: seconds(o.warmup), Window: seconds(o.seconds), Against: against,
			Idle: o.idle, Starts: o.starts, Least: o.least, Steps: 10_000,
		},
	}
	if !o.quiet {
		c.Log = func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
	}
	machine := measure.ThisMachine()
	outcome := c.Run(ctx)
	if err := outcome.WriteRatios(os.Stdout); err != nil {
		return err
	}
	if o.out != "" && ctx.Err() == nil {
		if err := writeReport(o.out, outcome, machine); err != nil {
			return err
		}
	}
	if failed := outcome.Failures(contest.Ours); len(failed) > 0 {
		return fmt.Errorf("runs of our own failed:\n%s", strings.Join(failed, "\n"))
	}
	return ctx.Err()
}

func writeReport(path string, outcome *contest.Outcome, machine measure.Machine) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(outcome.WriteReport(f, machine), f.Close())
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// wanted returns a filter of names; an empty list wants all.
func wanted(list string) func(name string) bool {
	names := strings.Split(list, ",")
	return func(name string) bool { return list == "" || slices.Contains(names, name) }
}
