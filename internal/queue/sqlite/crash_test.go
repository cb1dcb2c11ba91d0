package sqlite_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/internal/queue"
	"github.com/bossman-mcp/bossman/internal/queue/sqlite"
)

var crashRounds = flag.Int("crash.rounds", 40, "how often the crash test kills its child")

// TestR078AcknowledgedChangesSurviveKills kills a process in the middle of its
// work, again and again on the same file, and looks for what it acknowledged.
func TestR078AcknowledgedChangesSurviveKills(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queue.db")
	history := &history{created: make(map[string]string), claimed: make(map[string]bool), done: make(map[string]bool)}
	for round := range *crashRounds {
		var child *child
		if round%4 == 0 { // it may die while it opens, or migrates, the file
			child = startChild(t, "child-crash", path, 0)
			time.Sleep(rand.N(30 * time.Millisecond))
		} else {
			child = startChild(t, "child-crash", path, 1+rand.IntN(100))
			<-child.ready
			time.Sleep(rand.N(time.Millisecond))
		}
		child.Process.Kill()
		output, _ := child.end()
		fresh := history.read(t, output)

		start := time.Now()
		store, err := sqlite.Open(t.Context(), path, nil)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		task, err := store.ClaimNext(t.Context(), "parent")
		if took := time.Since(start); took > time.Second {
			t.Errorf("round %d: the first claim took %v", round, took)
		}
		switch {
		case err == nil:
			history.claim(t, task.ID)
		case !errors.Is(err, queue.ErrEmpty):
			t.Errorf("round %d: claim: %v", round, err)
		}
		history.check(t, store, fresh)
		if err := store.Close(); err != nil {
			t.Errorf("round %d: close: %v", round, err)
		}
		checkIntegrity(t, path)
		if t.Failed() {
			t.FailNow()
		}
	}
	history.check(t, openFile(t, path), nil)
	t.Logf("%d kills, %d tasks created, %d claimed, %d done",
		*crashRounds, len(history.created), len(history.claimed), len(history.done))
	if len(history.done) < *crashRounds {
		t.Errorf("only %d tasks were done: the kills came too early to show anything", len(history.done))
	}
}

// crashChild works until it is killed and prints what has been acknowledged.
func crashChild(store *sqlite.Store) error {
	ctx := context.Background()
	failed := make(chan error)
	for range 4 {
		go func() { // killed with the process
			for i := 0; ; i++ {
				task, err := store.Create(ctx, queue.NewTask{Description: fmt.Sprintf("work-%d", i)})
				if err != nil {
					failed <- err
				}
				fmt.Printf("created %s %s\n", task.ID, task.Description)
			}
		}()
		go func() { // killed with the process
			for {
				task, err := store.ClaimNext(ctx, "child")
				if errors.Is(err, queue.ErrEmpty) {
					time.Sleep(time.Millisecond)
					continue
				}
				if err != nil {
					failed <- err
				}
				fmt.Printf("claimed %s\n", task.ID)
				if _, err := store.Finish(ctx, task.ID, queue.Outcome{Result: resultOf(task.ID)}); err != nil {
					failed <- err
				}
				fmt.Printf("done %s\n", task.ID)
			}
		}()
	}
	return <-failed
}

// resultOf returns the result that belongs to a task: from 31 bytes to several
// pages of the file.
func resultOf(id string) string {
	return strings.Repeat(id, 1+int(id[len(id)-1])%32*16)
}

// A history is what has been acknowledged so far.
type history struct {
	mu      sync.Mutex
	created map[string]string // description by task
	claimed map[string]bool
	done    map[string]bool
}

// read adds what a child printed, and returns the tasks it was about. A line
// that was cut short counts as not printed.
func (h *history) read(t *testing.T, output string) map[string]bool {
	t.Helper()
	fresh := make(map[string]bool)
	lines := strings.SplitAfter(output, "\n")
	for _, line := range lines {
		fields := strings.Fields(line)
		if !strings.HasSuffix(line, "\n") || fields[0] == "open" {
			continue
		}
		switch {
		case fields[0] == "created" && len(fields) == 3:
			h.created[fields[1]] = fields[2]
		case fields[0] == "claimed":
			h.claim(t, fields[1])
		case fields[0] == "done":
			h.done[fields[1]] = true
		default:
			t.Fatalf("the child says %q", line)
		}
		fresh[fields[1]] = true
	}
	return fresh
}

// claim adds a claim and fails the test if there was one before.
func (h *history) claim(t *testing.T, id string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.claimed[id] {
		t.Errorf("%s was claimed twice", id)
	}
	h.claimed[id] = true
}

// check fails the test unless the store has everything that the history says
// about the given tasks, or about all.
func (h *history) check(t *testing.T, store queue.Store, ids map[string]bool) {
	t.Helper()
	found := make(map[string]queue.Task)
	for filter := (queue.Filter{Limit: queue.MaxLimit}); ; {
		page, err := store.List(t.Context(), filter)
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range page.Tasks {
			found[task.ID] = task
		}
		if filter.Cursor = page.Next; page.Next == "" {
			break
		}
	}
	if ids == nil {
		ids = make(map[string]bool)
		for _, set := range []map[string]bool{h.claimed, h.done} {
			for id := range set {
				ids[id] = true
			}
		}
		for id := range h.created {
			ids[id] = true
		}
	}
	for id := range ids {
		task, ok := found[id]
		description, created := h.created[id]
		switch {
		case !ok:
			t.Errorf("%s was acknowledged and is lost", id)
		case created && task.Description != description:
			t.Errorf("%s was created as %q and is %q", id, description, task.Description)
		case h.done[id] && (task.Status != queue.Done || task.Result != resultOf(id)):
			t.Errorf("%s was reported done and is %s with %d bytes", id, task.Status, len(task.Result))
		case h.claimed[id] && task.Status == queue.Pending:
			t.Errorf("%s was claimed and is pending", id)
		}
	}
}
