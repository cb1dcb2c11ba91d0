package need_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/internal/need"
)

func TestUnavailableDecides(t *testing.T) {
	for _, tt := range []struct {
		name, ci, want string
	}{
		{"skips where CI is not set", "", "skipped"},
		{"skips where CI is false", "false", "skipped"},
		{"skips where CI is no boolean", "perhaps", "skipped"},
		{"fails where CI is true", "true", "failed"},
		{"fails where CI is 1", "1", "failed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list := filepath.Join(t.TempDir(), "not-run")
			t.Setenv("CI", tt.ci)
			t.Setenv("BOSSMAN_NOT_RUN", list)
			end := endOf(func(t testing.TB) { need.Unavailable(t, "a moon rocket", "none left\nand more") })
			if end.how != tt.want || !strings.Contains(end.words, "NOT RUN") ||
				!strings.Contains(end.words, "a moon rocket: none left") {
				t.Errorf("ended %v, want it %s with what and why", end, tt.want)
			}
			lines, _ := os.ReadFile(list)
			want := ""
			if tt.want == "skipped" {
				want = "TestPretend needs a moon rocket: none left\n"
			}
			if string(lines) != want {
				t.Errorf("list of what was not run: %q, want %q", lines, want)
			}
		})
	}
}

func TestRootIsTheFolderOfTheMainModule(t *testing.T) {
	dir := need.Root(t)
	if _, err := os.Stat(filepath.Join(dir, "internal", "need", "need.go")); err != nil {
		t.Errorf("Root() = %s: %v", dir, err)
	}
}

func TestRootPassesOverNestedModules(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	nested := filepath.Join(top, "bench", "deep")
	if err := os.MkdirAll(nested, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(top, "go.mod"), "module github.com/bossman-mcp/bossman\n\ngo 1.26.0\n")
	write(t, filepath.Join(top, "bench", "go.mod"), "module github.com/bossman-mcp/bossman/bench\n")
	t.Chdir(nested)
	if got := need.Root(t); got != top {
		t.Errorf("Root() = %s, want %s", got, top)
	}
}

func TestRootFailsOutsideTheRepository(t *testing.T) {
	t.Chdir(t.TempDir())
	end := endOf(func(t testing.TB) { need.Root(t) })
	if end.how != "failed" || !strings.Contains(end.words, "no go.mod") {
		t.Errorf("ended %v, want a failure that names go.mod", end)
	}
}

func TestSharedFindsWhatLiesBesideTheRepository(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	repo := filepath.Join(top, "repo")
	want := filepath.Join(top, "shared", "suites", "json")
	for _, dir := range []string{repo, want} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(repo, "go.mod"), "module github.com/bossman-mcp/bossman\n")
	t.Chdir(repo)
	if got := need.Shared(t, "suites", "json"); got != want {
		t.Errorf("Shared() = %s, want %s", got, want)
	}

	t.Setenv("BOSSMAN_NOT_RUN", "")
	absent := func(t testing.TB) { need.Shared(t, "suites", "absent") }
	for ci, how := range map[string]string{"": "skipped", "true": "failed"} {
		t.Setenv("CI", ci)
		if end := endOf(absent); end.how != how || !strings.Contains(end.words, filepath.Join("shared", "suites", "absent")) {
			t.Errorf("absent with CI=%q: ended %v, want it %s with the path", ci, end, how)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
