package schema

import (
	"bytes"
	"unicode/utf8"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// What a walk may spend, in units of about a nanosecond: so much for any value,
// and so much for each of its bytes. Honest walks stay far below.
const (
	walkBudget     = 40_000_000
	walkByteBudget = 40
	checkPrice     = 60  // of one check of one value
	insidePrice    = 60  // of looking inside it, beside a unit for each byte,
	memberPrice    = 40  // and for each member
	itemPrice      = 15  // or item
	numberPrice    = 10  // of each byte of a number, beside that
	patternPrice   = 10  // of one step of a pattern
	constantPrice  = 30  // of one comparison with a value of an enum
	uniquePrice    = 400 // of one item that must differ from others
	maxWalkDepth   = 10_000
)

// walk checks one value against a plan. Without a report it stops at the first
// problem, and allocates nothing for most schemas; with one it goes on and
// reports them all.
type walk struct {
	left    int
	depth   int
	report  *report
	words   int         // messages that may still be written
	dynamic bool        // whether scope is needed
	scope   []*resource // on the way here, outermost first
}

func (p *plan) problems(value []byte) []Problem {
	left := walkBudget + walkByteBudget*len(value)
	verdict := walk{left: left, dynamic: p.dynamic}
	ok := verdict.value(p.root, value, nil)
	switch {
	case verdict.left < 0:
		return []Problem{{Message: tooLarge}}
	case ok:
		return nil
	}
	explain := walk{left: left, dynamic: p.dynamic, report: &report{most: maxProblems}, words: maxWords}
	explain.value(p.root, value, nil)
	return explain.report.problems()
}

// spend takes a price off what is left. When nothing is left every check fails,
// and the value counts as invalid whatever the checks mean to others.
func (w *walk) spend(price int) bool {
	w.left -= price
	return w.left >= 0
}

// silent reports whether the walk ends at a problem, rather than telling it.
func (w *walk) silent() bool {
	return w.report == nil || w.report.full || w.words <= 0 || w.left < 0
}

// value checks v, and records in seen, unless it is nil, which members or items
// have been checked on the way.
func (w *walk) value(n *node, v []byte, seen *seen) bool {
	if w.depth++; w.depth > maxWalkDepth {
		w.left = -1
	}
	ok := false
	if w.dynamic {
		ok = w.scoped(n, v, seen)
	} else {
		if n.ref != nil {
			n = n.ref
		}
		ok = w.check(n, v, seen)
	}
	w.depth--
	return ok
}

// scoped is value where references depend on the way to them.
func (w *walk) scoped(n *node, v []byte, seen *seen) bool {
	if in := n.at.in; in != nil && (len(w.scope) == 0 || w.scope[len(w.scope)-1] != in) {
		outer := len(w.scope)
		w.scope = append(w.scope, in)
		defer func() { w.scope = w.scope[:outer] }()
	}
	if n.ref != nil {
		return w.spend(checkPrice) && w.value(n.ref, v, seen)
	}
	return w.check(n, v, seen)
}

// check is value without the way there.
func (w *walk) check(n *node, v []byte, seen *seen) bool {
	if !w.spend(checkPrice) {
		return false
	}
	kind := jsonscan.KindOf(v)
	if kind == jsonscan.Number && !w.spend(numberPrice*len(v)) {
		return false
	}
	switch {
	case n.never:
		return w.fail(func() string { return forbidden(v) })
	case !n.types.accepts(kind, v):
		return w.failType(v, n.types)
	case n.constant != nil && !w.equals(n.constant, kind, v):
		return w.failConstant(v, n.constant)
	case n.enum != nil && !w.listed(n, kind, v):
		return w.failEnum(v, n.enum)
	case n.logic != nil:
		return w.combined(n, kind, v, seen)
	}
	return w.contents(n, kind, v, seen)
}

// contents checks what depends on the kind of value.
func (w *walk) contents(n *node, kind jsonscan.Kind, v []byte, seen *seen) bool {
	switch kind {
	case jsonscan.Number:
		return w.number(n, v)
	case jsonscan.String:
		return w.string(n, v)
	case jsonscan.Array:
		return w.array(n, v, seen)
	case jsonscan.Object:
		return w.object(n, v, seen)
	}
	return true
}

func (w *walk) equals(c *constant, kind jsonscan.Kind, v []byte) bool {
	if kind == c.kind && c.inner != nil && !w.spend(len(v)) {
		return false
	}
	return c.equals(v)
}

func (w *walk) listed(n *node, kind jsonscan.Kind, v []byte) bool {
	price := constantPrice * len(n.enum)
	switch kind {
	case jsonscan.Number, jsonscan.Array, jsonscan.Object:
		price += len(v) * len(n.enum)
	case jsonscan.String:
		price += len(v) / 4
	}
	return w.spend(price) && n.listed(v)
}

func (w *walk) number(n *node, v []byte) bool {
	switch {
	case n.minimum != nil && n.minimum.compare(v) < 0:
		return w.fail(func() string { return outside(v, "at least", n.minimum.String()) })
	case n.above != nil && n.above.compare(v) <= 0:
		return w.fail(func() string { return outside(v, "more than", n.above.String()) })
	case n.maximum != nil && n.maximum.compare(v) > 0:
		return w.fail(func() string { return outside(v, "at most", n.maximum.String()) })
	case n.below != nil && n.below.compare(v) >= 0:
		return w.fail(func() string { return outside(v, "less than", n.below.String()) })
	case n.multipleOf != nil && !n.multipleOf.divides(v):
		return w.fail(func() string { return noMultiple(v, n.multipleOf.String()) })
	}
	return true
}

func (w *walk) string(n *node, v []byte) bool {
	inner := unquoted(v)
	// A character takes 1 to 12 bytes, so most strings need no counting.
	if len(inner) < 12*n.minLength || n.maxLength != nil && len(inner) > *n.maxLength {
		if !w.spend(len(inner)) {
			return false
		}
		length := codePoints(inner)
		switch {
		case length < n.minLength:
			return w.fail(func() string { return tooShort(v, length, n.minLength) })
		case n.maxLength != nil && length > *n.maxLength:
			return w.fail(func() string { return tooLong(v, length, *n.maxLength) })
		}
	}
	if n.pattern != nil && !w.matches(n.pattern, v) {
		return w.fail(func() string { return noMatch(v, n.pattern.String()) })
	}
	return true
}

// matches reports whether a raw string matches a pattern.
func (w *walk) matches(p *pattern, v []byte) bool {
	inner := unquoted(v)
	if !w.spend(patternPrice * p.steps * len(inner)) {
		return false
	}
	if bytes.IndexByte(inner, '\\') < 0 {
		return p.Match(inner)
	}
	return p.MatchString(jsonscan.Unquote(v))
}

// codePoints counts the characters between the quotes of a raw JSON string.
func codePoints(inner []byte) int {
	n := 0
	for {
		i := bytes.IndexByte(inner, '\\')
		if i < 0 || i+1 >= len(inner) {
			return n + utf8.RuneCount(inner)
		}
		n += utf8.RuneCount(inner[:i]) + 1
		switch {
		case inner[i+1] != 'u':
			inner = inner[i+2:]
		case i+2 < len(inner) && inner[i+2]|0x20 == 'd' && i+3 < len(inner) && inner[i+3] >= '8':
			inner = inner[min(i+12, len(inner)):] // a surrogate pair
		default:
			inner = inner[min(i+6, len(inner)):]
		}
	}
}
