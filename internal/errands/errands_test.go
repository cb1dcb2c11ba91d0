package errands_test

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/bossman-mcp/bossman/internal/errands"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestErrandsAreRunOneAfterTheOtherInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q errands.Queue
		var order []int // of one goroutine at a time, or the race detector says so
		for n := range 10_000 {
			q.Add(func() { order = append(order, n) })
		}
		synctest.Wait()
		if len(order) != 10_000 || !slices.IsSorted(order) {
			t.Errorf("%d of 10,000 errands were run; in order: %v", len(order), slices.IsSorted(order))
		}
	})
}

func TestErrandsThatAreHeldUpDoNotHoldUpOthersForLong(t *testing.T) {
	for _, stuck := range []int{1, 7, 500} {
		synctest.Test(t, func(t *testing.T) {
			var q errands.Queue
			free := make(chan struct{})
			for range stuck {
				q.Add(func() { <-free })
			}
			start := time.Now()
			var done sync.WaitGroup
			var at, most atomic.Int64 // quick errands under way, and the most of them
			for range 1000 {
				done.Add(1)
				q.Add(func() {
					defer done.Done()
					most.Store(max(most.Load(), at.Add(1)))
					at.Add(-1)
				})
			}
			time.AfterFunc(time.Minute, func() { close(free) }) // or a fault would last for ever
			done.Wait()
			if took := time.Since(start); took > 400*time.Millisecond {
				t.Errorf("behind %d that are stuck, the others took %v", stuck, took)
			}
			if got := most.Load(); got > int64(2*stuck) {
				t.Errorf("behind %d that are stuck, %d ran at once", stuck, got)
			}
			time.Sleep(time.Minute)
		})
	}
}

func TestAnErrandMayAddAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q errands.Queue
		ran := 0
		var again func()
		again = func() {
			if ran++; ran < 100 {
				q.Add(again)
			}
		}
		q.Add(again)
		synctest.Wait()
		if ran != 100 {
			t.Errorf("%d of 100 were run", ran)
		}
	})
}

func TestWhatComesBehindAStuckErrandIsRunSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q errands.Queue
		free := make(chan struct{})
		q.Add(func() { <-free })
		ran := make(chan struct{})
		time.Sleep(time.Hour) // while nothing waits behind it
		q.Add(func() { close(ran) })
		start := time.Now()
		time.AfterFunc(time.Minute, func() { close(free) }) // or a fault would last for ever
		<-ran
		if took := time.Since(start); took > 50*time.Millisecond {
			t.Errorf("the next one waited for %v", took)
		}
		time.Sleep(time.Minute)
	})
}
