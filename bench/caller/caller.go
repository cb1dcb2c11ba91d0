// Package caller is what the clients of the benchmark have in common: they call
// the tool add of a server that they start, for a while, and measure themselves.
package caller

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/bench/measure"
)

// Result is what a client measured of itself. Durations are in nanoseconds.
type Result struct {
	Calls   int   `json:"calls"`
	Elapsed int64 `json:"elapsed"`
	CPU     int64 `json:"cpu"`
	P50     int64 `json:"p50"`
}

// Client is a library's client, connected to a server.
type Client interface {
	// Add calls the tool and returns the text of its only block of content.
	Add(ctx context.Context, a, b float64) (string, error)
	Close() error
}

// Connect starts the server that the command names and connects to it, as a client
// of the protocol revision.
type Connect func(ctx context.Context, revision string, command []string) (Client, error)

// Main is a whole program: it reads the command line, calls for a while and prints a
// [Result]. Every answer is checked.
func Main(connect Connect) {
	era := flag.String("era", "modern", "legacy or modern")
	inFlight := flag.Int("inflight", 1, "how many calls are out at any time")
	warmup := flag.Duration("warmup", time.Second, "how long to warm up")
	window := flag.Duration("window", time.Second, "how long to measure")
	flag.Parse()
	revision := map[string]string{"legacy": "2025-06-18", "modern": "2026-07-28"}[*era]
	r, err := run(connect, revision, flag.Args(), plan{*inFlight, *warmup, *window})
	if err != nil {
		log.Fatal(err)
	}
	out, err := json.Marshal(r)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(out))
}

type plan struct {
	inFlight       int
	warmup, window time.Duration
}

func run(connect Connect, revision string, command []string, p plan) (Result, error) {
	if revision == "" || len(command) == 0 {
		return Result{}, errors.New("an era and a server's command are needed")
	}
	ctx := context.Background()
	c, err := connect(ctx, revision, command)
	if err != nil {
		return Result{}, fmt.Errorf("connect: %w", err)
	}
	r, err := p.call(ctx, c)
	return r, errors.Join(err, c.Close())
}

// crowd calls from several goroutines.
type crowd struct {
	calls atomic.Int64
	phase atomic.Int32 // 0: warm-up, 1: the window, 2: over
}

func (p plan) call(ctx context.Context, c Client) (Result, error) {
	var all crowd
	var wg sync.WaitGroup
	errs := make([]error, p.inFlight)
	took := make([][]time.Duration, p.inFlight)
	for i := range p.inFlight {
		wg.Go(func() { // awaited below
			took[i], errs[i] = all.loop(ctx, c, i)
		})
	}
	time.Sleep(p.warmup)
	cpu, err := measure.CPU(os.Getpid())
	from, calls := time.Now(), all.calls.Load()
	all.phase.Store(1)
	time.Sleep(p.window)
	after, err2 := measure.CPU(os.Getpid())
	r := Result{Calls: int(all.calls.Load() - calls), Elapsed: int64(time.Since(from)), CPU: int64(after - cpu)}
	all.phase.Store(2)
	wg.Wait()
	if err := errors.Join(append(errs, err, err2)...); err != nil {
		return Result{}, err
	}
	if times := slices.Concat(took...); len(times) > 0 {
		slices.Sort(times)
		r.P50 = int64(times[len(times)/2])
	}
	return r, nil
}

func (all *crowd) loop(ctx context.Context, c Client, seed int) ([]time.Duration, error) {
	var took []time.Duration
	for a := seed; all.phase.Load() < 2; a++ {
		from := time.Now()
		text, err := c.Add(ctx, float64(a), 40)
		if err != nil {
			return nil, err
		}
		if want := strconv.Itoa(a + 40); text != want {
			return nil, fmt.Errorf("%d + 40 is %s, want %s", a, text, want)
		}
		all.calls.Add(1)
		if all.phase.Load() == 1 {
			took = append(took, time.Since(from))
		}
	}
	return took, nil
}
