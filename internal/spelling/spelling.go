// Package spelling guesses what a misspelt name was meant to be.
package spelling

import (
	"slices"
	"strings"
)

// MaxCandidates is how many candidates are looked at.
const MaxCandidates = 100

const maxNameLength = 48 // bytes of names that are compared

// Nearest returns the candidate that name is most likely a slip for, if any is
// close: equal but for case and punctuation, a few typing errors away, or the
// same word cut short.
func Nearest(name string, candidates []string) (string, bool) {
	if name == "" || len(name) > maxNameLength {
		return "", false
	}
	folded := fold(name)
	best, least := "", len(folded)/3+1
	for _, c := range candidates[:min(len(candidates), MaxCandidates)] {
		if c == "" || len(c) > maxNameLength {
			continue
		}
		if d := distance(folded, fold(c), least); d < least {
			best, least = c, d
		}
	}
	return best, best != ""
}

// fold reduces a name to its letters and digits in lower case.
func fold(name string) []rune {
	return []rune(strings.Map(func(c rune) rune {
		switch c {
		case '_', '-', ' ', '.':
			return -1
		}
		return c
	}, strings.ToLower(name)))
}

// distance counts the typing errors between two words: letters that are added,
// left out, replaced, or swapped with their neighbour. A word cut short counts
// as one error. Beyond the limit it does not count on. The words must be shorter
// than a row.
func distance(a, b []rune, limit int) int {
	short := min(len(a), len(b))
	if short >= 3 && len(a) != len(b) && slices.Equal(a[:short], b[:short]) {
		return 1
	}
	var rows [3][maxNameLength + 1]int
	before, above, row := &rows[0], &rows[1], &rows[2]
	for j := range above {
		above[j] = j
	}
	for i := range a {
		row[0] = i + 1
		least := row[0]
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			d := min(above[j+1]+1, row[j]+1, above[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, before[j-1]+1)
			}
			row[j+1] = d
			least = min(least, d)
		}
		if least > limit {
			return least
		}
		before, above, row = above, row, before
	}
	return above[len(b)]
}
