package conformance_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/internal/need"
)

// TestTheDocsTellTheNumbers holds the tables to those here: the page has every leg,
// the README those that the suite has sets for.
func TestTheDocsTellTheNumbers(t *testing.T) {
	readme, page := read(t, "README.md"), read(t, "docs", "conformance.md")
	for _, l := range legs() {
		want := expectation(l)
		checks := 0
		for _, n := range want {
			checks += n
		}
		line := fmt.Sprintf("| `%s` | %d | %d |", l, len(want), checks)
		if !strings.Contains(page, line) {
			t.Errorf("docs/conformance.md lacks the line\n%s", line)
		}
		isSet := !strings.Contains(l.String(), "--spec-version") && !strings.Contains(l.String(), ",")
		if isSet && !strings.Contains(readme, line+" 0, 0 |") {
			t.Errorf("the README lacks the line\n%s 0, 0 |", line)
		}
	}
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{need.Root(t)}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
