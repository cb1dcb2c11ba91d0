package schema

import (
	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// combined checks a value by a schema that applies others to it.
func (w *walk) combined(n *node, kind jsonscan.Kind, v []byte, outer *seen) bool {
	l, marks := n.logic, outer
	if l.otherItems != nil || l.otherMembers != nil {
		marks = new(seen)
	}
	ok := w.contents(n, kind, v, marks)
	if !ok && w.silent() {
		return false
	}
	ok = w.all(l, v, marks) && ok
	if !ok && w.silent() {
		return false
	}
	ok = w.choices(l, v, marks) && ok
	if !ok || marks == outer {
		return ok
	}
	// What is left over is only known when all else is well.
	switch {
	case kind == jsonscan.Object && l.otherMembers != nil:
		ok = w.otherMembers(l.otherMembers, v, marks)
	case kind == jsonscan.Array && l.otherItems != nil:
		ok = w.otherItems(l.otherItems, v, marks)
	}
	if ok {
		outer.merge(marks)
	}
	return ok
}

// all checks a value by schemas that it must fit, one and all.
func (w *walk) all(l *logic, v []byte, seen *seen) bool {
	ok := true
	for _, list := range [...][]*node{l.refs, l.all} {
		for _, sub := range list {
			ok = w.value(sub, v, seen) && ok
			if !ok && w.silent() {
				return false
			}
		}
	}
	if l.dynamic != nil {
		ok = w.value(w.target(l.dynamic), v, seen) && ok
	}
	if l.condition == nil || !ok && w.silent() {
		return ok
	}
	branch := l.orElse
	if w.fits(l.condition, v, seen) {
		branch = l.then
	}
	if branch != nil {
		ok = w.value(branch, v, seen) && ok
	}
	return ok
}

// target returns what a dynamic reference means here: the outermost anchor of
// its name.
func (w *walk) target(ref *dynamicRef) *node {
	for _, r := range w.scope {
		if n := r.dynamic[ref.name]; n != nil {
			return n
		}
	}
	return ref.to
}

// choices checks a value by schemas of which it need not fit all.
func (w *walk) choices(l *logic, v []byte, seen *seen) bool {
	ok := true
	if l.any != nil {
		enough := 1
		if seen != nil {
			enough = len(l.any) // each may have something to mark
		}
		if w.fitting(l.any, v, seen, enough) == 0 {
			ok = w.failChoice(l.any, v)
		}
	}
	if l.one != nil && (ok || !w.silent()) {
		switch w.fitting(l.one, v, seen, 2) {
		case 0:
			ok = w.failChoice(l.one, v)
		case 1:
		default:
			ok = w.fail(func() string { return fitsTwice })
		}
	}
	if l.not != nil && (ok || !w.silent()) && w.fits(l.not, v, nil) {
		ok = w.fail(func() string { return excluded(v, l.not) })
	}
	return ok && w.left >= 0
}

// fitting counts the forms that a value fits, until there are enough.
func (w *walk) fitting(forms []*node, v []byte, seen *seen, enough int) int {
	n := 0
	for _, form := range forms {
		if w.fits(form, v, seen) {
			if n++; n == enough {
				break
			}
		}
	}
	return n
}

// fits reports whether a value fits a schema, without a word. What the schema
// has seen counts only if it does.
func (w *walk) fits(n *node, v []byte, outer *seen) bool {
	report := w.report
	w.report = nil
	var marks *seen
	if outer != nil {
		marks = new(seen)
	}
	ok := w.value(n, v, marks)
	if ok {
		outer.merge(marks)
	}
	w.report = report
	return ok
}

func (w *walk) otherMembers(n *node, v []byte, marks *seen) bool {
	if !w.spend(insidePrice + len(v)) {
		return false
	}
	ok, i := true, 0
	for name, member := range jsonscan.Members(v) {
		if !marks.has(i) {
			if n == never {
				ok = w.fail(func() string { return unknown(string(name), nil) })
			} else {
				ok = w.member(n, name, member) && ok
			}
		}
		if !ok && w.silent() {
			return false
		}
		i++
	}
	marks.all = true
	return ok
}

func (w *walk) otherItems(n *node, v []byte, marks *seen) bool {
	if !w.spend(insidePrice + len(v)) {
		return false
	}
	ok, i := true, 0
	for item := range jsonscan.Elements(v) {
		if !marks.has(i) {
			w.enterItem(i)
			ok = w.value(n, item, nil) && ok
			w.leave()
		}
		if !ok && w.silent() {
			return false
		}
		i++
	}
	marks.all = true
	return ok
}

// seen is a set of members or items, by their place. The nil set takes nothing.
type seen struct {
	all  bool
	bits []uint64
}

func (s *seen) add(i int) {
	if s == nil {
		return
	}
	for len(s.bits) <= i/64 {
		s.bits = append(s.bits, 0)
	}
	s.bits[i/64] |= 1 << (i % 64)
}

func (s *seen) has(i int) bool {
	return s.all || i/64 < len(s.bits) && s.bits[i/64]&(1<<(i%64)) != 0
}

func (s *seen) merge(other *seen) {
	if s == nil || other == nil {
		return
	}
	s.all = s.all || other.all
	for i, word := range other.bits {
		if i == len(s.bits) {
			s.bits = append(s.bits, 0)
		}
		s.bits[i] |= word
	}
}
