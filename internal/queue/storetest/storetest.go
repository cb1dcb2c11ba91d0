// Package storetest is the specification of a queue.Store as tests. Every
// store runs the whole suite.
package storetest

import (
	"errors"
	"sync"
	"testing"

	"github.com/bossman-mcp/bossman/internal/queue"
)

// Run tests the store that open opens. Called again with the same t, open must
// open the same tasks once more, whether or not the first store is still open;
// with another t, an empty store. The suite closes every store it opens.
func Run(t *testing.T, open func(t *testing.T) queue.Store) {
	stories := []struct {
		name string
		test func(t *testing.T, open opener)
	}{
		{"a created task is pending and can be read", createAndGet},
		{"a task outside the limits is not created", createInvalid},
		{"an unknown ID is not found", getUnknown},
		{"R095 texts come back byte for byte", texts},
		{"R095 strings made to break SQL are only strings", injections},
		{"tasks are claimed by priority and then by age", claimOrder},
		{"a claim marks the task with its worker", claimMarks},
		{"a worker's name outside the limits claims nothing", claimInvalid},
		{"a task is finished, claimed or not", finish},
		{"finishing again is harmless, finishing otherwise refused", finishAgain},
		{"a result outside the limits finishes nothing", finishInvalid},
		{"a list is filtered by status and worker", listFilters},
		{"a list comes in pages", listPages},
		{"pages stay stable while tasks are added and claimed", listStable},
		{"pages of large tasks are short", listLarge},
		{"a bad filter or cursor is refused", listInvalid},
		{"R084 many workers claim each task once", claimOnce},
		{"R084 two stores on the same tasks claim each task once", claimOnceAcross},
		{"of many outcomes one stands", finishOnce},
		{"a cancelled caller changes nothing", cancelledBefore},
		{"a caller cancelled on the way gets the truth", cancelledAmid},
		{"tasks are there after reopening", reopen},
		{"closing carries acknowledged changes through", closeAmid},
		{"a closed store says so", closed},
		{"a store behaves as its model does", random},
	}
	for _, story := range stories {
		t.Run(story.name, func(t *testing.T) { story.test(t, open) })
	}
}

// An opener is the argument of Run.
type opener func(t *testing.T) queue.Store

// start opens a store and closes it at the end of the test.
func (open opener) start(t *testing.T) queue.Store {
	t.Helper()
	store := open(t)
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return store
}

// create creates a task with the given description.
func create(t *testing.T, store queue.Store, description string) queue.Task {
	t.Helper()
	task, err := store.Create(t.Context(), queue.NewTask{Description: description})
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	return task
}

// claim claims the next task.
func claim(t *testing.T, store queue.Store, worker string) queue.Task {
	t.Helper()
	task, err := store.ClaimNext(t.Context(), worker)
	if err != nil {
		t.Fatalf("claim: %v", err)
	}
	return task
}

// all returns every task that matches the filter, page by page.
func all(t *testing.T, store queue.Store, filter queue.Filter) []queue.Task {
	t.Helper()
	var tasks []queue.Task
	for {
		page, err := store.List(t.Context(), filter)
		if err != nil {
			t.Fatalf("list: %v", err)
		}
		tasks = append(tasks, page.Tasks...)
		if page.Next == "" {
			return tasks
		}
		filter.Cursor = page.Next
	}
}

// expect fails the test unless the store has exactly this task.
func expect(t *testing.T, store queue.Store, want queue.Task) {
	t.Helper()
	got, err := store.Get(t.Context(), want.ID)
	if err != nil {
		t.Fatalf("get: %v", err)
	}
	if got != want {
		t.Errorf("the store has %+v, want %+v", got, want)
	}
}

// expectError fails the test unless err is want.
func expectError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got error %v, want %v", err, want)
	}
}

// together runs do(0) to do(n-1) at once and waits for all of them.
func together(n int, do func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { do(i) }) // together waits for it
	}
	wg.Wait()
}
