package storetest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/internal/queue"
)

func claimOrder(t *testing.T, open opener) {
	store := open.start(t)
	_, err := store.ClaimNext(t.Context(), "worker")
	expectError(t, err, queue.ErrEmpty)

	priorities := []int{0, -1, 5, 0, 5, queue.MaxPriority, 0, -queue.MaxPriority, 5, -1}
	ids := make([]string, len(priorities))
	for i, priority := range priorities {
		task, err := store.Create(t.Context(), queue.NewTask{Description: "x", Priority: priority})
		if err != nil {
			t.Fatal(err)
		}
		ids[i] = task.ID
	}
	for _, i := range []int{5, 2, 4, 8, 0, 3, 6, 1, 9, 7} {
		if task := claim(t, store, "worker"); task.ID != ids[i] {
			t.Errorf("claimed a task of priority %d, want number %d of priority %d", task.Priority, i, priorities[i])
		}
	}
	_, err = store.ClaimNext(t.Context(), "worker")
	expectError(t, err, queue.ErrEmpty)

	late := create(t, store, "late")
	if task := claim(t, store, "worker"); task.ID != late.ID {
		t.Errorf("claimed %s, want %s", task.ID, late.ID)
	}
}

func claimMarks(t *testing.T, open opener) {
	store := open.start(t)
	for _, worker := range []string{"alice", ""} {
		want := create(t, store, "x")
		task := claim(t, store, worker)
		if task.ClaimedAt.Before(task.CreatedAt) || task.ClaimedAt.After(time.Now()) {
			t.Errorf("claimed at %v, created at %v", task.ClaimedAt, task.CreatedAt)
		}
		want.Status, want.Worker = queue.InProgress, worker
		want.ClaimedAt, want.UpdatedAt = task.ClaimedAt, task.ClaimedAt
		if task != want || task.ClaimedAt != queue.Instant(task.ClaimedAt) {
			t.Errorf("got %+v, want %+v", task, want)
		}
		expect(t, store, task)
	}
}

func claimInvalid(t *testing.T, open opener) {
	store := open.start(t)
	task := create(t, store, "x")
	for _, worker := range []string{strings.Repeat("x", queue.MaxWorker+1), "\xff"} {
		_, err := store.ClaimNext(t.Context(), worker)
		expectError(t, err, queue.ErrInvalid)
	}
	expect(t, store, task)
}

// fill creates n tasks, many at once.
func fill(t *testing.T, store queue.Store, n int) {
	t.Helper()
	together(50, func(i int) {
		for ; i < n; i += 50 {
			if _, err := store.Create(t.Context(), queue.NewTask{Description: fmt.Sprint(i)}); err != nil {
				t.Errorf("create: %v", err)
			}
		}
	})
}

func claimOnce(t *testing.T, open opener) {
	store := open.start(t)
	drain(t, []queue.Store{store}, 2_000, 64)
}

func claimOnceAcross(t *testing.T, open opener) {
	drain(t, []queue.Store{open.start(t), open.start(t)}, 600, 16)
}

// drain creates n tasks, has the workers claim them through the stores in turn
// until none is left, and checks that each was claimed once.
func drain(t *testing.T, stores []queue.Store, n, workers int) {
	fill(t, stores[0], n)
	var (
		mu     sync.Mutex
		claims = make(map[string]string) // worker by task
	)
	together(workers, func(i int) {
		worker, store := fmt.Sprint("worker ", i), stores[i%len(stores)]
		for {
			task, err := store.ClaimNext(t.Context(), worker)
			if errors.Is(err, queue.ErrEmpty) {
				return
			}
			if err != nil {
				t.Errorf("claim: %v", err)
				return
			}
			mu.Lock()
			if other, taken := claims[task.ID]; taken {
				t.Errorf("%s was claimed by %s and by %s", task.ID, other, worker)
			}
			claims[task.ID] = worker
			mu.Unlock()
		}
	})
	if len(claims) != n {
		t.Errorf("%d of %d tasks were claimed", len(claims), n)
	}
	for _, task := range all(t, stores[0], queue.Filter{Limit: queue.MaxLimit}) {
		if task.Status != queue.InProgress || task.Worker != claims[task.ID] {
			t.Errorf("%s was claimed by %s, and the store says %s, %s", task.ID, claims[task.ID], task.Status, task.Worker)
		}
	}
}
