package schema

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bossman-mcp/bossman/internal/spelling"
)

// failChoice explains a value that fits none of several forms. When they all
// want other types, or other values of one member, it lists those. Otherwise it
// tells what is wrong with the form that comes closest.
func (w *walk) failChoice(forms []*node, v []byte) bool {
	if w.silent() {
		return false
	}
	var wanted typeSet
	var tries [][]finding
	here := strings.Join(w.report.path, "")
	for _, form := range forms {
		found := w.findings(form, v)
		switch {
		case len(found) == 0:
		case len(found) == 1 && found[0].types != 0 && found[0].Path == here:
			wanted |= found[0].types
		default:
			tries = append(tries, found)
		}
	}
	// The words may be used up, but this one thing is said.
	r := w.report
	switch {
	case len(tries) == 0 && wanted == 0:
		r.add(finding{Problem: Problem{Message: fitsNone}})
	case len(tries) == 0:
		r.add(finding{Problem: Problem{Message: wrongType(v, wanted.names())}, got: v, types: wanted})
	case len(tries) == 1:
		r.repeat(tries[0])
	default:
		if f, ok := discriminated(tries); ok {
			r.repeat([]finding{f})
			break
		}
		closest := slices.MinFunc(tries, func(a, b []finding) int { return cmp.Compare(remoteness(a), remoteness(b)) })
		r.add(finding{Problem: Problem{Message: closestFails(len(forms), closest)}})
	}
	return false
}

// findings returns what is wrong with a value by one form.
func (w *walk) findings(n *node, v []byte) []finding {
	if w.silent() {
		return nil
	}
	outer := w.report
	own := &report{path: slices.Clone(outer.path), most: maxPerForm}
	w.report = own
	w.value(n, v, nil)
	w.report = outer
	return own.found
}

// repeat adds findings whose paths are complete.
func (r *report) repeat(found []finding) {
	path := r.path
	for _, f := range found {
		r.path = []string{f.Path}
		r.add(f)
	}
	r.path = path
}

// discriminated finds a place where each form wants certain values, and none the
// one that is there.
func discriminated(tries [][]finding) (finding, bool) {
	for _, first := range tries[0] {
		var allowed []constant
		forms := 0
		for _, found := range tries {
			i := slices.IndexFunc(found, func(f finding) bool { return f.want != nil && f.Path == first.Path })
			if i < 0 {
				break
			}
			allowed = union(allowed, found[i].want)
			forms++
		}
		if forms == len(tries) {
			first.Message, first.want = notListed(first.got, allowed), allowed
			return first, true
		}
	}
	return finding{}, false
}

// union adds values to a list, none twice, as long as there are few.
func union(list, more []constant) []constant {
	for _, c := range more[:min(len(more), spelling.MaxCandidates)] {
		if len(list) < spelling.MaxCandidates && !slices.ContainsFunc(list, func(other constant) bool { return other.equals(c.raw) }) {
			list = append(list, c)
		}
	}
	return list
}

// remoteness tells how far a value is from a form. Wrong constants count more,
// since they often tell one form from another.
func remoteness(found []finding) int {
	n := len(found)
	for _, f := range found {
		if f.want != nil {
			n += 3
		}
	}
	return n
}

// closestFails tells about the closest of several forms.
func closestFails(forms int, found []finding) string {
	parts := make([]string, 0, 3)
	for _, f := range found[:min(len(found), cap(parts))] {
		parts = append(parts, f.Problem.String())
	}
	return "matches none of " + plural(forms, "allowed form") + "; the closest fails because " + strings.Join(parts, " and ")
}
