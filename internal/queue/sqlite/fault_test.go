package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bossman-mcp/bossman/internal/queue"
	"github.com/bossman-mcp/bossman/internal/queue/sqlite"
)

// fillUp creates large tasks until the store refuses, checks the refusal, and
// returns the tasks that were acknowledged.
func fillUp(ctx context.Context, store queue.Store) ([]queue.Task, error) {
	var acked []queue.Task
	large := queue.NewTask{Description: strings.Repeat("x", 30_000)}
	for range 1_000 {
		task, err := store.Create(ctx, large)
		if err == nil {
			acked = append(acked, task)
			continue
		}
		if !errors.Is(err, queue.ErrUnavailable) || !strings.Contains(err.Error(), "the disk") {
			return nil, fmt.Errorf("got %w, want ErrUnavailable that blames the disk", err)
		}
		return acked, nil
	}
	return nil, errors.New("the disk never filled up")
}

// sameTasks returns an error unless the store holds exactly these tasks.
func sameTasks(ctx context.Context, store queue.Store, want []queue.Task) error {
	filter := queue.Filter{Limit: queue.MaxLimit}
	n := 0
	for {
		page, err := store.List(ctx, filter)
		if err != nil {
			return err
		}
		for _, task := range page.Tasks {
			if n == len(want) || task != want[n] {
				return fmt.Errorf("task %d is %s, which was not acknowledged there", n, task.ID)
			}
			n++
		}
		if filter.Cursor = page.Next; page.Next == "" {
			break
		}
	}
	if n != len(want) {
		return fmt.Errorf("%d tasks were acknowledged, %d are there", len(want), n)
	}
	return nil
}

func TestR083FullFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queue.db")
	store := openFile(t, path)
	first, err := store.Create(t.Context(), queue.NewTask{Description: "before"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Pragma(t.Context(), "max_page_count = 100"); err != nil {
		t.Fatal(err)
	}
	acked, err := fillUp(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	acked = append([]queue.Task{first}, acked...)
	if err := sameTasks(t.Context(), store, acked); err != nil {
		t.Error(err)
	}
	if _, err := store.Pragma(t.Context(), "max_page_count = 1000000"); err != nil {
		t.Fatal(err)
	}
	after, err := store.Create(t.Context(), queue.NewTask{Description: strings.Repeat("y", 30_000)})
	if err != nil {
		t.Fatalf("with room again: %v", err)
	}
	if err := sameTasks(t.Context(), store, append(acked, after)); err != nil {
		t.Error(err)
	}
	checkIntegrity(t, path)
}

func TestR083FullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queue.db")
	output, err := startChild(t, "child-full", path, 0).end()
	if strings.Contains(output, "skip") {
		t.Skip("this system has no limit on the size of files")
	}
	if err != nil || !strings.Contains(output, "recovered") {
		t.Fatalf("%v: %s", err, output)
	}
	checkIntegrity(t, path)
}

// fullChild meets a limit on the size of files, which the system enforces as it
// does the end of a disk: in the middle of a write.
func fullChild(store *sqlite.Store) error {
	ctx := context.Background()
	first, err := store.Create(ctx, queue.NewTask{Description: "before"})
	if err != nil {
		return err
	}
	restore, ok := limitFiles(1 << 20)
	if !ok {
		fmt.Println("skip")
		return nil
	}
	acked, err := fillUp(ctx, store)
	if err != nil {
		return err
	}
	for range 3 { // it stays full
		more, err := fillUp(ctx, store)
		if err != nil {
			return err
		}
		acked = append(acked, more...)
	}
	acked = append([]queue.Task{first}, acked...)
	if err := sameTasks(ctx, store, acked); err != nil {
		return fmt.Errorf("while full: %w", err)
	}
	restore()
	after, err := store.Create(ctx, queue.NewTask{Description: strings.Repeat("y", 30_000)})
	if err != nil {
		return fmt.Errorf("with room again: %w", err)
	}
	if err := sameTasks(ctx, store, append(acked, after)); err != nil {
		return fmt.Errorf("with room again: %w", err)
	}
	fmt.Println("recovered")
	return nil
}

func TestReadsDoNotWaitForAWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queue.db")
	store := openFile(t, path)
	task, err := store.Create(t.Context(), queue.NewTask{Description: "x"})
	if err != nil {
		t.Fatal(err)
	}
	other := rawOpen(t, path)
	rawExec(t, other, "BEGIN IMMEDIATE")
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	if got, err := store.Get(ctx, task.ID); err != nil || got != task {
		t.Errorf("got %+v, %v", got, err)
	}
	if page, err := store.List(ctx, queue.Filter{}); err != nil || len(page.Tasks) != 1 {
		t.Errorf("got %+v, %v", page, err)
	}

	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if _, err := store.ClaimNext(short, "worker"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a claim that waits for the lock ends with %v, want the context's error", err)
	}
	rawExec(t, other, "COMMIT")
	if got, err := store.ClaimNext(ctx, "worker"); err != nil || got.ID != task.ID {
		t.Errorf("after the lock: got %+v, %v", got, err)
	}
}

