package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bossman-mcp/bossman/internal/errands"
	"github.com/bossman-mcp/bossman/mcp"
)

// reader takes events, one whenever it is let.
type reader struct {
	let chan struct{} // nil: at once

	mu  sync.Mutex
	got []mcp.Event
}

func (r *reader) send(_ context.Context, e mcp.Event) error {
	if r.let != nil {
		<-r.let
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, e)
	return nil
}

func (r *reader) events() []mcp.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

func updated(n int) mcp.Event {
	return mcp.Event{Method: mcp.NotificationResourceUpdated, URI: fmt.Sprintf("memo://%d", n)}
}

func TestEventsLeaveInOrderAndNotBeforeTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reader{}
		box := newOutbox(t.Context(), r.send)
		for n := range 3 {
			box.add(updated(n))
		}
		synctest.Wait()
		if got := r.events(); len(got) != 0 {
			t.Errorf("before the start %v left", got)
		}
		box.start()
		synctest.Wait()
		box.add(updated(3))
		synctest.Wait()
		if got, want := r.events(), []mcp.Event{updated(0), updated(1), updated(2), updated(3)}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		box.close()
		box.wait()
	})
}

func TestASlowReaderCostsOneSmallSlice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow, fast := &reader{let: make(chan struct{})}, &reader{}
		slowBox, fastBox := newOutbox(t.Context(), slow.send), newOutbox(t.Context(), fast.send)
		slowBox.start()
		fastBox.start()
		for n := range 100_000 { // returns, although nobody reads
			slowBox.add(updated(n))
			if n < 100 {
				fastBox.add(updated(n))
				synctest.Wait()
			}
		}
		if got := len(fast.events()); got != 100 {
			t.Errorf("the fast reader got %d of 100 events", got)
		}
		if waiting := len(slowBox.waiting); waiting != maxWaiting {
			t.Errorf("%d events wait, want %d", waiting, maxWaiting)
		}
		slowBox.close()
		close(slow.let)
		slowBox.wait()
		fastBox.close()
		fastBox.wait()
		if got := len(slow.events()); got != 1 {
			t.Errorf("the slow reader got %d events, want the one under way", got)
		}
	})
}

func TestAnEventThatWaitsIsNotAddedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reader{let: make(chan struct{})}
		box := newOutbox(t.Context(), r.send)
		box.start()
		tools := mcp.Event{Method: mcp.NotificationToolsListChanged}
		box.add(tools)
		synctest.Wait() // it is under way: what changes now is news again
		for range 1000 {
			box.add(tools)
			box.add(updated(1))
		}
		close(r.let)
		synctest.Wait()
		if got, want := r.events(), []mcp.Event{tools, tools, updated(1)}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		box.close()
		box.wait()
	})
}

func TestANewerStateTakesThePlaceOfOneThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reader{}
		box := newOutbox(t.Context(), r.send)
		state := func(id string, status mcp.DeferredStatus) mcp.Event {
			return mcp.Event{Method: mcp.NotificationDeferred, Deferred: &mcp.Deferred{ID: id, Status: status}}
		}
		box.add(state("a", mcp.DeferredWorking))
		box.add(state("b", mcp.DeferredWorking))
		last := state("a", mcp.DeferredCompleted)
		box.add(last)
		box.start()
		synctest.Wait()
		if got := r.events(); len(got) != 2 || got[0] != last || got[1].Deferred.ID != "b" {
			t.Errorf("got %v, want the newest state of a, then that of b", got)
		}
		box.close()
		box.wait()
	})
}

func TestAClosedOutboxSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reader{}
		box := newOutbox(t.Context(), r.send)
		box.add(updated(1))
		box.close()
		box.start()
		box.add(updated(2))
		synctest.Wait()
		box.close()
		box.wait()
		if got := r.events(); len(got) != 0 {
			t.Errorf("got %v", got)
		}
	})
}

func TestAnOutboxWhoseSendFailsCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent := 0
		box := newOutbox(t.Context(), func(context.Context, mcp.Event) error {
			sent++
			return errors.New("gone")
		})
		box.start()
		for n := range 10 {
			box.add(updated(n))
		}
		synctest.Wait()
		box.add(updated(11))
		box.wait()
		if sent != 1 {
			t.Errorf("it sent %d times, want once", sent)
		}
	})
}

func TestBoxesThatShareAQueueAreServedByFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var queue errands.Queue
		var under, most atomic.Int64 // sends under way, and the most of them
		free := make(chan struct{})
		boxes := make([]*outbox, 10_000)
		for n := range boxes {
			boxes[n] = &outbox{ctx: t.Context(), queue: &queue, send: func(context.Context, mcp.Event) error {
				most.Store(max(most.Load(), under.Add(1)))
				if n == 5000 { // a client that does not read
					<-free
				}
				under.Add(-1)
				return nil
			}}
			boxes[n].start()
			boxes[n].add(updated(1))
		}
		time.Sleep(100 * time.Millisecond)
		if got := under.Load(); got != 1 {
			t.Errorf("%d events are on their way, want the one that nobody takes", got)
		}
		if got := most.Load(); got > 4 {
			t.Errorf("%d events were sent at once", got)
		}
		close(free)
		for _, box := range boxes {
			box.close()
			box.wait()
		}
	})
}
