package schema

import (
	"errors"
	"fmt"
)

// What a schema's text may hold, and what compiling may cost in units of about a
// byte looked at.
const (
	maxObjects    = 10_000
	maxNodes      = 100_000 // values of all kinds
	compileBudget = 32 << 20
	addressCost   = 16    // of a byte of an address that is resolved
	patternCost   = 4_000 // of a pattern, and
	stepCost      = 200   // of each of its steps
)

// Schemas of a few lines can ask for billions of checks of one small value. So
// the checks are counted before the schema is used.
const (
	maxWeight = 10_000 // checks of one and the same value
	maxChain  = 200    // schemas that follow from one another for one value
)

// survey counts the objects and the values of all kinds in a text that has
// passed jsonscan.Check. Empty containers count twice.
func survey(text []byte) (objects, values int) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '{':
			objects++
			values++
		case '[', ',':
			values++
		}
	}
	return objects, values
}

// weigh counts how many schemas look at one value: a schema weighs one, plus all
// that it applies to the same value.
func (p *planner) weigh() bool {
	for _, n := range p.every {
		if _, err := n.weigh(0); err != nil {
			return p.fail(err)
		}
	}
	return true
}

// beingWeighed is the weight of a node whose parts are still being weighed.
const beingWeighed = -1

func (n *node) weigh(depth int) (int, error) {
	switch {
	case n.weight > 0:
		return n.weight, nil
	case n.weight == beingWeighed:
		return 0, errEndless
	case depth > maxChain:
		return 0, errors.New("a chain of references is too long")
	}
	n.weight = beingWeighed
	total := 1
	for sub := range n.inPlace {
		weight, err := sub.weigh(depth + 1)
		if err != nil {
			return 0, err
		}
		if total += weight; total > maxWeight {
			return 0, fmt.Errorf("keywords such as anyOf multiply into more than %d checks of one value", maxWeight)
		}
	}
	n.weight = total
	return total, nil
}

// inPlace yields the schemas that n applies to the same value. It counts all that
// a dynamic reference may mean, since it does not follow ways.
func (n *node) inPlace(yield func(*node) bool) {
	if n.ref != nil {
		yield(n.ref)
		return
	}
	for _, d := range n.dependents {
		if d.node != nil && !yield(d.node) {
			return
		}
	}
	l := n.logic
	if l == nil {
		return
	}
	var meanings []*node
	if l.dynamic != nil {
		meanings = l.dynamic.all
	}
	for _, list := range [...][]*node{meanings, l.refs, l.all, l.any, l.one, {l.not, l.condition, l.then, l.orElse}} {
		for _, sub := range list {
			if sub != nil && !yield(sub) {
				return
			}
		}
	}
}
