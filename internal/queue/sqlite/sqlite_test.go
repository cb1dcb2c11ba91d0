package sqlite_test

import (
	"math/rand/v2"
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

// TestRandomScriptsAgreeWithTheModel plays operations made of random bytes. Each
// run takes new ones; a failure names the seed to begin with again. (A fuzz target
// would learn little: the engine is too large to be steered.)
func TestRandomScriptsAgreeWithTheModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 30 {
		script := make([]byte, 1+random.IntN(300))
		for i := range script {
			script[i] = byte(random.Uint32())
		}
		storetest.Play(t, openFile(t, filepath.Join(t.TempDir(), "queue.db")), script)
	}
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
