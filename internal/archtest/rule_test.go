package archtest_test

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/bossman-mcp/bossman/mcp/revision"
)

// A rule is one sentence of the design and the check that holds the module to it.
type rule struct {
	name     string // the sentence
	check    func(*tree) []finding
	examples []example // at least one that the check refuses
	// exceptions are findings that are as they should be: a pattern of
	// [path.Match] for their subject, and the reason.
	exceptions map[string]string
}

// An example is a small module that shows what a rule refuses and what it lets
// pass.
type example struct {
	name   string // a sentence
	source string // txtar; @/ stands for the module's path, {newest} for the newest revision's name
	want   []string
}

// A finding is one place where the module breaks a rule.
type finding struct {
	path    string // from the repository's root, with slashes
	line    int
	subject string // what an exception would name
	problem string
	advice  string
}

func (f finding) place() string { return fmt.Sprintf("%s:%d", f.path, f.line) }

func (f finding) String() string {
	return fmt.Sprintf("%s: %s: %s", f.place(), f.problem, f.advice)
}

// hold runs every rule on its examples and then on the module.
func hold(t *testing.T, rules []rule) {
	t.Helper()
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			r.prove(t)
			for _, f := range r.judge(r.check(repository(t))) {
				t.Error(f)
			}
		})
	}
}

// prove shows that the rule refuses what it should, and no more.
func (r *rule) prove(t *testing.T) {
	t.Helper()
	refused := 0
	for _, e := range r.examples {
		refused += len(e.want)
		t.Run("example: "+e.name, func(t *testing.T) {
			var got []string
			for _, f := range sorted(r.check(inMemory(t, e.source))) {
				if f.problem == "" || f.advice == "" || f.subject == "" {
					t.Errorf("the finding %q lacks a problem, an advice or a subject", f)
				}
				got = append(got, f.place())
			}
			if !slices.Equal(got, e.want) {
				t.Errorf("the rule found %q, want %q", got, e.want)
			}
		})
	}
	if refused == 0 {
		t.Errorf("the rule %q has no example that it refuses: add one to show that it can fail", r.name)
	}
}

// judge returns the findings that no exception covers, and one for each
// exception that covers nothing.
func (r *rule) judge(found []finding) []finding {
	used := make(map[string]bool)
	var rest []finding
	for _, f := range sorted(found) {
		excepted := false
		for pattern := range r.exceptions {
			if ok, err := path.Match(pattern, f.subject); err == nil && ok {
				excepted, used[pattern] = true, true
			}
		}
		if !excepted {
			rest = append(rest, f)
		}
	}
	for pattern := range r.exceptions {
		if !used[pattern] {
			rest = append(rest, finding{
				path: "internal/archtest", subject: pattern,
				problem: fmt.Sprintf("the exception %q of the rule %q excepts nothing", pattern, r.name),
				advice:  "remove it",
			})
		}
	}
	return rest
}

func sorted(found []finding) []finding {
	return slices.SortedStableFunc(slices.Values(found), func(a, b finding) int {
		return cmp.Or(strings.Compare(a.path, b.path), cmp.Compare(a.line, b.line))
	})
}

// inMemory reads a module from a txtar archive.
func inMemory(t *testing.T, source string) *tree {
	t.Helper()
	source = strings.NewReplacer("@/", modulePath+"/", "{newest}", revision.Newest().Name).Replace(source)
	fsys, err := txtar.FS(txtar.Parse([]byte(source)))
	if err != nil {
		t.Fatalf("read the example: %v", err)
	}
	m, err := readTree(fsys)
	if err != nil {
		t.Fatalf("read the example: %v", err)
	}
	for _, f := range m.unparsed {
		t.Errorf("the example does not parse: %v", f)
	}
	return m
}

func TestRulesAreJudgedByTheirExamplesAndExceptions(t *testing.T) {
	found := []finding{{path: "b/b.go", line: 7, subject: "b.X"}, {path: "a/a.go", line: 3, subject: "a.X"}}
	tests := []struct {
		name       string
		exceptions map[string]string
		want       []string
	}{
		{"findings come in the order of the files", nil, []string{"a/a.go:3", "b/b.go:7"}},
		{"an exception takes its finding away", map[string]string{"a.*": "a reason"}, []string{"b/b.go:7"}},
		{"an exception that nothing needs is a finding", map[string]string{"?.X": "a reason", "c.X": "a reason"}, []string{"internal/archtest:0"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := rule{name: "a rule", exceptions: tt.exceptions}
			var got []string
			for _, f := range r.judge(found) {
				got = append(got, f.place())
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
