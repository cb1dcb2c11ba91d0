package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/internal/queue"
)

func createAndGet(t *testing.T, open opener) {
	store := open.start(t)
	before := queue.Instant(time.Now())
	task, err := store.Create(t.Context(), queue.NewTask{Title: "Parser", Description: "Fix the parser", Priority: -3})
	if err != nil {
		t.Fatal(err)
	}
	want := queue.Task{
		ID: task.ID, Title: "Parser", Description: "Fix the parser", Status: queue.Pending, Priority: -3,
		CreatedAt: task.CreatedAt, UpdatedAt: task.CreatedAt,
	}
	if task != want {
		t.Errorf("got %+v, want %+v", task, want)
	}
	if !strings.HasPrefix(task.ID, "task_") {
		t.Errorf("the ID is %q", task.ID)
	}
	if task.CreatedAt.Before(before) || task.CreatedAt.After(time.Now()) || task.CreatedAt != queue.Instant(task.CreatedAt) {
		t.Errorf("created at %v, not in whole milliseconds after %v", task.CreatedAt, before)
	}
	expect(t, store, task)

	if other := create(t, store, "Fix the parser"); other.ID == task.ID {
		t.Errorf("two tasks have the ID %s", task.ID)
	}
}

func createInvalid(t *testing.T, open opener) {
	store := open.start(t)
	for _, task := range []queue.NewTask{
		{},
		{Description: strings.Repeat("x", queue.MaxDescription+1)},
		{Description: "x", Title: strings.Repeat("x", queue.MaxTitle+1)},
		{Description: "x", Priority: queue.MaxPriority + 1},
		{Description: "\xff"},
	} {
		_, err := store.Create(t.Context(), task)
		expectError(t, err, queue.ErrInvalid)
	}
	if tasks := all(t, store, queue.Filter{}); len(tasks) != 0 {
		t.Errorf("the store has %d tasks, want none", len(tasks))
	}
}

func getUnknown(t *testing.T, open opener) {
	store := open.start(t)
	task := create(t, store, "x")
	_, err := store.Get(t.Context(), "task_xyz")
	expectError(t, err, queue.ErrNotFound)
	if err.Error() != "task not found: task_xyz" {
		t.Errorf("the error reads %q", err)
	}
	for _, id := range []string{
		"", "%", "task_%", "' OR '1'='1", strings.ToUpper(task.ID), task.ID + " ", task.ID + "\x00",
		task.ID[:len(task.ID)-1], strings.Repeat("x", 1<<20), "\xff",
	} {
		_, err := store.Get(t.Context(), id)
		expectError(t, err, queue.ErrNotFound)
		_, err = store.Finish(t.Context(), id, queue.Outcome{})
		expectError(t, err, queue.ErrNotFound)
	}
	expect(t, store, task)
}
