package conformance_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/internal/need"
)

// TestTheReadmeTellsTheNumbers holds the table in the README to those here.
func TestTheReadmeTellsTheNumbers(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(need.Root(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range legs() {
		want := expectation(l)
		checks := 0
		for _, n := range want {
			checks += n
		}
		if line := fmt.Sprintf("| `%s` | %d | %d |", l, len(want), checks); !strings.Contains(string(text), line) {
			t.Errorf("the README lacks the line\n%s", line)
		}
	}
}
