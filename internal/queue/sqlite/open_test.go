package sqlite_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/internal/queue"
	"github.com/bossman-mcp/bossman/internal/queue/sqlite"
)

func TestOpenCreatesFolderAndFileForTheOwnerOnly(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows keeps other permissions")
	}
	root := t.TempDir()
	path := filepath.Join(root, "a", "b", "queue.db")
	store := openFile(t, path)
	if _, err := store.Create(t.Context(), queue.NewTask{Description: "x"}); err != nil {
		t.Fatal(err)
	}
	want := map[string]os.FileMode{
		filepath.Join(root, "a"): 0o700, filepath.Dir(path): 0o700,
		path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600,
	}
	for name, mode := range want {
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s has mode %v, %v, want %v", filepath.Base(name), info.Mode().Perm(), err, mode)
		}
	}
}

func TestOpenTakesAnyFileName(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"queue.db", "a b", "ümläut", "50%", "%41", "q?mode=memory", "a#b", "a&b=c", ":memory:", "file:x"} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && strings.ContainsAny(name, `?:`) {
				t.Skip("Windows does not allow this name")
			}
			path := filepath.Join(root, name)
			openFile(t, path)
			if _, err := os.Stat(path); err != nil {
				t.Error(err)
			}
		})
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.Name() == "A" || entry.Name() == "x" {
			t.Errorf("a name was taken for %q", entry.Name())
		}
	}
}

func TestOpenTakesARelativePath(t *testing.T) {
	t.Chdir(t.TempDir())
	openFile(t, filepath.Join("data", "queue.db"))
	if _, err := os.Stat("data/queue.db"); err != nil {
		t.Error(err)
	}
}

func TestOpenFails(t *testing.T) {
	root := t.TempDir()
	text := filepath.Join(root, "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("not a database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]string{
		"when a folder is a file":         filepath.Join(text, "queue.db"),
		"when the file is a folder":       root,
		"when the file is not a database": text,
	}
	for name, path := range tests {
		t.Run(name, func(t *testing.T) {
			if store, err := sqlite.Open(t.Context(), path, nil); err == nil {
				store.Close()
				t.Error("it opened")
			}
		})
	}
	t.Run("when the context ends while it waits", func(t *testing.T) {
		path := filepath.Join(root, "busy.db")
		rawExec(t, rawOpen(t, path), "BEGIN EXCLUSIVE")
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		store, err := sqlite.Open(ctx, path, nil)
		if err == nil {
			store.Close()
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the context's error", err)
		}
	})
}

func TestSettings(t *testing.T) {
	store := openFile(t, filepath.Join(t.TempDir(), "queue.db"))
	for pragma, want := range map[string]string{"synchronous": "2", "journal_mode": "wal", "fullfsync": "1"} {
		if got, err := store.Pragma(t.Context(), pragma); err != nil || got != want {
			t.Errorf("%s is %s, %v, want %s", pragma, got, err, want)
		}
	}
}

func TestR098PlansUseIndexes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queue.db")
	openFile(t, path)
	byStatus, _ := sqlite.ListQuery(queue.Filter{Status: queue.Done}, 0, 1)
	everything, _ := sqlite.ListQuery(queue.Filter{}, 0, 1)
	tests := []struct{ name, query, index string }{
		{"a claim takes the first ready task", sqlite.ClaimTask, "tasks_ready"},
		{"a task is found by its ID", sqlite.SelectTask, "sqlite_autoindex_tasks_1"},
		{"a list by status walks along it", byStatus, "tasks_status (status=? AND seq>?)"},
		{"a list of everything walks along the table", everything, "INTEGER PRIMARY KEY (rowid>?)"},
	}
	conn := rawOpen(t, path)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			args := make([]any, strings.Count(test.query, "?"))
			if test.query == sqlite.ClaimTask {
				args = args[:2]
			}
			rows, err := conn.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+test.query, args...)
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			var plan strings.Builder
			for rows.Next() {
				var id, parent, unused int
				var detail string
				if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
					t.Fatal(err)
				}
				plan.WriteString(detail + "\n")
			}
			if !strings.Contains(plan.String(), test.index) || strings.Contains(plan.String(), "TEMP B-TREE") {
				t.Errorf("the plan is\n%s", plan.String())
			}
		})
	}
}
