package sqlite_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/internal/queue"
	"github.com/bossman-mcp/bossman/internal/queue/sqlite"
)

const (
	hammerProcesses  = 4
	hammerGoroutines = 4
	hammerTasks      = 40 // a goroutine
)

// TestR084ProcessesShareOneFile starts processes together on a file that is not
// there yet. Each creates, claims and finishes as fast as it can.
func TestR084ProcessesShareOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queue.db")
	children := make([]*child, hammerProcesses)
	for i := range children {
		children[i] = startChild(t, "child-hammer", path, 0)
	}
	claims := make(map[string]int)
	for i, child := range children {
		output, err := child.end()
		if err != nil {
			t.Errorf("process %d: %v: %s", i, err, output)
		}
		for line := range strings.Lines(output) {
			if id, ok := strings.CutPrefix(strings.TrimSpace(line), "claimed "); ok {
				if other, taken := claims[id]; taken {
					t.Errorf("%s was claimed by the processes %d and %d", id, other, i)
				}
				claims[id] = i
			} else if strings.HasPrefix(line, "slowest") {
				t.Logf("process %d: %s", i, line)
			}
		}
	}
	const total = hammerProcesses * hammerGoroutines * hammerTasks
	if len(claims) != total {
		t.Errorf("%d tasks were claimed, want %d", len(claims), total)
	}
	store := openFile(t, path)
	for id := range claims {
		if task, err := store.Get(t.Context(), id); err != nil || task.Status != queue.Done {
			t.Errorf("%s is %s, %v", id, task.Status, err)
		}
	}
	checkIntegrity(t, path)
}

// hammerChild creates before it claims, so that no claim finds the queue empty.
func hammerChild(store *sqlite.Store) error {
	var (
		wg      sync.WaitGroup
		mu      sync.Mutex
		slowest time.Duration
		failed  error
	)
	timed := func(verb func() error) bool {
		start := time.Now()
		err := verb()
		mu.Lock()
		defer mu.Unlock()
		slowest = max(slowest, time.Since(start))
		if err != nil {
			failed = err
		}
		return err == nil
	}
	ctx := context.Background()
	for range hammerGoroutines {
		wg.Go(func() {
			var task queue.Task
			for range hammerTasks {
				ok := timed(func() error {
					_, err := store.Create(ctx, queue.NewTask{Description: "x"})
					return err
				}) && timed(func() (err error) {
					task, err = store.ClaimNext(ctx, "child")
					return err
				})
				if !ok {
					return
				}
				fmt.Println("claimed", task.ID)
				if !timed(func() error {
					_, err := store.Finish(ctx, task.ID, queue.Outcome{Result: "ok"})
					return err
				}) {
					return
				}
			}
		})
	}
	wg.Wait()
	fmt.Println("slowest call", slowest)
	return failed
}

func TestGoroutinesOpenANewFileTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "queue.db")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			store, err := sqlite.Open(t.Context(), path, nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer store.Close()
			if _, err := store.Create(t.Context(), queue.NewTask{Description: "x"}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	page, err := openFile(t, path).List(t.Context(), queue.Filter{})
	if err != nil || len(page.Tasks) != 8 {
		t.Errorf("got %d tasks, %v", len(page.Tasks), err)
	}
}
