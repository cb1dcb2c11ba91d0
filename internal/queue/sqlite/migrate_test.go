package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/internal/queue/sqlite"
)

func TestMigrationsAreNumberedInOrder(t *testing.T) {
	files, err := os.ReadDir("migrations")
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range files {
		if prefix := fmt.Sprintf("%04d_", i+1); !strings.HasPrefix(file.Name(), prefix) {
			t.Errorf("%s should begin with %s", file.Name(), prefix)
		}
	}
}

func TestMigrationsAreRecorded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queue.db")
	for _, program := range []string{"1.2.3", "1.3.0"} {
		store, err := sqlite.Open(t.Context(), path, &sqlite.Options{Program: program})
		if err != nil {
			t.Fatal(err)
		}
		store.Close()
	}
	var (
		name, program string
		version       int
	)
	err := rawOpen(t, path).QueryRowContext(t.Context(),
		"SELECT name, program, (SELECT user_version FROM pragma_user_version) FROM migrations WHERE version = 1").
		Scan(&name, &program, &version)
	if err != nil || name != "0001_tasks.sql" || program != "1.2.3" {
		t.Errorf("got %q by %q, %v", name, program, err)
	}
	files, err := os.ReadDir("migrations")
	if err != nil || version != len(files) {
		t.Errorf("the schema is %d after %d migrations, %v", version, len(files), err)
	}
}

func TestOpenRefusesOtherSchemas(t *testing.T) {
	ours := "INSERT INTO migrations VALUES (99, '0099_x.sql', '%s', 0); PRAGMA user_version = 99"
	tests := []struct {
		name, change string
		fresh        bool // whether the file is new rather than a store
		want         string
	}{
		{"R093 a newer schema, naming the version it needs", fmt.Sprintf(ours, "4.5.6"), false, "use bossman 4.5.6 or newer"},
		{"R093 a newer schema of a nameless program", fmt.Sprintf(ours, ""), false, "use a newer bossman"},
		{"R093 a newer schema without a record", "DROP TABLE migrations; PRAGMA user_version = 99", false, "use a newer bossman"},
		{"R093 a file that a migration does not fit", "PRAGMA journal_mode = WAL; PRAGMA application_id = 1651471219; CREATE TABLE tasks (x)", true, "migrate to schema 1"},
		{"another program's tables", "CREATE TABLE notes (text)", true, "another program"},
		{"another program's empty file", "PRAGMA application_id = 7; PRAGMA user_version = 1", true, "another program"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "queue.db")
			if !test.fresh {
				openFile(t, path)
			}
			raw := rawOpen(t, path)
			rawExec(t, raw, test.change)
			before := dump(t, path)
			store, err := sqlite.Open(t.Context(), path, nil)
			if err == nil {
				store.Close()
				t.Fatal("it opened")
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %q, want it to say %q", err, test.want)
			}
			if after := dump(t, path); after != before {
				t.Errorf("the file was changed from %s to %s", before, after)
			}
		})
	}
}

// dump describes a file's schema and settings.
func dump(t *testing.T, path string) string {
	t.Helper()
	conn := rawOpen(t, path)
	var mode, names string
	var version, application int
	if err := conn.QueryRowContext(t.Context(), "PRAGMA journal_mode").Scan(&mode); err != nil {
		t.Fatal(err)
	}
	err := conn.QueryRowContext(t.Context(), `SELECT
		(SELECT user_version FROM pragma_user_version),
		(SELECT application_id FROM pragma_application_id),
		(SELECT ifnull(group_concat(name), '') FROM sqlite_schema)`).Scan(&version, &application, &names)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(mode, version, application, names)
}
