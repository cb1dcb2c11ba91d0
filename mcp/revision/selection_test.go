package revision_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/mcp/revision"
)

func ExampleSelect() {
	ours, err := revision.Select("stateless, 2025-11-25")
	if err != nil {
		panic(err)
	}
	fmt.Println(revision.Names(ours.Stateless), revision.Names(ours.Handshake))
	// Output: [2026-07-28] [2025-11-25]
}

func TestASelectionIsReadFromNamesAndEras(t *testing.T) {
	const old = "2025-11-25 2025-06-18 2025-03-26 2024-11-05"
	for _, test := range []struct{ name, list, handshake, stateless string }{
		{"nothing selects all", "", old, "2026-07-28"},
		{"an era", "handshake", old, ""},
		{"the other era", "stateless", "", "2026-07-28"},
		{"both eras", "handshake,stateless", old, "2026-07-28"},
		{"one revision", "2025-03-26", "2025-03-26", ""},
		{"some, in any order, twice, with blanks", " 2024-11-05,2025-06-18 , 2024-11-05", "2025-06-18 2024-11-05", ""},
		{"a revision of a selected era", "handshake,2024-11-05", old, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := revision.Select(test.list)
			if err != nil {
				t.Fatal(err)
			}
			if handshake := strings.Join(revision.Names(got.Handshake), " "); handshake != test.handshake {
				t.Errorf("of the handshake era: %s", handshake)
			}
			if stateless := strings.Join(revision.Names(got.Stateless), " "); stateless != test.stateless {
				t.Errorf("of the stateless era: %s", stateless)
			}
			for _, r := range revision.All() {
				if want := slices.Contains(got.Handshake, r) || slices.Contains(got.Stateless, r); (got.Lookup(r.Name) == r) != want {
					t.Errorf("%s is looked up as %v", r.Name, got.Lookup(r.Name))
				}
			}
			if got.IsZero() || got.Lookup("1.0") != nil {
				t.Error("it has what was not selected")
			}
		})
	}
	for _, list := range []string{"1.0", ",", "2025-11-25,", "Handshake", "2025-11-25 2025-06-18"} {
		if got, err := revision.Select(list); err == nil || !got.IsZero() || !strings.Contains(err.Error(), "2026-07-28") {
			t.Errorf("%q selects %v, %v", list, got, err)
		}
	}
}

func TestNegotiationStaysWithinTheSelection(t *testing.T) {
	for _, test := range []struct{ list, asked, want string }{
		{"2025-06-18,2024-11-05,stateless", "2024-11-05", "2024-11-05"},
		{"2025-06-18,2024-11-05,stateless", "2025-03-26", "2025-06-18"},
		{"2025-06-18,2024-11-05,stateless", "2026-07-28", "2025-06-18"},
		{"2024-11-05", "2025-11-25", "2024-11-05"},
		{"stateless", "2025-11-25", ""},
	} {
		ours, err := revision.Select(test.list)
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if r := ours.Negotiate(test.asked); r != nil {
			got = r.Name
		}
		if got != test.want {
			t.Errorf("%s: asked for %s, got %q, want %q", test.list, test.asked, got, test.want)
		}
	}
}
