package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/bossman-mcp/bossman/internal/queue"
)

// claimTask names its index: left alone, SQLite takes the one on status and
// sorts all pending tasks for each claim. The pending status is written out
// because that index serves only a query that does so. A clock that went back
// does not turn a task's history round.
const claimTask = `UPDATE tasks
	SET status = 'in_progress', worker = ?1, claimed_at = max(updated_at, ?2), updated_at = max(updated_at, ?2)
	WHERE seq = (SELECT seq FROM tasks INDEXED BY tasks_ready WHERE status = 'pending' ORDER BY priority DESC, seq LIMIT 1)
	RETURNING ` + taskColumns

// ClaimNext hands the first pending task to worker.
func (s *Store) ClaimNext(ctx context.Context, worker string) (queue.Task, error) {
	if err := queue.CheckWorker(worker); err != nil {
		return queue.Task{}, err
	}
	var task queue.Task
	err := s.writes.do(ctx, func(s *session) (err error) {
		task, err = s.task(claimTask, worker, time.Now().UnixMilli())
		if errors.Is(err, sql.ErrNoRows) {
			return queue.ErrEmpty
		}
		return err
	})
	if errors.Is(err, queue.ErrEmpty) {
		return queue.Task{}, err
	}
	if err != nil {
		return queue.Task{}, fmt.Errorf("claim task: %w", err)
	}
	return task, nil
}
