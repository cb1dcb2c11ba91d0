package storetest

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/internal/queue"
)

func finish(t *testing.T, open opener) {
	store := open.start(t)
	tests := []struct {
		name    string
		claimed bool
		outcome queue.Outcome
		status  queue.Status
	}{
		{"claimed and done", true, queue.Outcome{Result: "ok"}, queue.Done},
		{"claimed and failed", true, queue.Outcome{Result: "no compiler", Failed: true}, queue.Failed},
		{"not claimed and done", false, queue.Outcome{Result: "ok"}, queue.Done},
		{"not claimed and failed without a word", false, queue.Outcome{Failed: true}, queue.Failed},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			want := create(t, store, test.name)
			if test.claimed {
				want = claim(t, store, "alice")
			}
			task, err := store.Finish(t.Context(), want.ID, test.outcome)
			if err != nil {
				t.Fatal(err)
			}
			if task.DoneAt.Before(want.UpdatedAt) || task.DoneAt.After(time.Now()) {
				t.Errorf("done at %v, updated before at %v", task.DoneAt, want.UpdatedAt)
			}
			want.Status, want.Result = test.status, test.outcome.Result
			want.DoneAt, want.UpdatedAt = task.DoneAt, task.DoneAt
			if task != want || task.DoneAt != queue.Instant(task.DoneAt) {
				t.Errorf("got %+v, want %+v", task, want)
			}
			expect(t, store, task)
			_, err = store.ClaimNext(t.Context(), "bob")
			expectError(t, err, queue.ErrEmpty)
		})
	}
	_, err := store.Finish(t.Context(), "task_xyz", queue.Outcome{})
	expectError(t, err, queue.ErrNotFound)
	if err.Error() != "task not found: task_xyz" {
		t.Errorf("the error reads %q", err)
	}
}

func finishAgain(t *testing.T, open opener) {
	store := open.start(t)
	for _, outcome := range []queue.Outcome{{Result: "ok"}, {Result: "ok", Failed: true}, {}} {
		id := create(t, store, "x").ID
		first, err := store.Finish(t.Context(), id, outcome)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			again, err := store.Finish(t.Context(), id, outcome)
			if err != nil || again != first {
				t.Errorf("again: got %+v, %v, want %+v", again, err, first)
			}
		}
		for _, other := range []queue.Outcome{
			{Result: outcome.Result + "!", Failed: outcome.Failed},
			{Result: outcome.Result + "\x00", Failed: outcome.Failed},
			{Result: outcome.Result, Failed: !outcome.Failed},
		} {
			_, err := store.Finish(t.Context(), id, other)
			expectError(t, err, queue.ErrFinished)
		}
		expect(t, store, first)
	}
}

func finishInvalid(t *testing.T, open opener) {
	store := open.start(t)
	task := create(t, store, "x")
	for _, result := range []string{"\xff", strings.Repeat("x", queue.MaxResult+1), strings.Repeat("x", 4<<20)} {
		_, err := store.Finish(t.Context(), task.ID, queue.Outcome{Result: result})
		expectError(t, err, queue.ErrInvalid)
	}
	expect(t, store, task)
	longest := strings.Repeat("\u00e9", queue.MaxResult/2)
	done, err := store.Finish(t.Context(), task.ID, queue.Outcome{Result: longest})
	if err != nil || done.Result != longest {
		t.Fatalf("the longest result: %v", err)
	}
	expect(t, store, done)
}

func finishOnce(t *testing.T, open opener) {
	store := open.start(t)
	id := create(t, store, "x").ID
	var won atomic.Int32
	together(64, func(i int) {
		outcome := queue.Outcome{Result: fmt.Sprint(i)}
		task, err := store.Finish(t.Context(), id, outcome)
		switch {
		case err == nil && task.Result == outcome.Result:
			won.Add(1)
		case err == nil:
			t.Errorf("finished with %q, and got %q", outcome.Result, task.Result)
		case !errors.Is(err, queue.ErrFinished):
			t.Errorf("finish: %v", err)
		}
	})
	if won.Load() != 1 {
		t.Errorf("%d of 64 different outcomes were accepted, want 1", won.Load())
	}

	id = create(t, store, "y").ID
	tasks := make([]queue.Task, 64)
	together(64, func(i int) {
		var err error
		if tasks[i], err = store.Finish(t.Context(), id, queue.Outcome{Result: "ok"}); err != nil {
			t.Errorf("the same outcome: %v", err)
		}
	})
	for _, task := range tasks {
		expect(t, store, task)
	}
}
