package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Deferred keeps the results of package deferred in the file of a [Store], and
// lives as long as that. It is a deferred.Store.
type Deferred struct{ store *Store }

// Deferred returns the store of deferred results.
func (s *Store) Deferred() *Deferred { return &Deferred{s} }

const (
	insertDeferred = `INSERT INTO deferred (id, version, until, data) VALUES (?, 1, ?, ?)`
	selectDeferred = `SELECT version, data FROM deferred WHERE id = ?`
	updateDeferred = `UPDATE deferred SET version = version + 1, until = ?, data = ? WHERE id = ? AND version = ?`
	overDeferred   = `SELECT EXISTS (SELECT 1 FROM deferred WHERE until < ?)`
	sweepDeferred  = `DELETE FROM deferred WHERE rowid IN (SELECT rowid FROM deferred WHERE until < ? LIMIT 1000)`
)

// Create keeps a new entry.
func (d *Deferred) Create(ctx context.Context, id string, data []byte, until time.Time) error {
	err := d.store.writes.do(ctx, func(s *session) error {
		return s.exec(insertDeferred, id, untilColumn(until), data)
	})
	if err != nil {
		return fmt.Errorf("create deferred result: %w", err)
	}
	return nil
}

// Load returns an entry, nil if there is none.
func (d *Deferred) Load(ctx context.Context, id string) (data []byte, version int64, err error) {
	err = d.store.read(ctx, func() error {
		return d.store.reads.QueryRowContext(ctx, selectDeferred, id).Scan(&version, &data)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("load deferred result: %w", err)
	}
	return data, version, nil
}

// Swap replaces an entry that has the version.
func (d *Deferred) Swap(ctx context.Context, id string, version int64, data []byte, until time.Time) (bool, error) {
	var n int64
	err := d.store.writes.do(ctx, func(s *session) (err error) {
		n, err = s.count(updateDeferred, untilColumn(until), data, id, version)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("change deferred result: %w", err)
	}
	return n > 0, nil
}

// Sweep removes entries whose time was over at now, a thousand at most. It
// writes only if there are any.
func (d *Deferred) Sweep(ctx context.Context, now time.Time) (int, error) {
	var some bool
	err := d.store.read(ctx, func() error {
		return d.store.reads.QueryRowContext(ctx, overDeferred, now.UnixMilli()).Scan(&some)
	})
	var n int64
	if err == nil && some {
		err = d.store.writes.do(ctx, func(s *session) (err error) {
			n, err = s.count(sweepDeferred, now.UnixMilli())
			return err
		})
	}
	if err != nil {
		return 0, fmt.Errorf("sweep deferred results: %w", err)
	}
	return int(n), nil
}

// untilColumn is a time as the table has it.
func untilColumn(until time.Time) sql.Null[int64] {
	return sql.Null[int64]{V: until.UnixMilli(), Valid: !until.IsZero()}
}
