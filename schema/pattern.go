package schema

import (
	"fmt"
	"regexp"
	"regexp/syntax"
)

// pattern is a regular expression with a known price.
type pattern struct {
	*regexp.Regexp
	steps int // about what one character of text costs at worst
}

// maxSteps bounds a pattern's steps, and its bytes.
const maxSteps = 5_000

func newPattern(text string) (*pattern, error) {
	if len(text) > maxSteps {
		return nil, fmt.Errorf("%s is too large for a pattern", quoted(text))
	}
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
