package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/bossman-mcp/bossman/internal/queue"
)

const selectTask = `SELECT ` + taskColumns + ` FROM tasks WHERE id = ?`

// Get returns a task by its ID.
func (s *Store) Get(ctx context.Context, id string) (queue.Task, error) {
	var task queue.Task
	err := s.read(ctx, func() (err error) {
		task, err = scanTask(s.reads.QueryRowContext(ctx, selectTask, id))
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return queue.Task{}, queue.NotFound(id)
	}
	if err != nil {
		return queue.Task{}, fmt.Errorf("get task: %w", err)
	}
	return task, nil
}

// read runs query until no other connection is in its way, and explains its
// error. The query must be one that may run again from the start.
func (s *Store) read(ctx context.Context, query func() error) error {
	err := retry(query, func() bool { return ctx.Err() == nil })
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if s.writes.isClosed() {
		return queue.ErrClosed
	}
	if cancelled(ctx, err) {
		return ctx.Err()
	}
	return explain(err)
}
