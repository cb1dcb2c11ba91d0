package revision_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/bossman-mcp/bossman/mcp/revision"
)

func Example() {
	r := revision.Lookup("2025-03-26")
	fmt.Println(r.Name, "batches:", r.Batch, "structured content:", r.Structured)
	// Output:
	// 2025-03-26 batches: true structured content: false
}

func TestRevisionsAreInOrder(t *testing.T) {
	var names []string
	for _, r := range revision.All() {
		names = append(names, r.Name)
		if revision.Lookup(r.Name) != r {
			t.Errorf("%s is not found by its name", r.Name)
		}
	}
	if len(names) != 5 || !slices.IsSorted(names) || revision.Newest().Name != names[4] {
		t.Errorf("revisions: %v", names)
	}
}

func TestNegotiationStaysInTheHandshakeEra(t *testing.T) {
	every, err := revision.Select("")
	if err != nil {
		t.Fatal(err)
	}
	for asked, want := range map[string]string{
		"2024-11-05": "2024-11-05",
		"2025-03-26": "2025-03-26",
		"2025-06-18": "2025-06-18",
		"2025-11-25": "2025-11-25",
		"2026-07-28": "2025-11-25",
		"2099-01-01": "2025-11-25",
		"1.0.0":      "2025-11-25",
		"":           "2025-11-25",
	} {
		if got := every.Negotiate(asked).Name; got != want {
			t.Errorf("asked for %q, got %s, want %s", asked, got, want)
		}
	}
	if got := revision.Stateless(); !slices.Equal(got, []string{"2026-07-28"}) {
		t.Errorf("stateless: %v", got)
	}
}

// TestFactsNeverComeBack holds the table to the protocol's history: what a
// revision brought stays, but for the three forms that were given up.
func TestFactsNeverComeBack(t *testing.T) {
	all := revision.All()
	for i, r := range all[1:] {
		before := all[i]
		for fact, lost := range map[string]bool{
			"Annotated":     before.Annotated && !r.Annotated,
			"Structured":    before.Structured && !r.Structured,
			"Icons":         before.Icons && !r.Icons,
			"VersionHeader": before.VersionHeader && !r.VersionHeader,
			"Stateless":     before.Stateless && !r.Stateless,
		} {
			if lost {
				t.Errorf("%s lost %s", r.Name, fact)
			}
		}
		if r.Stateless && (r.Sessions || r.Batch || r.Resume || r.EarlyClose) {
			t.Errorf("%s is stateless and has a session's facts", r.Name)
		}
	}
}
