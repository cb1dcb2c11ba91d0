package sqlite_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/internal/queue"
	"github.com/bossman-mcp/bossman/internal/queue/sqlite"
	"github.com/bossman-mcp/bossman/internal/queue/storetest"
)

func TestStore(t *testing.T) {
	root := t.TempDir()
	storetest.Run(t, func(t *testing.T) queue.Store {
		store, err := sqlite.Open(t.Context(), filepath.Join(root, strings.ReplaceAll(t.Name(), "/", " "), "queue.db"), nil)
		if err != nil {
			t.Fatal(err)
		}
		return store
	})
}

func FuzzStore(f *testing.F) {
	f.Add([]byte("a create, a claim, a finish, a list"))
	f.Fuzz(func(t *testing.T, script []byte) {
		storetest.Play(t, openFile(t, filepath.Join(t.TempDir(), "queue.db")), script)
	})
}

// openFile opens a store that the test closes at its end.
func openFile(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}
