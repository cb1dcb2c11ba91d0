package sqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/bossman-mcp/bossman/internal/queue"
)

// A session is the one connection that writes, with its prepared statements.
// It is used by one goroutine at a time. Its calls take no context: a change
// that has begun is carried through.
type session struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
}

// newSession opens the writing connection.
func newSession(db *sql.DB) (*session, error) {
	conn, err := db.Conn(context.Background())
	if err != nil {
		return nil, err
	}
	return &session{conn: conn, stmts: make(map[string]*sql.Stmt)}, nil
}

// exec runs a statement that returns no rows.
func (s *session) exec(query string, args ...any) error {
	stmt, err := s.stmt(query)
	if err != nil {
		return err
	}
	_, err = stmt.ExecContext(context.Background(), args...)
	return err
}

// count runs a statement that returns no rows, and returns how many it changed.
func (s *session) count(query string, args ...any) (int64, error) {
	stmt, err := s.stmt(query)
	if err != nil {
		return 0, err
	}
	result, err := stmt.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// task runs a statement that returns at most one task; sql.ErrNoRows when none.
func (s *session) task(query string, args ...any) (queue.Task, error) {
	stmt, err := s.stmt(query)
	if err != nil {
		return queue.Task{}, err
	}
	return scanTask(stmt.QueryRowContext(context.Background(), args...))
}

// stmt prepares each query once.
func (s *session) stmt(query string) (*sql.Stmt, error) {
	if stmt, ok := s.stmts[query]; ok {
		return stmt, nil
	}
	stmt, err := s.conn.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	s.stmts[query] = stmt
	return stmt, nil
}

// close closes the statements and the connection. A transaction that is still
// open is rolled back.
func (s *session) close() error {
	for _, stmt := range s.stmts {
		stmt.Close() // cannot fail in a way that matters: the connection goes too
	}
	return s.conn.Close()
}

// taskColumns are the columns that scanTask reads.
const taskColumns = "id, title, description, status, priority, worker, result," +
	" created_at, updated_at, claimed_at, done_at"

// scanTask reads the columns taskColumns of a row, and before them any others
// into the given destinations.
func scanTask(row interface{ Scan(...any) error }, first ...any) (queue.Task, error) {
	var (
		t                queue.Task
		created, updated int64
		claimed, done    sql.Null[int64]
	)
	err := row.Scan(append(first, &t.ID, &t.Title, &t.Description, &t.Status, &t.Priority,
		&t.Worker, &t.Result, &created, &updated, &claimed, &done)...)
	if err != nil {
		return queue.Task{}, err
	}
	t.CreatedAt = time.UnixMilli(created).UTC()
	t.UpdatedAt = time.UnixMilli(updated).UTC()
	if claimed.Valid {
		t.ClaimedAt = time.UnixMilli(claimed.V).UTC()
	}
	if done.Valid {
		t.DoneAt = time.UnixMilli(done.V).UTC()
	}
	return t, nil
}
