package queue

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// The limits of a task's fields. Texts are counted in bytes.
const (
	MaxTitle       = 1 << 10
	MaxDescription = 64 << 10
	MaxResult      = 1 << 20
	MaxWorker      = 256
	// MaxPriority bounds a priority on both sides of zero.
	MaxPriority = 1_000_000
)

// A Task is one piece of work, as it was when the store was read. Texts are
// kept byte for byte. Times are UTC in whole milliseconds.
type Task struct {
	ID          string
	Title       string // may be empty; see Heading
	Description string
	Status      Status
	Priority    int    // higher is claimed first
	Worker      string // who claimed it; empty until then, or when unnamed
	Result      string // what was reported at the end
	CreatedAt   time.Time
	UpdatedAt   time.Time // the last change of any kind
	ClaimedAt   time.Time // zero until claimed
	DoneAt      time.Time // zero until done or failed
}

// A Status is a task's state. A task is born Pending, becomes InProgress when
// claimed, and ends Done or Failed. It may end without having been claimed.
type Status string

// The states of a task. Done and Failed are final.
const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Done       Status = "done"
	Failed     Status = "failed"
)

// Statuses returns every status, in the order in which a task passes through
// them.
func Statuses() []Status { return []Status{Pending, InProgress, Done, Failed} }

// Final reports whether a task in this state can no longer change.
func (s Status) Final() bool { return s == Done || s == Failed }

// A NewTask is what a caller says about a task to be created.
type NewTask struct {
	Title       string // optional
	Description string // required, not only white space
	Priority    int    // zero is the usual priority
}

// Make checks the fields and returns the pending task they describe, with a
// fresh ID, as created at now. A Store then only has to keep it.
func (n NewTask) Make(now time.Time) (Task, error) {
	if err := checkText("title", n.Title, MaxTitle); err != nil {
		return Task{}, err
	}
	if strings.TrimSpace(n.Description) == "" {
		return Task{}, invalid("description", "must not be empty")
	}
	if err := checkText("description", n.Description, MaxDescription); err != nil {
		return Task{}, err
	}
	if n.Priority < -MaxPriority || n.Priority > MaxPriority {
		return Task{}, invalid("priority", "must be from %d to %d, got %d", -MaxPriority, MaxPriority, n.Priority)
	}
	now = Instant(now)
	return Task{
		ID:          NewID(now),
		Title:       n.Title,
		Description: n.Description,
		Status:      Pending,
		Priority:    n.Priority,
		CreatedAt:   now,
		UpdatedAt:   now,
	}, nil
}

// CheckWorker refuses a worker's name that is too long or not UTF-8.
func CheckWorker(worker string) error { return checkText("worker", worker, MaxWorker) }

// An Outcome is how a task ended.
type Outcome struct {
	Result string // what to report; may be empty
	Failed bool   // whether the task failed
}

// Check refuses a result that is too long or not UTF-8.
func (o Outcome) Check() error { return checkText("result", o.Result, MaxResult) }

// status returns the final status that o stands for.
func (o Outcome) status() Status {
	if o.Failed {
		return Failed
	}
	return Done
}

// Finish returns the task as it is after it ended with o at now. A task that
// has already ended so is returned unchanged, with its old times; one that
// ended otherwise is ErrFinished. The outcome must have passed Check.
func (t Task) Finish(o Outcome, now time.Time) (Task, error) {
	if t.Status.Final() {
		if t.Status != o.status() {
			return Task{}, fmt.Errorf("%w: %s is %s", ErrFinished, t.ID, t.Status)
		}
		if t.Result != o.Result {
			return Task{}, fmt.Errorf("%w: %s is %s with another result", ErrFinished, t.ID, t.Status)
		}
		return t, nil
	}
	now = Instant(now)
	if now.Before(t.UpdatedAt) {
		now = t.UpdatedAt // the clock went back; a task's history does not
	}
	t.Status, t.Result = o.status(), o.Result
	t.UpdatedAt, t.DoneAt = now, now
	return t, nil
}

// headingRunes is the length at which a heading made from a description is cut.
const headingRunes = 80

// Heading returns the title or, when there is none, the first line of the
// description that is not blank, cut to 80 characters.
func (t Task) Heading() string {
	if t.Title != "" {
		return t.Title
	}
	line, _, _ := strings.Cut(strings.TrimSpace(t.Description), "\n")
	line = strings.TrimSpace(line)
	if utf8.RuneCountInString(line) <= headingRunes {
		return line
	}
	return string([]rune(line)[:headingRunes-1]) + "…"
}

// Instant returns t as tasks keep it: in UTC, in whole milliseconds, without a
// monotonic reading.
func Instant(t time.Time) time.Time { return time.UnixMilli(t.UnixMilli()).UTC() }
