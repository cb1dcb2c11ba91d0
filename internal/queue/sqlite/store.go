// Package sqlite keeps bossman's tasks in one SQLite file, for one machine.
//
// The file is in WAL mode and every commit is synced before it is
// acknowledged. Changes that arrive together share one commit, and with it one
// sync (see write.go). Reads run on connections of their own and wait for no
// writer. Several processes may use the same file.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the database/sql driver "sqlite"

	"github.com/bossman-mcp/bossman/internal/queue"
)

// readers is how many reads may run at once.
const readers = 4

// Options are the optional settings of Open.
type Options struct {
	// Program is the version of the running program. It is kept with each
	// migration, so that an older program can say which version the file
	// needs. Empty: not known.
	Program string
}

// A Store is a queue.Store in a SQLite file. Make one with Open.
type Store struct {
	reads  *sql.DB
	writes *committer
}

var _ queue.Store = (*Store)(nil)

// Open opens the tasks in the file at path. A missing file is created with mode
// 0600, a missing folder with mode 0700. A file with an older schema is
// migrated; one with a newer schema, or of another program, is refused. Open
// waits when another process is migrating the file. The caller must Close the
// store.
func Open(ctx context.Context, path string, opts *Options) (*Store, error) {
	if opts == nil {
		opts = &Options{}
	}
	path, err := createFile(path)
	if err != nil {
		return nil, fmt.Errorf("open task store: %w", err)
	}
	reads, err := sql.Open("sqlite", source(path,
		"busy_timeout(5000)", // for the rare lock of a recovery or of a last close
		"query_only(1)",
	))
	if err != nil {
		return nil, fmt.Errorf("open task store: %w", err)
	}
	reads.SetMaxOpenConns(readers)
	reads.SetMaxIdleConns(readers)
	reads.SetConnMaxIdleTime(time.Minute)

	writes, err := newCommitter(ctx, opts.Program, source(path,
		"synchronous(FULL)",           // a commit returns after the sync
		"fullfsync(1)",                // and a sync reaches the disk on macOS too
		"journal_size_limit(8388608)", // the log shrinks again after a long read
	))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open task store: %w", err), reads.Close())
	}
	return &Store{reads: reads, writes: writes}, nil
}

// Close carries through the changes under way and closes the file. Calls that
// come later get queue.ErrClosed.
func (s *Store) Close() error {
	if err := errors.Join(s.writes.close(), s.reads.Close()); err != nil {
		return fmt.Errorf("close task store: %w", err)
	}
	return nil
}

// createFile makes sure that the file at path is there and returns its absolute
// path.
func createFile(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	// Only a new file may be opened here. Closing a descriptor of a file in use
	// would drop the locks that SQLite holds on it for this process.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return path, nil // another process was quicker
	}
	if err != nil {
		return "", err
	}
	return path, file.Close()
}

// source returns the data source name of the file at path, an absolute path,
// with pragmas to be set on every connection. A file that has gone is not
// created again.
func source(path string, pragmas ...string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive letter
	}
	query := url.Values{"mode": {"rw"}, "_pragma": pragmas}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}).String()
}
