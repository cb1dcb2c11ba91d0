package schema

import (
	"bytes"
	"unicode/utf8"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// What a walk may spend, in units of about a nanosecond: so much for any value,
// and so much for each of its bytes. Honest walks stay far below.
const (
	walkBudget     = 64_000_000
	walkByteBudget = 16
	patternPrice   = 10 // of one step of a pattern
	constantPrice  = 30 // of one comparison with a value of an enum
)

// walk checks one value against a plan. Without a report it stops at the first
// problem and allocates nothing; with one it goes on and reports them all.
type walk struct {
	left   int
	report *report
}

func (p *plan) problems(value []byte) []Problem {
	left := walkBudget + walkByteBudget*len(value)
	verdict := walk{left: left}
	if verdict.value(p.root, value) {
		return nil
	}
	explain := walk{left: left, report: new(report)}
	explain.value(p.root, value)
	return explain.report.problems
}

// spend takes a price off what is left. When nothing is left the walk fails.
func (w *walk) spend(price int) bool {
	w.left -= price
	if w.left >= 0 {
		return true
	}
	if w.report != nil {
		w.report.give(tooLarge)
	}
	return false
}

// silent reports whether the walk ends at a problem, rather than telling it.
func (w *walk) silent() bool { return w.report == nil || w.report.full }

func (w *walk) value(n *node, v []byte) bool {
	for n.ref != nil {
		n = n.ref
	}
	kind := jsonscan.KindOf(v)
	switch {
	case n.never:
		return w.fail(func() string { return forbidden(v) })
	case !n.types.accepts(kind, v):
		return w.fail(func() string { return wrongType(v, n.types.names()) })
	case n.constant != nil && !n.constant.equals(v):
		return w.fail(func() string { return wrongConstant(v, n.constant.raw) })
	case n.enum != nil:
		if !w.spend(constantPrice * len(n.enum)) {
			return false
		}
		if !n.listed(v) {
			return w.fail(func() string { return notListed(v, raws(n.enum)) })
		}
	}
	switch kind {
	case jsonscan.Number:
		return w.number(n, v)
	case jsonscan.String:
		return w.string(n, v)
	case jsonscan.Array:
		return w.array(n, v)
	case jsonscan.Object:
		return w.object(n, v)
	}
	return true
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
	}
	return true
}

func (w *walk) string(n *node, v []byte) bool {
	inner := unquoted(v)
	// A character takes 1 to 12 bytes, so most strings need no counting.
	if len(inner) < 12*n.minLength || n.maxLength != nil && len(inner) > *n.maxLength {
		length := codePoints(inner)
		switch {
		case length < n.minLength:
			return w.fail(func() string { return tooShort(v, length, n.minLength) })
		case n.maxLength != nil && length > *n.maxLength:
			return w.fail(func() string { return tooLong(v, length, *n.maxLength) })
		}
	}
	if n.pattern == nil {
		return true
	}
	if !w.spend(patternPrice * n.pattern.steps * len(inner)) {
		return false
	}
	matches := false
	if bytes.IndexByte(inner, '\\') < 0 {
		matches = n.pattern.Match(inner)
	} else {
		matches = n.pattern.MatchString(jsonscan.Unquote(v))
	}
	if !matches {
		return w.fail(func() string { return noMatch(v, n.pattern.String()) })
	}
	return true
}

func (w *walk) array(n *node, v []byte) bool {
	if n.items == nil && n.minItems == 0 && n.maxItems == nil {
		return true
	}
	if !w.spend(len(v)) {
		return false
	}
	ok, size := true, 0
	for item := range jsonscan.Elements(v) {
		if n.items != nil {
			w.enterItem(size)
			ok = w.value(n.items, item) && ok
			w.leave()
			if !ok && w.silent() {
				return false
			}
		}
		size++
	}
	switch {
	case size < n.minItems:
		return w.fail(func() string { return tooFew(size, n.minItems, "item") })
	case n.maxItems != nil && size > *n.maxItems:
		return w.fail(func() string { return tooMany(size, *n.maxItems, "item") })
	}
	return ok
}

func (w *walk) object(n *node, v []byte) bool {
	if !n.looksInside {
		return true
	}
	if !w.spend(len(v)) {
		return false
	}
	ok, count, met := true, 0, 0
	for name, member := range jsonscan.Members(v) {
		count++
		p := n.property(name)
		if p != nil && p.required {
			met++
		}
		switch {
		case p != nil && p.node != nil:
			ok = w.member(p.node, name, member) && ok
		case n.closed:
			ok = w.fail(func() string { return unknown(string(name), n.names()) })
		case n.additional != nil:
			ok = w.member(n.additional, name, member) && ok
		}
		if !ok && w.silent() {
			return false
		}
	}
	if met < n.required {
		if w.silent() {
			return false
		}
		ok = w.missing(n, v)
	}
	switch {
	case count < n.minMembers:
		return w.fail(func() string { return tooFew(count, n.minMembers, "member") })
	case n.maxMembers != nil && count > *n.maxMembers:
		return w.fail(func() string { return tooMany(count, *n.maxMembers, "member") })
	}
	return ok
}

func (w *walk) member(n *node, name, v []byte) bool {
	w.enterMember(name)
	ok := w.value(n, v)
	w.leave()
	return ok
}

func (w *walk) missing(n *node, v []byte) bool {
	present := make(map[string]bool)
	for name := range jsonscan.Members(v) {
		present[string(name)] = true
	}
	for _, p := range n.properties {
		if p.required && !present[p.name] {
			w.fail(func() string { return missing(p.name) })
		}
	}
	return false
}

// names lists the members that an object may have.
func (n *node) names() []string {
	var names []string
	for _, p := range n.properties {
		if p.node != nil {
			names = append(names, p.name)
		}
	}
	return names
}

func raws(values []constant) [][]byte {
	list := make([][]byte, len(values))
	for i, c := range values {
		list[i] = c.raw
	}
	return list
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
