package schema

import (
	"slices"
	"strconv"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// The values that keywords have. False means that a keyword cannot have it.

// typesOf reads the value of the keyword type: a name, or several.
func typesOf(value []byte) (typeSet, bool) {
	if jsonscan.KindOf(value) == jsonscan.String {
		return typeOf(jsonscan.Unquote(value))
	}
	names, ok := stringsOf(value)
	if !ok || len(names) == 0 {
		return 0, false
	}
	var set typeSet
	for _, name := range names {
		t, ok := typeOf(name)
		if !ok {
			return 0, false
		}
		set |= t
	}
	return set, true
}

// stringsOf reads an array of strings without repetition.
func stringsOf(value []byte) ([]string, bool) {
	if jsonscan.KindOf(value) != jsonscan.Array {
		return nil, false
	}
	var list []string
	for item := range jsonscan.Elements(value) {
		if jsonscan.KindOf(item) != jsonscan.String {
			return nil, false
		}
		list = append(list, jsonscan.Unquote(item))
	}
	sorted := slices.Sorted(slices.Values(list))
	return list, len(slices.Compact(sorted)) == len(list)
}

func boundOf(value []byte) (*bound, bool) {
	if jsonscan.KindOf(value) != jsonscan.Number {
		return nil, false
	}
	return newBound(value), true
}

// maxCount is as good as any larger number: nothing has so many parts.
const maxCount = 1 << 53

// countOf reads a number of things: an integer from 0 up, in any notation.
func countOf(value []byte) (int, bool) {
	if jsonscan.KindOf(value) != jsonscan.Number {
		return 0, false
	}
	d := newDecimal(value)
	if d.neg || !d.isInteger() {
		return 0, false
	}
	if d.exp > len(strconv.Itoa(maxCount)) {
		return maxCount, true
	}
	n := 0
	for i := range d.exp {
		n *= 10
		if i < d.count {
			n += d.digit(i)
		}
	}
	return min(n, maxCount), true
}
