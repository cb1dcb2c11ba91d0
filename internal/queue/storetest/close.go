package storetest

import (
	"errors"
	"sync"
	"testing"

	"github.com/bossman-mcp/bossman/internal/queue"
)

func reopen(t *testing.T, open opener) {
	store := open(t)
	for _, text := range awkward() {
		create(t, store, text+".")
	}
	for range 4 {
		claim(t, store, "alice")
	}
	for i, text := range awkward()[:4] {
		task := claim(t, store, "bob")
		if _, err := store.Finish(t.Context(), task.ID, queue.Outcome{Result: text, Failed: i == 0}); err != nil {
			t.Fatal(err)
		}
	}
	want := all(t, store, queue.Filter{})
	if err := store.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}

	store = open.start(t)
	compare(t, all(t, store, queue.Filter{}), want)
	if task := claim(t, store, "carol"); task.ID != want[8].ID {
		t.Errorf("claimed %s, want %s, the oldest pending task", task.ID, want[8].ID)
	}
	create(t, store, "new")
	if tasks := all(t, store, queue.Filter{}); len(tasks) != len(want)+1 || tasks[len(want)].Description != "new" {
		t.Errorf("a new task is not the last of %d", len(tasks))
	}
}

func closeAmid(t *testing.T, open opener) {
	store := open(t)
	var (
		mu    sync.Mutex
		acked = make(map[string]bool)
		ready sync.WaitGroup
	)
	ready.Add(16)
	together(17, func(i int) {
		if i == 16 {
			ready.Wait()
			if err := store.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
			return
		}
		started := sync.OnceFunc(ready.Done)
		defer started()
		for created := 0; ; created++ {
			task, err := store.Create(t.Context(), queue.NewTask{Description: "x"})
			if errors.Is(err, queue.ErrClosed) {
				return
			}
			if err != nil {
				t.Errorf("create: %v", err)
				return
			}
			mu.Lock()
			acked[task.ID] = true
			mu.Unlock()
			if created == 2 {
				started()
			}
		}
	})
	if err := store.Close(); err != nil {
		t.Errorf("close again: %v", err)
	}
	tasks := all(t, open.start(t), queue.Filter{Limit: queue.MaxLimit})
	for _, task := range tasks {
		if !acked[task.ID] {
			t.Errorf("%s was created but not acknowledged", task.ID)
		}
	}
	if len(tasks) != len(acked) {
		t.Errorf("%d tasks were acknowledged, %d are there", len(acked), len(tasks))
	}
}

func closed(t *testing.T, open opener) {
	store := open(t)
	task := create(t, store, "x")
	for range 2 {
		if err := store.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	_, err := store.Create(t.Context(), queue.NewTask{Description: "x"})
	expectError(t, err, queue.ErrClosed)
	_, err = store.Get(t.Context(), task.ID)
	expectError(t, err, queue.ErrClosed)
	_, err = store.List(t.Context(), queue.Filter{})
	expectError(t, err, queue.ErrClosed)
	_, err = store.ClaimNext(t.Context(), "worker")
	expectError(t, err, queue.ErrClosed)
	_, err = store.Finish(t.Context(), task.ID, queue.Outcome{})
	expectError(t, err, queue.ErrClosed)
}
