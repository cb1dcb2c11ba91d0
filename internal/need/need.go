// Package need gives tests what they need beyond Go: Node, npm packages, a
// PostgreSQL cluster, the reference material beside the repository. What cannot
// be had is said loudly, by [Unavailable] and nowhere else.
//
// Only tests import this package. It is the one package outside the command line
// that reads the environment: CI decides between a skip and a failure, and
// BOSSMAN_NOT_RUN names a file that collects what was not run, because go test
// hides the reasons of skipped tests. Programs it starts inherit the environment.
// It starts programs without a shell and with a time limit, and keeps downloads in
// the user's cache folder, under bossman-test.
package need

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// modulePath is the first line of the go.mod that marks the repository's root.
// Nested modules have other paths.
const modulePath = "module github.com/bossman-mcp/bossman"

// Unavailable ends the test because what it needs cannot be had. Under CI=true
// that is a failure; elsewhere the test is skipped, and the file that
// BOSSMAN_NOT_RUN names, if any, gets a line. It does not return.
func Unavailable(t testing.TB, what, why string) {
	t.Helper()
	if ci, err := strconv.ParseBool(os.Getenv("CI")); err == nil && ci {
		t.Fatalf("NOT RUN, and CI is true: this test needs %s: %s", what, why)
	}
	if list := os.Getenv("BOSSMAN_NOT_RUN"); list != "" {
		if err := appendLine(list, notRunLine(t.Name(), what, why)); err != nil {
			t.Errorf("note what was not run: %v", err)
		}
	}
	t.Skipf("NOT RUN: this test needs %s: %s", what, why)
}

// Root returns the repository's root, the folder of the main module's go.mod. It
// is found upwards from the working folder, which go test makes the package's.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := root()
	if err != nil {
		t.Fatalf("find the repository's root: %v", err)
	}
	return dir
}

// Shared returns the path of reference material in the folder named shared beside
// the repository's root. Users' clones do not have it: the test then ends as
// [Unavailable] says. Tests read what is there in place and never write to it.
func Shared(t testing.TB, elem ...string) string {
	t.Helper()
	parts := append([]string{filepath.Dir(Root(t)), "shared"}, elem...)
	path := filepath.Join(parts...)
	switch _, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		Unavailable(t, "the reference material "+filepath.Join(elem...),
			"there is no "+filepath.Join(parts[1:]...)+" beside the repository")
	case err != nil:
		t.Fatalf("look for reference material: %v", err)
	}
	return path
}

func root() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && isMainModule(string(mod)) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no go.mod of %q at or above %s", modulePath, start)
		}
	}
}

func isMainModule(mod string) bool {
	for line := range strings.Lines(mod) {
		if strings.TrimSpace(line) == modulePath {
			return true
		}
	}
	return false
}

// notRunLine keeps to one line: why may carry a program's whole output.
func notRunLine(test, what, why string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(why), "\n")
	return fmt.Sprintf("%s needs %s: %s\n", test, what, first)
}

// appendLine adds the line in one write, so that test binaries that run at the
// same time do not mix their lines.
func appendLine(path, line string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line)
	return errors.Join(err, f.Close())
}

// cacheDir returns the folder that outlives test runs, made if need be. Without a
// home folder it lies with the temporary files.
func cacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		base = os.TempDir()
	}
	dir := filepath.Join(base, "bossman-test")
	return dir, os.MkdirAll(dir, 0o755)
}
