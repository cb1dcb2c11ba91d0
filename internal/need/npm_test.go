package need_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/internal/need"
)

func TestNPMRefusesWhatIsNotPinned(t *testing.T) {
	for _, tt := range []struct{ name, pkg string }{
		{"no version", "is-number"},
		{"a range", "is-number@^7.0.0"},
		{"a tag", "is-number@latest"},
		{"a version in part", "is-number@7"},
		{"an address", "https://example.com/is-number-7.0.0.tgz"},
		{"an option", "--global@1.0.0"},
		{"a scope without a version", "@scope/name"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			end := endOf(func(t testing.TB) { need.NPM(t, tt.pkg) })
			if end.how != "failed" || !strings.Contains(end.words, tt.pkg) {
				t.Errorf("ended %v, want a failure that names %s", end, tt.pkg)
			}
		})
	}
	if end := endOf(func(t testing.TB) { need.NPM(t) }); end.how != "failed" {
		t.Errorf("no package at all: ended %v, want a failure", end)
	}
}

func TestNPMInstallsARealPackage(t *testing.T) {
	dir := need.NPM(t, "is-number@7.0.0")
	script := `import isNumber from "is-number"; console.log(isNumber(process.argv[1]))`
	if got := output(t, need.NodeCommand(t, dir, script, "42")); got != "true" {
		t.Errorf("isNumber(42) printed %q", got)
	}
}

func TestNPMInstallsASetOnce(t *testing.T) {
	log := pretendNPM(t)
	first := need.NPM(t, "b@2.0.0", "@scope/a@1.0.0-rc.1", "b@2.0.0")
	if second := need.NPM(t, "@scope/a@1.0.0-rc.1", "b@2.0.0"); second != first {
		t.Errorf("the same set in another order: %s, then %s", first, second)
	}
	if other := need.NPM(t, "b@2.0.1"); other == first {
		t.Errorf("another set has the same folder %s", other)
	}
	calls := readLines(t, log)
	if len(calls) != 2 {
		t.Fatalf("npm ran %d times, want 2: %q", len(calls), calls)
	}
	if !strings.Contains(calls[0], "--ignore-scripts") || !strings.HasSuffix(calls[0], "-- @scope/a@1.0.0-rc.1 b@2.0.0") {
		t.Errorf("npm's arguments: %s", calls[0])
	}
}

func TestNPMInstallsASetOnceAcrossProcesses(t *testing.T) {
	log := pretendNPM(t)
	path := as(t, "installer")
	var installers []*exec.Cmd
	for range 4 {
		cmd := exec.CommandContext(t.Context(), path)
		cmd.Stdout = new(strings.Builder)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		installers = append(installers, cmd)
	}
	for _, cmd := range installers {
		if err := cmd.Wait(); err != nil {
			t.Errorf("installer: %v: %s", err, cmd.Stdout)
		}
	}
	if calls := readLines(t, log); len(calls) != 1 {
		t.Errorf("npm ran %d times, want once: %q", len(calls), calls)
	}
}

func TestNPMThatFailsLeavesNothingAndIsTriedAgain(t *testing.T) {
	log := pretendNPM(t)
	t.Setenv("PLAY_NPM_FAILS", "1")
	t.Setenv("CI", "")
	t.Setenv("BOSSMAN_NOT_RUN", "")
	install := func(t testing.TB) { need.NPM(t, "c@1.0.0") }
	for range 2 {
		if end := endOf(install); end.how != "skipped" || !strings.Contains(end.words, "the registry is out of reach") {
			t.Errorf("ended %v, want a skip with npm's words", end)
		}
	}
	t.Setenv("CI", "true")
	if end := endOf(install); end.how != "failed" {
		t.Errorf("under CI: ended %v, want a failure", end)
	}
	if calls := readLines(t, log); len(calls) != 3 {
		t.Errorf("npm ran %d times, want 3", len(calls))
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(cache, "bossman-test", "*.part-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

func TestNodeIsNewEnough(t *testing.T) {
	for _, tt := range []struct {
		name   string
		node   func(testing.TB) string
		oldest int
	}{
		{"Node is 22 or newer", need.Node, 22},
		{"Node24 is 24 or newer", need.Node24, 24},
	} {
		t.Run(tt.name, func(t *testing.T) {
			version := output(t, exec.CommandContext(t.Context(), tt.node(t), "--version"))
			first, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
			if major, err := strconv.Atoi(first); err != nil || major < tt.oldest {
				t.Errorf("version %q, want %d or newer", version, tt.oldest)
			}
		})
	}
}

func TestNodeToolRunsAPackagesProgramUnderThatNode(t *testing.T) {
	path := need.Node(t)
	dir := need.NPM(t, "semver@7.7.2")
	if got := output(t, need.NodeTool(t, path, dir, "semver", "--range", ">=2", "1.0.0", "2.1.0")); got != "2.1.0" {
		t.Errorf("semver printed %q, want 2.1.0", got)
	}
	script := `import { execFileSync } from "node:child_process"; console.log(execFileSync("node", ["-p", "process.execPath"]).toString())`
	if got := output(t, need.NodeCommand(t, dir, script)); !sameFile(t, got, path) {
		t.Errorf("a child found Node at %s, want %s", got, path)
	}
}

// pretendNPM makes npm the test binary and the cache an empty folder. It returns
// the file that lists npm's calls.
func pretendNPM(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	log := filepath.Join(home, "calls")
	t.Setenv("PATH", filepath.Dir(as(t, "npm")))
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(home, ".cache"))
	t.Setenv("PLAY_NPM_LOG", log)
	return log
}

func readLines(t *testing.T, path string) []string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lines []string
	for scan := bufio.NewScanner(f); scan.Scan(); {
		lines = append(lines, scan.Text())
	}
	return lines
}

func sameFile(t *testing.T, a, b string) bool {
	t.Helper()
	left, err := os.Stat(a)
	if err != nil {
		t.Fatal(err)
	}
	right, err := os.Stat(b)
	if err != nil {
		t.Fatal(err)
	}
	return os.SameFile(left, right)
}