func TestCloseDoesNotWaitForALockThatNobodyNeeds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queue.db")
	store, err := sqlite.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	other := rawOpen(t, path)
	rawExec(t, other, "BEGIN IMMEDIATE")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := store.ClaimNext(ctx, "worker"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the context's error", err)
	}
	start := time.Now()
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("closing took %v", took)
	}
	rawExec(t, other, "COMMIT")
}

func TestADamagedFileIsAnErrorForEveryVerb(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queue.db")
	store := openFile(t, path)
	task, err := store.Create(t.Context(), queue.NewTask{Description: "x"})
	if err != nil {
		t.Fatal(err)
	}
	rawExec(t, rawOpen(t, path), "DROP TABLE tasks")
	verbs := map[string]func() error{
		"create": func() error {
			_, err := store.Create(t.Context(), queue.NewTask{Description: "x"})
			return err
		},
		"get":    func() error { _, err := store.Get(t.Context(), task.ID); return err },
		"list":   func() error { _, err := store.List(t.Context(), queue.Filter{}); return err },
		"claim":  func() error { _, err := store.ClaimNext(t.Context(), "worker"); return err },
		"finish": func() error { _, err := store.Finish(t.Context(), task.ID, queue.Outcome{}); return err },
	}
	for name, verb := range verbs {
		err := verb()
		if err == nil {
			t.Errorf("%s: succeeded", name)
		}
		for _, other := range []error{queue.ErrEmpty, queue.ErrNotFound, queue.ErrInvalid, queue.ErrUnavailable} {
			if errors.Is(err, other) {
				t.Errorf("%s: got %v, which it is not", name, err)
			}
		}
	}
}

// In the bubble the wait for the lock takes no time.
func TestALockThatStaysIsUnavailable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queue.db")
	openFile(t, path)
	other := rawOpen(t, path)
	synctest.Test(t, func(t *testing.T) {
		store := openFile(t, path)
		rawExec(t, other, "BEGIN IMMEDIATE")
		start := time.Now()
		_, err := store.Create(t.Context(), queue.NewTask{Description: "x"})
		if !errors.Is(err, queue.ErrUnavailable) || strings.Contains(err.Error(), "database is locked") {
			t.Errorf("got %v, want ErrUnavailable in our words", err)
		}
		if waited := time.Since(start); waited < 10*time.Second || waited > time.Minute {
			t.Errorf("gave up after %v", waited)
		}
		rawExec(t, other, "ROLLBACK")
		if _, err := store.Create(t.Context(), queue.NewTask{Description: "x"}); err != nil {
			t.Errorf("after the lock: %v", err)
		}
	})
}

func TestR098LogShrinksAfterALongRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queue.db")
	store := openFile(t, path)
	reader := rawOpen(t, path)
	rawExec(t, reader, "BEGIN")
	rawExec(t, reader, "SELECT count(*) FROM tasks")
	write := func(n int) {
		for range n {
			task, err := store.Create(t.Context(), queue.NewTask{Description: "x"})
			if err == nil {
				_, err = store.Finish(t.Context(), task.ID, queue.Outcome{Result: strings.Repeat("x", queue.MaxResult)})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	logSize := func() int64 {
		info, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	write(16)
	if logSize() < 16<<20 {
		t.Fatalf("the log has %d bytes: the read did not hold it", logSize())
	}
	rawExec(t, reader, "COMMIT")
	write(2)
	if logSize() > 10<<20 {
		t.Errorf("the log still has %d bytes", logSize())
	}
}
