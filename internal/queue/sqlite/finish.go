package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/bossman-mcp/bossman/internal/queue"
)

const finishTask = `UPDATE tasks SET status = ?, result = ?, updated_at = ?, done_at = ? WHERE id = ?`

// Finish ends a task.
func (s *Store) Finish(ctx context.Context, id string, outcome queue.Outcome) (queue.Task, error) {
	if err := outcome.Check(); err != nil {
		return queue.Task{}, err
	}
	var task queue.Task
	err := s.writes.do(ctx, func(s *session) (err error) {
		task, err = s.finish(id, outcome)
		return err
	})
	if errors.Is(err, queue.ErrNotFound) || errors.Is(err, queue.ErrFinished) {
		return queue.Task{}, err
	}
	if err != nil {
		return queue.Task{}, fmt.Errorf("finish task: %w", err)
	}
	return task, nil
}

// finish reads the task, applies the queue's rule and keeps what it says.
func (s *session) finish(id string, outcome queue.Outcome) (queue.Task, error) {
	old, err := s.task(selectTask, id)
	if errors.Is(err, sql.ErrNoRows) {
		return queue.Task{}, queue.NotFound(id)
	}
	if err != nil {
		return queue.Task{}, err
	}
	task, err := old.Finish(outcome, time.Now())
	if err != nil || task == old {
		return task, err
	}
	return task, s.exec(finishTask, string(task.Status), task.Result,
		task.UpdatedAt.UnixMilli(), task.DoneAt.UnixMilli(), id)
}
