// Package tools is the queue's face to agents: a file a tool, and the plain
// JSON-RPC methods of the Copilot orchestrator.
package tools

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/bossman-mcp/bossman/internal/queue"
	"github.com/bossman-mcp/bossman/server"
)

// Options are what [Register] can be told; nil means the zero value of each.
type Options struct {
	// Answerer answers the questions that agents ask. Nil: nobody does, and
	// askers are told so.
	Answerer Answerer
	// Logger hears of failures that agents must not see the insides of. Nil:
	// slog.Default().
	Logger *slog.Logger
}

// Register offers everything that agents can do with the tasks of store.
func Register(s *server.Server, store queue.Store, opts *Options) {
	f := &face{store: store, log: slog.Default()}
	if opts != nil {
		f.answerer = opts.Answerer
		if opts.Logger != nil {
			f.log = opts.Logger
		}
	}
	f.addCreate(s)
	f.addGet(s)
	f.addList(s)
	f.addNext(s)
	f.addReport(s)
	f.addOrchestrator(s)
}

// face is what the tools share.
type face struct {
	store    queue.Store
	answerer Answerer
	log      *slog.Logger
}

// failed makes an error of the store one that an agent reads. What the queue
// does not name is logged, not told.
func (f *face) failed(verb string, err error) error {
	for _, known := range []error{
		queue.ErrNotFound, queue.ErrEmpty, queue.ErrFinished, queue.ErrInvalid, queue.ErrUnavailable, queue.ErrClosed,
	} {
		if errors.Is(err, known) {
			return fmt.Errorf("error: %w", err)
		}
	}
	f.log.Error("task store failed", "verb", verb, "error", err)
	return fmt.Errorf("error: %w", queue.ErrUnavailable)
}

// brief is a task as the one who creates it sees it.
type brief struct {
	ID          string       `json:"id" doc:"The task's id, for get_task and report_task_done"`
	Title       string       `json:"title,omitzero" doc:"A short name for the task"`
	Description string       `json:"description" doc:"What is to be done"`
	Status      queue.Status `json:"status" enum:"pending,in_progress,done,failed" doc:"How far the task is"`
	Priority    int          `json:"priority,omitzero" doc:"Tasks with a higher number are handed out first"`
}

// view is a whole task.
type view struct {
	brief
	Worker    string    `json:"worker,omitzero" doc:"Who works on the task"`
	Result    string    `json:"result,omitzero" doc:"What was reported at the end"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at" doc:"The last change of any kind"`
	ClaimedAt time.Time `json:"claimed_at,omitzero" doc:"When it was handed out"`
	DoneAt    time.Time `json:"done_at,omitzero" doc:"When it was reported done or failed"`
}

func briefOf(t queue.Task) brief {
	return brief{ID: t.ID, Title: t.Title, Description: t.Description, Status: t.Status, Priority: t.Priority}
}

func viewOf(t queue.Task) view {
	return view{
		brief: briefOf(t), Worker: t.Worker, Result: t.Result,
		CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt, ClaimedAt: t.ClaimedAt, DoneAt: t.DoneAt,
	}
}

// hint returns a pointer for the annotations of tools.
func hint(is bool) *bool { return &is }
