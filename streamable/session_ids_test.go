//go:build !race

package streamable

import (
	"math"
	"testing"

	"github.com/bossman-mcp/bossman/mcp"
)

// R047: a million ids of sessions have no repeats, and each of their letters is
// as likely as any other at each place: 26 letters of 5 bits are 130 random bits.
func TestHeavyIDsOfSessionsAreRandom(t *testing.T) {
	const count, letters, places = 1_000_000, 32, 26
	e := Handler(mcp.HandlerFunc(nil), nil)
	seen := make(map[[places]byte]struct{}, count)
	var tally [places][256]int
	for range count {
		id := e.newSession(nil).id
		if len(id) != places {
			t.Fatalf("the id %q has %d letters", id, len(id))
		}
		seen[[places]byte([]byte(id))] = struct{}{}
		for i := range places {
			tally[i][id[i]]++
		}
	}
	if len(seen) != count {
		t.Errorf("%d of %d ids repeat", count-len(seen), count)
	}
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567" // visible ASCII
	for place, counts := range tally {
		// Chi-squared with 31 degrees of freedom is over 90 once in ten million times.
		expected, chi, known := float64(count)/letters, 0.0, 0
		for _, letter := range alphabet {
			chi += math.Pow(float64(counts[letter])-expected, 2) / expected
			known += counts[letter]
		}
		if known != count || chi > 90 {
			t.Errorf("place %d: %d of %d letters are of the alphabet, chi-squared %.1f", place, known, count, chi)
		}
	}
}
