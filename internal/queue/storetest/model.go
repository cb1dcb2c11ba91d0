package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/bossman-mcp/bossman/internal/queue"
)

// random plays random scripts, always the same ones.
func random(t *testing.T, open opener) {
	store := open.start(t)
	source := rand.NewChaCha8([32]byte{1})
	script := make([]byte, 300)
	source.Read(script)
	Play(t, store, script)
}

// Play runs a script of changes against an empty store and a simple model of
// it, and fails the test where they differ. Any bytes are a script: each byte
// is a verb with its arguments.
func Play(t testing.TB, store queue.Store, script []byte) {
	m := &model{TB: t, store: store}
	for step, code := range script {
		arg := int(code >> 2)
		switch code & 3 {
		case 0:
			m.create(arg)
		case 1:
			m.claim(arg)
		case 2:
			m.finish(arg)
		case 3:
			m.list(arg)
		}
		if t.Failed() {
			t.Fatalf("the store left the model at step %d of % x", step, script)
		}
	}
}

// A model is what a store should hold, oldest task first.
type model struct {
	testing.TB
	store queue.Store
	tasks []queue.Task
}

func (m *model) create(arg int) {
	task, err := m.store.Create(m.Context(), queue.NewTask{
		Title: fmt.Sprint("title ", arg), Description: fmt.Sprint("step ", len(m.tasks)), Priority: arg%5 - 2,
	})
	if err != nil || task.Status != queue.Pending || task.Priority != arg%5-2 {
		m.Errorf("create: got %+v, %v", task, err)
	}
	m.tasks = append(m.tasks, task)
}

func (m *model) claim(arg int) {
	next := -1
	for i, task := range m.tasks {
		if task.Status == queue.Pending && (next < 0 || task.Priority > m.tasks[next].Priority) {
			next = i
		}
	}
	task, err := m.store.ClaimNext(m.Context(), fmt.Sprint("worker ", arg%3))
	if next < 0 {
		if !errors.Is(err, queue.ErrEmpty) {
			m.Errorf("claim: got %+v, %v, want ErrEmpty", task, err)
		}
		return
	}
	want := &m.tasks[next]
	want.Status, want.Worker = queue.InProgress, fmt.Sprint("worker ", arg%3)
	want.ClaimedAt, want.UpdatedAt = task.ClaimedAt, task.ClaimedAt
	if err != nil || task != *want || task.ClaimedAt.IsZero() {
		m.Errorf("claim: got %+v, %v, want %+v", task, err, *want)
	}
}

func (m *model) finish(arg int) {
	outcome := queue.Outcome{Result: fmt.Sprint("result ", arg%2), Failed: arg%4 == 3}
	if len(m.tasks) == 0 {
		if _, err := m.store.Finish(m.Context(), "task_none", outcome); !errors.Is(err, queue.ErrNotFound) {
			m.Errorf("finish: got %v, want ErrNotFound", err)
		}
		return
	}
	old := &m.tasks[arg*len(m.tasks)/64]
	task, err := m.store.Finish(m.Context(), old.ID, outcome)
	want, wantErr := old.Finish(outcome, task.DoneAt)
	if wantErr != nil {
		if !errors.Is(err, queue.ErrFinished) {
			m.Errorf("finish: got %+v, %v, want %v", task, err, wantErr)
		}
		return
	}
	if err != nil || task != want || task.DoneAt.IsZero() {
		m.Errorf("finish: got %+v, %v, want %+v", task, err, want)
	}
	*old = want
}

func (m *model) list(arg int) {
	filter := queue.Filter{Limit: 1 + arg%3*10}
	if arg&4 != 0 {
		filter.Status = queue.Statuses()[arg>>3%4]
	}
	if arg&32 != 0 {
		filter.Worker = fmt.Sprint("worker ", arg%3)
	}
	next := 0
	for {
		page, err := m.store.List(m.Context(), filter)
		if err != nil || len(page.Tasks) > filter.Limit {
			m.Errorf("list: got %d tasks, %v", len(page.Tasks), err)
			return
		}
		for _, task := range page.Tasks {
			for next < len(m.tasks) && !matches(filter, m.tasks[next]) {
				next++
			}
			if next == len(m.tasks) || task != m.tasks[next] {
				m.Errorf("list: got %+v, want number %d of %d tasks", task, next, len(m.tasks))
				return
			}
			next++
		}
		if page.Next == "" {
			break
		}
		filter.Cursor = page.Next
	}
	for _, task := range m.tasks[next:] {
		if matches(filter, task) {
			m.Errorf("list: %+v is missing", task)
		}
	}
}

// matches reports whether a filter lets a task through.
func matches(filter queue.Filter, task queue.Task) bool {
	return (filter.Status == "" || filter.Status == task.Status) &&
		(filter.Worker == "" || filter.Worker == task.Worker)
}
