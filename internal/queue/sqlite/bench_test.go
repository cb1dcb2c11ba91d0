package sqlite_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bossman-mcp/bossman/internal/queue"
	"github.com/bossman-mcp/bossman/internal/queue/sqlite"
)

// A description of the usual length.
const someWork = "Find out why the parser drops the last line of a file without a final newline, fix it and add a test."

func BenchmarkCreate(b *testing.B) {
	for _, writers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			store := openFile(b, filepath.Join(b.TempDir(), "queue.db"))
			inFlight(b, writers, func() error {
				_, err := store.Create(b.Context(), queue.NewTask{Description: someWork})
				return err
			})
		})
	}
}

func BenchmarkClaim(b *testing.B) {
	for _, workers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			store := openFile(b, filepath.Join(b.TempDir(), "queue.db"))
			b.StopTimer()
			inFlight(b, 64, func() error {
				_, err := store.Create(b.Context(), queue.NewTask{Description: someWork})
				return err
			})
			b.ResetTimer()
			b.StartTimer()
			inFlight(b, workers, func() error {
				_, err := store.ClaimNext(b.Context(), "worker")
				return err
			})
		})
	}
}

func BenchmarkGet(b *testing.B) {
	store := openFile(b, filepath.Join(b.TempDir(), "queue.db"))
	task, err := store.Create(b.Context(), queue.NewTask{Description: someWork})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := store.Get(b.Context(), task.ID); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "queue.db")
	openFile(b, path)
	for b.Loop() {
		store, err := sqlite.Open(b.Context(), path, nil)
		if err != nil {
			b.Fatal(err)
		}
		store.Close()
	}
}

// inFlight calls do b.N times, from n goroutines, and reports calls a second.
func inFlight(b *testing.B, n int, do func() error) {
	var (
		left atomic.Int64
		wg   sync.WaitGroup
	)
	left.Store(int64(b.N))
	for range n {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				if err := do(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}
