package main_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// build makes bossman as users get it: the test binary carries more.
func build(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "bossman")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if out, err := exec.Command("go", "build", "-trimpath", "-o", path, ".").CombinedOutput(); err != nil {
		b.Fatalf("go build: %v: %s", err, out)
	}
	return path
}

// BenchmarkColdStart is the time from the start of the process to its first
// answer, to tools/list. It also reports the memory that bossman has then.
func BenchmarkColdStart(b *testing.B) {
	bossman := build(b)
	for _, tc := range []struct {
		name string
		db   func(dir string, n int) string
	}{
		{"new file", func(dir string, n int) string { return filepath.Join(dir, fmt.Sprintf("%d.db", n)) }},
		{"file of yesterday", func(dir string, _ int) string { return filepath.Join(dir, "tasks.db") }},
	} {
		b.Run(tc.name, func(b *testing.B) {
			dir, memory, n := b.TempDir(), 0, 0
			first := launch(b, command(b, bossman, "--db", filepath.Join(dir, "tasks.db")))
			first.create("from yesterday")
			first.end()
			var best time.Duration
			for b.Loop() {
				n++
				begin := time.Now()
				p := launch(b, command(b, bossman, "--db", tc.db(dir, n)))
				m := p.call("tools/list", "")
				took := time.Since(begin)
				if best == 0 || took < best {
					best = took
				}
				b.StopTimer()
				if !strings.Contains(m.text, `"create_task"`) {
					b.Fatal(m.text)
				}
				memory = max(memory, p.memory())
				p.end()
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/start")
			b.ReportMetric(float64(best.Microseconds())/1000, "ms-best")
			b.ReportMetric(float64(memory)/1024, "MiB-idle")
		})
	}
}

// BenchmarkCreateAndGet creates tasks over one pipe and gets each of them back,
// which is compared. Every creation is on disk before it is answered; those that
// are in flight together share a commit.
func BenchmarkCreateAndGet(b *testing.B) {
	bossman := build(b)
	for _, tc := range []struct{ inFlight, pairs int }{{64, 5_000}, {1, 250}} {
		b.Run(fmt.Sprintf("%d calls, %d in flight", 2*tc.pairs, tc.inFlight), func(b *testing.B) {
			for b.Loop() {
				p := launch(b, command(b, bossman, "--db", filepath.Join(b.TempDir(), "tasks.db")))
				p.alive()
				begin := time.Now()
				p.createAndGet(tc.pairs, tc.inFlight)
				b.ReportMetric(float64(2*tc.pairs)/time.Since(begin).Seconds(), "calls/s")
				b.StopTimer()
				p.end()
				b.StartTimer()
			}
		})
	}
}

// createAndGet makes tasks and gets each, with so many calls in flight.
func (p *process) createAndGet(pairs, inFlight int) {
	p.t.Helper()
	created, got := 0, 0
	create := func() {
		if created < pairs {
			created++
			p.send(modern(fmt.Sprintf(`"create %d"`, created), "tools/call",
				fmt.Sprintf(`"name":"create_task","arguments":{"description":"number %d"}`, created)))
		}
	}
	for range inFlight {
		create()
	}
	for got < pairs {
		m := p.receive()
		what, number, _ := strings.Cut(unquoted(m.ID), " ")
		if unquoted(m.member("structuredContent", "description")) != "number "+number {
			p.t.Fatalf("%s %s: %s", what, number, m.text)
		}
		if what == "create" {
			p.send(modern(quote("get "+number), "tools/call", `"name":"get_task","arguments":{"id":"`+taskID(m)+`"}`))
			continue
		}
		got++
		create()
	}
}

// The promise of the benchmark, held in every run: ten thousand calls over one
// pipe, each verified. The file is in memory where it can be; what a disk makes
// of it is the benchmark's business.
func TestTenThousandCalls(t *testing.T) {
	pairs := 5_000
	if raceEnabled {
		pairs = 1_000
	}
	p := startOn(t, filepath.Join(quickFolder(t), "tasks.db"))
	begin := time.Now()
	p.createAndGet(pairs, 64)
	took := time.Since(begin)
	t.Logf("%d calls in %v: %.0f a second", 2*pairs, took.Round(time.Millisecond), float64(2*pairs)/took.Seconds())
	p.end()
}
