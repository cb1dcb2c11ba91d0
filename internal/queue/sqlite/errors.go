package sqlite

import (
	"context"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/bossman-mcp/bossman/internal/queue"
)

// unavailable is a queue.ErrUnavailable with a cause that is not shown.
type unavailable struct {
	reason string
	cause  error
}

func (e *unavailable) Error() string {
	return fmt.Sprintf("%v: %s", queue.ErrUnavailable, e.reason)
}

func (e *unavailable) Unwrap() []error { return []error{queue.ErrUnavailable, e.cause} }

// primary returns SQLite's primary result code of err: 0 when err is none of
// SQLite's.
func primary(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// busy reports whether another connection is in the way, so that trying again
// soon is right.
func busy(err error) bool {
	switch primary(err) {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_PROTOCOL:
		return true
	}
	return false
}

// explain turns an error of the database into one of the queue's where it is a
// failure that can pass; others are returned as they are.
func explain(err error) error {
	var reason string
	switch primary(err) {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_PROTOCOL:
		reason = "another process keeps the file locked"
	case lib.SQLITE_FULL:
		reason = "the disk is full"
	case lib.SQLITE_IOERR:
		reason = "the disk reports an error"
	case lib.SQLITE_NOMEM:
		reason = "out of memory"
	case lib.SQLITE_CANTOPEN:
		reason = "the file cannot be opened"
	case lib.SQLITE_READONLY:
		reason = "the file cannot be written"
	default:
		return err
	}
	return &unavailable{reason: reason, cause: err}
}

// cancelled reports whether err only says that ctx has ended.
func cancelled(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, ctx.Err()) || primary(err) == lib.SQLITE_INTERRUPT)
}
