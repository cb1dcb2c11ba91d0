package queue_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/internal/queue"
)

var noon = time.Date(2026, 7, 28, 12, 0, 0, 123_456_789, time.FixedZone("CEST", 2*60*60))

func TestNewTaskMake(t *testing.T) {
	task, err := queue.NewTask{Title: "Parser", Description: "Fix it", Priority: 7}.Make(noon)
	if err != nil {
		t.Fatal(err)
	}
	want := queue.Task{
		ID: task.ID, Title: "Parser", Description: "Fix it", Status: queue.Pending, Priority: 7,
		CreatedAt: time.Date(2026, 7, 28, 10, 0, 0, 123_000_000, time.UTC),
		UpdatedAt: time.Date(2026, 7, 28, 10, 0, 0, 123_000_000, time.UTC),
	}
	if task != want {
		t.Errorf("got %+v, want %+v", task, want)
	}
}

func TestNewTaskMakeLimits(t *testing.T) {
	good := queue.NewTask{Description: "x"}
	tests := []struct {
		name  string
		edit  func(*queue.NewTask)
		field string // empty: accepted
	}{
		{"a description of one letter is enough", func(*queue.NewTask) {}, ""},
		{"the longest description is accepted", func(n *queue.NewTask) { n.Description = strings.Repeat("é", queue.MaxDescription/2) }, ""},
		{"a longer description is refused", func(n *queue.NewTask) { n.Description = strings.Repeat("x", queue.MaxDescription+1) }, "description"},
		{"an empty description is refused", func(n *queue.NewTask) { n.Description = "" }, "description"},
		{"a blank description is refused", func(n *queue.NewTask) { n.Description = " \n\t\u00a0" }, "description"},
		{"a description in another encoding is refused", func(n *queue.NewTask) { n.Description = "caf\xe9" }, "description"},
		{"the longest title is accepted", func(n *queue.NewTask) { n.Title = strings.Repeat("x", queue.MaxTitle) }, ""},
		{"a longer title is refused", func(n *queue.NewTask) { n.Title = strings.Repeat("x", queue.MaxTitle+1) }, "title"},
		{"a title in another encoding is refused", func(n *queue.NewTask) { n.Title = "\xff" }, "title"},
		{"the highest priority is accepted", func(n *queue.NewTask) { n.Priority = queue.MaxPriority }, ""},
		{"the lowest priority is accepted", func(n *queue.NewTask) { n.Priority = -queue.MaxPriority }, ""},
		{"a higher priority is refused", func(n *queue.NewTask) { n.Priority = queue.MaxPriority + 1 }, "priority"},
		{"a lower priority is refused", func(n *queue.NewTask) { n.Priority = -queue.MaxPriority - 1 }, "priority"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			draft := good
			test.edit(&draft)
			_, err := draft.Make(noon)
			if test.field == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if !errors.Is(err, queue.ErrInvalid) || !strings.Contains(err.Error(), test.field+" must ") {
				t.Errorf("got %v, want ErrInvalid that says what %s must be", err, test.field)
			}
		})
	}
}

func TestTaskFinish(t *testing.T) {
	task, err := queue.NewTask{Description: "x"}.Make(noon)
	if err != nil {
		t.Fatal(err)
	}
	done, err := task.Finish(queue.Outcome{Result: "ok"}, noon.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if done.Status != queue.Done || done.Result != "ok" || !done.ClaimedAt.IsZero() {
		t.Errorf("got %+v", done)
	}
	if want := queue.Instant(noon.Add(time.Minute)); done.DoneAt != want || done.UpdatedAt != want {
		t.Errorf("got times %v and %v, want %v", done.DoneAt, done.UpdatedAt, want)
	}

	t.Run("the same outcome again changes nothing", func(t *testing.T) {
		again, err := done.Finish(queue.Outcome{Result: "ok"}, noon.Add(time.Hour))
		if err != nil || again != done {
			t.Errorf("got %+v, %v", again, err)
		}
	})
	t.Run("another outcome is refused", func(t *testing.T) {
		for _, outcome := range []queue.Outcome{{Result: "other"}, {Result: "ok", Failed: true}, {}} {
			if _, err := done.Finish(outcome, noon.Add(time.Hour)); !errors.Is(err, queue.ErrFinished) {
				t.Errorf("%+v: got %v, want ErrFinished", outcome, err)
			}
		}
	})
	t.Run("a failure is an outcome too", func(t *testing.T) {
		failed, err := task.Finish(queue.Outcome{Failed: true}, noon)
		if err != nil || failed.Status != queue.Failed {
			t.Errorf("got %+v, %v", failed, err)
		}
	})
	t.Run("a clock that went back does not turn the history round", func(t *testing.T) {
		done, err := task.Finish(queue.Outcome{}, noon.Add(-time.Hour))
		if err != nil || done.DoneAt.Before(done.CreatedAt) || done.UpdatedAt.Before(done.CreatedAt) {
			t.Errorf("got %+v, %v", done, err)
		}
	})
}

func TestOutcomeCheck(t *testing.T) {
	if err := (queue.Outcome{Result: strings.Repeat("x", queue.MaxResult)}).Check(); err != nil {
		t.Errorf("the longest result is refused: %v", err)
	}
	for _, result := range []string{strings.Repeat("x", queue.MaxResult+1), "\xc0\x80"} {
		if err := (queue.Outcome{Result: result}).Check(); !errors.Is(err, queue.ErrInvalid) {
			t.Errorf("a result of %d bytes: got %v, want ErrInvalid", len(result), err)
		}
	}
}

func TestTaskHeading(t *testing.T) {
	long := strings.Repeat("ü", 81)
	tests := []struct{ name, title, description, want string }{
		{"the title, when there is one", "Parser", "Fix it", "Parser"},
		{"else the description", "", "Fix it", "Fix it"},
		{"else its first line that is not blank", "", "\n \n Fix it \r\nnow", "Fix it"},
		{"a line of 80 characters whole", "", long[:160], long[:160]},
		{"a longer line cut", "", long, long[:158] + "…"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			task := queue.Task{Title: test.title, Description: test.description}
			if got := task.Heading(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestStatusFinal(t *testing.T) {
	want := map[queue.Status]bool{queue.Pending: false, queue.InProgress: false, queue.Done: true, queue.Failed: true}
	for _, status := range queue.Statuses() {
		if status.Final() != want[status] {
			t.Errorf("%s: got %t", status, status.Final())
		}
	}
	if len(queue.Statuses()) != len(want) {
		t.Errorf("got %v", queue.Statuses())
	}
}
