package schema

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

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

// countOf reads a number of things: an integer from 0 to maxCount, in any
// notation.
func countOf(value []byte) (int, bool) {
	if jsonscan.KindOf(value) != jsonscan.Number {
		return 0, false
	}
	d := newDecimal(value)
	if d.neg || !d.isInteger() || d.exp > len(strconv.Itoa(maxCount)) {
		return 0, false
	}
	n := 0
	for i := 0; i < d.exp; i++ {
		n *= 10
		if i < d.count {
			n += d.digit(i)
		}
	}
	return n, n <= maxCount
}

// pattern is a regular expression with a known price.
type pattern struct {
	*regexp.Regexp
	steps int // about what one character of text costs at worst
}

// maxSteps bounds a pattern's steps.
const maxSteps = 5_000

func newPattern(text string) (*pattern, error) {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("%s is not a supported pattern: %s (patterns have RE2 syntax)", quoted(text), reason(err))
	}
	steps := stepsOf(tree)
	if steps > maxSteps {
		return nil, fmt.Errorf("%s is too large for a pattern", quoted(text))
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("%s is not a supported pattern: %s (patterns have RE2 syntax)", quoted(text), reason(err))
	}
	return &pattern{Regexp: re, steps: steps}, nil
}

// stepsOf estimates the instructions of a pattern before they exist, since a
// short text can stand for many.
func stepsOf(tree *syntax.Regexp) int {
	steps := 1
	switch tree.Op {
	case syntax.OpLiteral:
		steps = len(tree.Rune)
	case syntax.OpCharClass:
		steps = 1 + len(tree.Rune)/16
	}
	for _, sub := range tree.Sub {
		if steps += stepsOf(sub); steps > maxSteps {
			break
		}
	}
	if tree.Op == syntax.OpRepeat {
		steps *= max(tree.Min, tree.Max, 1)
	}
	return min(steps, maxSteps+1)
}

// reason says what is wrong with a pattern, without the pattern.
func reason(err error) string {
	if e, ok := err.(*syntax.Error); ok {
		return e.Code.String() + " at " + quoted(e.Expr)
	}
	return err.Error()
}

func patternOf(value []byte) (*pattern, bool) {
	if jsonscan.KindOf(value) != jsonscan.String {
		return nil, false
	}
	p, err := newPattern(jsonscan.Unquote(value))
	return p, err == nil
}
