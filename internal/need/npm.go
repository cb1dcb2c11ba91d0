package need

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// pinned matches a package with an exact version. A name cannot begin with a dash,
// so it is never taken for an option.
var pinned = regexp.MustCompile(`^(@[a-z0-9][a-z0-9._~-]*/)?[a-z0-9][a-z0-9._~-]*@[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)

// nodeByApt installs Node and npm, once in a test binary: trying again for every
// test would cost minutes.
var nodeByApt = sync.OnceValue(func() error {
	return aptInstall(context.Background(), "nodejs", "npm")
})

// NPM installs packages, each pinned as name@1.2.3, without running their scripts,
// and returns the folder that holds node_modules. The folder is kept for later runs
// under a key made of the set, so tests must not write to it. An unpinned package
// fails the test; npm that is missing or out of reach ends it as [Unavailable] says.
func NPM(t testing.TB, pkgs ...string) string {
	t.Helper()
	set, err := pinnedSet(pkgs)
	if err != nil {
		t.Fatalf("need.NPM: %v", err)
	}
	base, err := cacheDir()
	if err != nil {
		t.Fatalf("need.NPM: %v", err)
	}
	dir := filepath.Join(base, "npm-"+npmKey(set))
	if err := install(t.Context(), dir, set); err != nil {
		Unavailable(t, "npm packages "+strings.Join(set, " "), err.Error())
	}
	return dir
}

func pinnedSet(pkgs []string) ([]string, error) {
	if len(pkgs) == 0 {
		return nil, errors.New("no package named")
	}
	for _, p := range pkgs {
		if !pinned.MatchString(p) {
			return nil, fmt.Errorf("package %q is not pinned: write name@1.2.3", p)
		}
	}
	set := slices.Clone(pkgs)
	slices.Sort(set)
	return slices.Compact(set), nil
}

// npmKey depends on the system too: some packages carry its binaries.
func npmKey(set []string) string {
	sum := sha256.Sum256([]byte(runtime.GOOS + "/" + runtime.GOARCH + "\n" + strings.Join(set, "\n")))
	return hex.EncodeToString(sum[:8])
}

// install makes dir hold the set. The folder appears whole, by a rename, so one
// that is there needs no lock; processes that find none take turns.
func install(ctx context.Context, dir string, set []string) error {
	if isDir(dir) {
		return nil
	}
	unlock, err := lockedfile.MutexAt(dir + ".lock").Lock()
	if err != nil {
		return err
	}
	defer unlock()
	if isDir(dir) {
		return nil
	}
	npm, err := findNPM()
	if err != nil {
		return err
	}
	if err := removeParts(dir); err != nil {
		return err
	}
	part, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".part-")
	if err != nil {
		return err
	}
	if err := npmInstall(ctx, npm, part, set); err != nil {
		return errors.Join(err, os.RemoveAll(part))
	}
	return os.Rename(part, dir)
}

// removeParts removes what a killed install left. Only the lock's holder calls it.
func removeParts(dir string) error {
	parts, err := filepath.Glob(dir + ".part-*")
	if err != nil {
		return err
	}
	for _, p := range parts {
		if err := os.RemoveAll(p); err != nil {
			return err
		}
	}
	return nil
}

func npmInstall(ctx context.Context, npm, dir string, set []string) error {
	// Without a package.json here, npm would install into a folder above.
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte("{\"private\":true}\n"), 0o644); err != nil {
		return err
	}
	args := []string{"install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--save-exact", "--"}
	_, err := run(ctx, setting{dir: dir, limit: 5 * time.Minute}, npm, append(args, set...)...)
	return err
}

func findNPM() (string, error) {
	if npm, err := exec.LookPath("npm"); err == nil {
		return npm, nil
	}
	if err := nodeByApt(); err != nil {
		return "", fmt.Errorf("npm is not on PATH: %w", err)
	}
	return exec.LookPath("npm")
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
