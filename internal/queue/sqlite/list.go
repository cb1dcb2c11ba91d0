package sqlite

import (
	"context"
	"fmt"

	"github.com/bossman-mcp/bossman/internal/queue"
)

// List returns one page of tasks in the order of their creation.
func (s *Store) List(ctx context.Context, filter queue.Filter) (queue.Page, error) {
	after, limit, err := filter.Check()
	if err != nil {
		return queue.Page{}, err
	}
	query, args := listQuery(filter, after, limit)
	var page queue.Page
	err = s.read(ctx, func() (err error) {
		page, err = s.page(ctx, limit, query, args)
		return err
	})
	if err != nil {
		return queue.Page{}, fmt.Errorf("list tasks: %w", err)
	}
	return page, nil
}

// listQuery returns the query for one task more than the page may hold, which
// shows whether there is a next page.
func listQuery(filter queue.Filter, after int64, limit int) (string, []any) {
	query := `SELECT seq, ` + taskColumns + ` FROM tasks WHERE seq > ?`
	args := []any{after}
	if filter.Status != "" {
		query += ` AND status = ?`
		args = append(args, string(filter.Status))
	}
	if filter.Worker != "" {
		query += ` AND worker = ?`
		args = append(args, filter.Worker)
	}
	return query + ` ORDER BY seq LIMIT ?`, append(args, limit+1)
}

// page runs the query and fills a page from its rows.
func (s *Store) page(ctx context.Context, limit int, query string, args []any) (queue.Page, error) {
	rows, err := s.reads.QueryContext(ctx, query, args...)
	if err != nil {
		return queue.Page{}, err
	}
	defer rows.Close()
	pager := queue.NewPager(limit)
	for rows.Next() {
		var seq int64
		task, err := scanTask(rows, &seq)
		if err != nil {
			return queue.Page{}, err
		}
		if !pager.Add(task, seq) {
			return pager.Page(), nil
		}
	}
	return pager.Page(), rows.Err()
}
