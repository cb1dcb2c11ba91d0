package conformance_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// verdict is what a leg came to.
type verdict struct {
	scenarios, passed, skipped int
	problems                   []string
	took                       time.Duration
}

// expected is what a leg must come to: how many checks of each scenario succeed,
// at least, by the name of the folder that the suite gives it.
type expected map[string]int

// folder is how the suite names the results of a scenario.
var folder = regexp.MustCompile(`^(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$`)

// judge compares results with what is expected: no failure, no warning, no check
// skipped without a reason, and no scenario and no check missing. A program that
// answers nonsense still collects green checks, so the numbers are what counts.
func judge(results string, want expected) *verdict {
	v := &verdict{}
	seen := make(map[string]bool)
	err := filepath.WalkDir(results, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "checks.json" {
			return err
		}
		dir, err := filepath.Rel(results, filepath.Dir(path))
		if err != nil {
			return err
		}
		match := folder.FindStringSubmatch(filepath.ToSlash(dir))
		if match == nil {
			return fmt.Errorf("results in a folder of another form: %s", dir)
		}
		name := match[1]
		seen[name] = true
		return v.add(name, path, want)
	})
	if err != nil {
		v.problems = append(v.problems, err.Error())
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if !seen[name] {
			v.problems = append(v.problems, name+": it was not run")
		}
	}
	return v
}

// add looks at one scenario.
func (v *verdict) add(name, path string, want expected) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var checks []struct {
		ID     string `json:"id"`
		Status string `json:"status"`
		Error  string `json:"errorMessage"`
	}
	if err := json.Unmarshal(text, &checks); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	v.scenarios++
	passed, skipped := 0, make(map[string]int)
	var problems []string
	for _, c := range checks {
		switch c.Status {
		case "SUCCESS":
			passed++
		case "INFO":
		case "SKIPPED":
			v.skipped++
			if skipped[c.ID]++; skipped[c.ID] > skips[name+" "+c.ID].most {
				problems = append(problems, fmt.Sprintf("skipped without a reason: %s (%s)", c.ID, c.Error))
			}
		default:
			problems = append(problems, fmt.Sprintf("%s: %s (%s)", c.Status, c.ID, c.Error))
		}
	}
	v.passed += passed
	if least, known := want[name]; !known || passed < least {
		problems = append(problems, fmt.Sprintf("%d checks passed, want %d", passed, least))
	}
	if len(problems) > 0 {
		said, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "stderr.txt")) // the server's side has none
		v.problems = append(v.problems, fmt.Sprintf("%s: %s\n%s", name, strings.Join(problems, "; "), said))
	}
	return nil
}

func TestJudge(t *testing.T) {
	const good = `[{"id":"a","status":"SUCCESS"},{"id":"b","status":"INFO"},{"id":"c","status":"SUCCESS"}]`
	for _, test := range []struct {
		name   string
		folder string
		checks string
		want   string // part of the one problem; empty: there is none
	}{
		{"all as expected", "auth/one-2026-01-02T03-04-05-678Z", good, ""},
		{"more than expected", "auth/one-2026-01-02T03-04-05-678Z", good[:len(good)-1] + `,{"id":"d","status":"SUCCESS"}]`, ""},
		{"a check is missing", "auth/one-2026-01-02T03-04-05-678Z", `[{"id":"a","status":"SUCCESS"}]`, "1 checks passed, want 2"},
		{"a failure", "auth/one-2026-01-02T03-04-05-678Z", good[:len(good)-1] + `,{"id":"d","status":"FAILURE","errorMessage":"oh"}]`, "FAILURE: d (oh)"},
		{"a warning", "auth/one-2026-01-02T03-04-05-678Z", good[:len(good)-1] + `,{"id":"d","status":"WARNING"}]`, "WARNING: d"},
		{"a status that nobody knows", "auth/one-2026-01-02T03-04-05-678Z", good[:len(good)-1] + `,{"id":"d","status":"MAYBE"}]`, "MAYBE: d"},
		{"a skip without a reason", "auth/one-2026-01-02T03-04-05-678Z", good[:len(good)-1] + `,{"id":"d","status":"SKIPPED"}]`, "skipped without a reason: d"},
		{"a folder of another form", "auth/one", good, "another form"},
		{"text that is none", "auth/one-2026-01-02T03-04-05-678Z", "[", "checks.json"},
	} {
		t.Run(test.name, func(t *testing.T) {
			results := t.TempDir()
			dir := filepath.Join(results, filepath.FromSlash(test.folder))
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "checks.json"), []byte(test.checks), 0o644); err != nil {
				t.Fatal(err)
			}
			problems := strings.Join(judge(results, expected{"auth/one": 2}).problems, "\n")
			if !strings.Contains(problems, test.want) || test.want == "" && problems != "" {
				t.Errorf("got %q, want %q", problems, test.want)
			}
		})
	}
	t.Run("a scenario that nobody expects", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "new-2026-01-02T03-04-05-678Z"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "new-2026-01-02T03-04-05-678Z", "checks.json"), []byte(good), 0o644); err != nil {
			t.Fatal(err)
		}
		if v := judge(dir, expected{"old": 1}); len(v.problems) != 2 {
			t.Errorf("got %q, want one that is new and one that was not run", v.problems)
		}
	})
}
