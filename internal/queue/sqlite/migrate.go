package sqlite

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"time"
)

// migrations are the steps of the schema in the order of their names. The
// first brings an empty file to version 1, each next one a version further. A
// step that has been released is never changed.
//
//go:embed migrations/*.sql
var migrations embed.FS

// applicationID marks a file as ours: "boss" in ASCII.
const applicationID = 0x626f7373

// A step is one migration: the version that it brings the schema to, and the
// name of its file.
type step struct {
	version int
	name    string
}

// migrate brings the schema up to date: all steps or none. When several
// processes come at once, one migrates and the others wait and find it done. A
// file that is up to date costs a few reads.
func migrate(s *session, program string) error {
	missing, err := s.missing()
	if err != nil {
		return err
	}
	var mode string
	if err := s.first("PRAGMA journal_mode = WAL", &mode); err != nil {
		return err
	}
	if mode != "wal" {
		return errors.New("the file's folder does not allow a write-ahead log: use a local disk")
	}
	if len(missing) == 0 {
		return nil
	}
	if err := s.run("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := s.migrateLocked(program); err != nil {
		return errors.Join(err, s.run("ROLLBACK"))
	}
	return s.run("COMMIT")
}

// migrateLocked applies the missing steps. The caller holds the write lock and
// ends the transaction.
func (s *session) migrateLocked(program string) error {
	missing, err := s.missing() // again: another process may have been quicker
	if err != nil {
		return err
	}
	for _, step := range missing {
		text, err := migrations.ReadFile("migrations/" + step.name)
		if err != nil {
			return err
		}
		if err := s.run(string(text)); err != nil {
			return fmt.Errorf("migrate to schema %d: %w", step.version, err)
		}
		err = s.run("INSERT INTO migrations (version, name, program, applied_at) VALUES (?, ?, ?, ?)",
			step.version, step.name, program, time.Now().UnixMilli())
		if err != nil {
			return fmt.Errorf("record schema %d: %w", step.version, err)
		}
		err = s.run(fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, step.version))
		if err != nil {
			return fmt.Errorf("mark schema %d: %w", step.version, err)
		}
	}
	return nil
}

// missing returns the steps that the file has not had. It refuses a file of
// another program, and one whose schema is newer than this program knows.
func (s *session) missing() ([]step, error) {
	files, err := migrations.ReadDir("migrations")
	if err != nil {
		return nil, err
	}
	var version, application, objects int
	err = s.first(`SELECT
		(SELECT user_version FROM pragma_user_version),
		(SELECT application_id FROM pragma_application_id),
		(SELECT count(*) FROM sqlite_schema)`, &version, &application, &objects)
	if err != nil {
		return nil, err
	}
	if application != applicationID && (application != 0 || version != 0 || objects != 0) {
		return nil, errors.New("the file is a database of another program")
	}
	if version > len(files) {
		return nil, s.tooNew(version, len(files))
	}
	var steps []step
	for i, file := range files[version:] {
		steps = append(steps, step{version: version + i + 1, name: file.Name()})
	}
	return steps, nil
}

// tooNew says which version of the program the file needs.
func (s *session) tooNew(version, known int) error {
	var program string
	err := s.first(fmt.Sprintf("SELECT program FROM migrations WHERE version = %d", version), &program)
	if err != nil || program == "" {
		return fmt.Errorf("the file has schema %d, this program knows schemas up to %d: use a newer bossman",
			version, known)
	}
	return fmt.Errorf("the file has schema %d, this program knows schemas up to %d: use bossman %s or newer",
		version, known, program)
}

// run runs statements that are not worth preparing.
func (s *session) run(query string, args ...any) error {
	_, err := s.conn.ExecContext(context.Background(), query, args...)
	return err
}

// first reads the first row of a query that is not worth preparing.
func (s *session) first(query string, into ...any) error {
	return s.conn.QueryRowContext(context.Background(), query).Scan(into...)
}
