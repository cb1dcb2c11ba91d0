package sqlite

import (
	"errors"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/internal/queue"
)

// The test is inside the package to hold a transaction open while writes gather.
func TestWritesThatArriveTogetherShareACommit(t *testing.T) {
	store, err := Open(t.Context(), filepath.Join(t.TempDir(), "queue.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var tasks [3]queue.Task
	for i := range tasks {
		if tasks[i], err = (queue.NewTask{Description: "x"}).Make(time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	insert := func(s *session, i int) error {
		return s.exec(insertTask, tasks[i].ID, "", "x", "pending", 0, 0, 0)
	}
	visible := func(i int) bool {
		_, err := store.Get(t.Context(), tasks[i].ID)
		return err == nil
	}

	refused := errors.New("refused")
	begun, release := make(chan struct{}), make(chan struct{})
	seen := true
	changes := []func(*session) error{
		func(s *session) error { close(begun); <-release; return insert(s, 0) },
		func(s *session) error { return errors.Join(insert(s, 1), refused) },
		func(s *session) error { seen = visible(0); return insert(s, 2) },
	}
	outcomes := make([]chan error, len(changes))
	for i, change := range changes {
		outcomes[i] = make(chan error, 1)
		go func() { outcomes[i] <- store.writes.do(t.Context(), change) }() // the test waits for its outcome
		if i == 0 {
			<-begun
			continue
		}
		for store.writes.queued() < i {
			runtime.Gosched()
		}
	}
	close(release)
	for i, want := range []error{nil, refused, nil} {
		if err := <-outcomes[i]; !errors.Is(err, want) {
			t.Errorf("write %d: got %v, want %v", i, err, want)
		}
	}
	if seen {
		t.Error("the first write was committed before the last one ran")
	}
	for i, want := range []bool{true, false, true} {
		if visible(i) != want {
			t.Errorf("task %d is there: %t, want %t", i, !want, want)
		}
	}
}

// queued returns how many writes wait for the next commit.
func (c *committer) queued() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.queue)
}
