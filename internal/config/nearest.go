package config

import "strings"

// Nearest returns the candidate that name is most likely a slip for, if any is
// close: equal but for case and punctuation, or a few letters away.
func Nearest(name string, candidates []string) (string, bool) {
	const tooLong = 64
	if name == "" || len(name) > tooLong {
		return "", false
	}
	folded := fold(name)
	best, least := "", len(folded)/3+1
	for _, c := range candidates {
		if c == "" || len(c) > tooLong {
			continue
		}
		if d := distance(folded, fold(c)); d < least {
			best, least = c, d
		}
	}
	return best, best != ""
}

// fold reduces a name to what people remember of it.
func fold(name string) []rune {
	return []rune(strings.NewReplacer("_", "", "-", "", " ", "", ".", "").Replace(strings.ToLower(name)))
}

// distance counts the letters that are added, left out or replaced between two
// words.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		corner := row[0]
		row[0] = i + 1
		for j := range b {
			cost := corner
			if a[i] != b[j] {
				cost = 1 + min(corner, row[j], row[j+1])
			}
			corner, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
