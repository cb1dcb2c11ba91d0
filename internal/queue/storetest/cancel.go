package storetest

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/internal/queue"
)

func cancelledBefore(t *testing.T, open opener) {
	store := open.start(t)
	task := create(t, store, "x")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	for _, ctx := range []context.Context{gone, late} {
		_, err := store.Create(ctx, queue.NewTask{Description: "y"})
		expectError(t, err, ctx.Err())
		_, err = store.Get(ctx, task.ID)
		expectError(t, err, ctx.Err())
		_, err = store.List(ctx, queue.Filter{})
		expectError(t, err, ctx.Err())
		_, err = store.ClaimNext(ctx, "worker")
		expectError(t, err, ctx.Err())
		_, err = store.Finish(ctx, task.ID, queue.Outcome{})
		expectError(t, err, ctx.Err())
	}
	compare(t, all(t, store, queue.Filter{}), []queue.Task{task})
}

// cancelledAmid cancels callers at random moments. An error must mean that
// nothing happened, success that everything did.
func cancelledAmid(t *testing.T, open opener) {
	store := open.start(t)
	fill(t, store, 100)
	var (
		mu      sync.Mutex
		created = make(map[string]bool)
		claimed = make(map[string]bool)
	)
	for _, task := range all(t, store, queue.Filter{Limit: queue.MaxLimit}) {
		created[task.ID] = true
	}
	together(32, func(i int) {
		for range 20 {
			ctx, cancel := context.WithTimeout(t.Context(), rand.N(2*time.Millisecond))
			verb, set := store.ClaimNext, claimed
			if i%2 == 0 {
				verb, set = func(ctx context.Context, _ string) (queue.Task, error) {
					return store.Create(ctx, queue.NewTask{Description: "x"})
				}, created
			}
			task, err := verb(ctx, "worker")
			cancel()
			switch {
			case err == nil:
				mu.Lock()
				set[task.ID] = true
				mu.Unlock()
			case !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, queue.ErrEmpty):
				t.Errorf("got %v, want the context's error", err)
			}
		}
	})
	for _, task := range all(t, store, queue.Filter{Limit: queue.MaxLimit}) {
		if !created[task.ID] {
			t.Errorf("%s is there, and its caller was told it is not", task.ID)
		}
		if (task.Status == queue.InProgress) != claimed[task.ID] {
			t.Errorf("%s is %s, and its caller was told otherwise", task.ID, task.Status)
		}
		delete(created, task.ID)
	}
	if len(created) != 0 {
		t.Errorf("%d acknowledged tasks are missing", len(created))
	}
	create(t, store, "afterwards")
}
