package mcptest

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/mcp"
)

// Transcripts replays every transcript in dir and the folders below it, each as
// a subtest with a server of its own. Serve makes that server; name is what the
// transcript's header says after server, empty when it says nothing. A folder
// without transcripts fails the test. For the flag that rewrites transcripts see
// the package's comment.
func Transcripts(t *testing.T, dir string, serve func(t *testing.T, name string) mcp.Handler) {
	t.Helper()
	paths, err := find(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		name, err := filepath.Rel(dir, path)
		if err != nil {
			name = path
		}
		t.Run(strings.TrimSuffix(filepath.ToSlash(name), ".txtar"), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			story, err := ParseTranscript(filepath.ToSlash(path), data)
			if err != nil {
				t.Fatal(err)
			}
			c := Connect(t, serve(t, story.Server), nil)
			if !updating() {
				if err := story.Replay(c); err != nil {
					t.Error(err)
				}
				return
			}
			if err := story.update(c); err != nil {
				t.Fatal(err)
			}
			if next := story.format(); string(next) != string(data) {
				if err := os.WriteFile(path, next, 0o644); err != nil {
					t.Fatal(err)
				}
				t.Logf("rewrote %s", path)
			}
		})
	}
}

// find lists the transcripts, in order. None are an error.
func find(dir string) ([]string, error) {
	var paths []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && filepath.Ext(path) == ".txtar" {
			paths = append(paths, path)
		}
		return err
	})
	if err == nil && len(paths) == 0 {
		err = fmt.Errorf("there are no transcripts (*.txtar) in %s", dir)
	}
	return paths, err
}

// updating reports whether the test binary has a flag named update and it is
// set. The flag is the test's own: a library that defines one clashes with the
// next.
func updating() bool {
	update := flag.Lookup("update")
	return update != nil && update.Value.String() == "true"
}
