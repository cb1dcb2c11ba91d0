package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/bossman-mcp/bossman/internal/queue"
)

const insertTask = `INSERT INTO tasks (id, title, description, status, priority, created_at, updated_at)
	VALUES (?, ?, ?, ?, ?, ?, ?)`

// Create adds a pending task.
func (s *Store) Create(ctx context.Context, task queue.NewTask) (queue.Task, error) {
	t, err := task.Make(time.Now())
	if err != nil {
		return queue.Task{}, err
	}
	err = s.writes.do(ctx, func(s *session) error {
		return s.exec(insertTask, t.ID, t.Title, t.Description, string(t.Status), t.Priority,
			t.CreatedAt.UnixMilli(), t.UpdatedAt.UnixMilli())
	})
	if err != nil {
		return queue.Task{}, fmt.Errorf("create task: %w", err)
	}
	return t, nil
}
