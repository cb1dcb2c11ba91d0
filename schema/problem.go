package schema

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Invalid says why a value does not fit its schema. It has at least one problem.
type Invalid struct {
	Problems []Problem
}

// Problem is one thing that is wrong with a value.
type Problem struct {
	// Path leads to the offending part of the value, such as filter.state or
	// tags[2]. It is empty for the value as a whole. Members that are unknown
	// or missing are problems of the object.
	Path string

	// Message says what came and what is allowed, without the path.
	Message string
}

// String returns path and message.
func (p Problem) String() string {
	if p.Path == "" {
		return p.Message
	}
	return p.Path + ": " + p.Message
}

// Error joins the problems, one sentence each.
func (e *Invalid) Error() string {
	sentences := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		sentences[i] = p.String()
	}
	return strings.Join(sentences, ". ")
}

const (
	maxProblems = 20  // that are told; more would not help
	maxPerForm  = 5   // that are looked at of one of several forms
	maxWords    = 100 // messages that are written to choose from
)

// finding is a problem with what helps to compare it with others.
type finding struct {
	Problem
	got   []byte
	want  []constant // the values that would do, if that is what is wrong
	types typeSet    // the types that would do, if that is what is wrong
}

// report collects findings in the order in which they are made.
type report struct {
	found []finding
	path  []string // ready to be joined: a, .b, [2]
	most  int      // findings
	full  bool
}

func (r *report) add(f finding) {
	if f.Path = strings.Join(r.path, ""); r.full || slices.ContainsFunc(r.found, func(g finding) bool { return g.Problem == f.Problem }) {
		return
	}
	if len(r.found) == r.most {
		f = finding{Problem: Problem{Message: "there are more problems than these " + strconv.Itoa(r.most)}}
		r.full = true
	}
	r.found = append(r.found, f)
}

// problems returns what has been found, and something in any case.
func (r *report) problems() []Problem {
	if len(r.found) == 0 {
		return []Problem{{Message: mismatch}}
	}
	list := make([]Problem, len(r.found))
	for i, f := range r.found {
		list[i] = f.Problem
	}
	return list
}

// memberStep writes a member's name as a step of a path.
func memberStep(name string, first bool) string {
	plain := name != "" && len(name) <= 100
	for i, c := range name {
		if c != '_' && c != '-' && c != '$' && !unicode.IsLetter(c) && (i == 0 || !unicode.IsDigit(c)) {
			plain = false
		}
	}
	switch {
	case !plain:
		return "[" + quoted(name) + "]"
	case first:
		return name
	}
	return "." + name
}

func itemStep(index int) string { return "[" + strconv.Itoa(index) + "]" }

// fail reports a problem here, if the walk reports, and returns false.
func (w *walk) fail(message func() string) bool {
	if !w.silent() {
		w.add(finding{Problem: Problem{Message: message()}})
	}
	return false
}

func (w *walk) add(f finding) {
	w.words--
	w.report.add(f)
}

func (w *walk) failType(v []byte, want typeSet) bool {
	if !w.silent() {
		w.add(finding{Problem: Problem{Message: wrongType(v, want.names())}, got: v, types: want})
	}
	return false
}

func (w *walk) failConstant(v []byte, want *constant) bool {
	if !w.silent() {
		w.add(finding{Problem: Problem{Message: wrongConstant(v, *want)}, got: v, want: []constant{*want}})
	}
	return false
}

func (w *walk) failEnum(v []byte, enum []constant) bool {
	if !w.silent() {
		w.add(finding{Problem: Problem{Message: notListed(v, enum)}, got: v, want: enum})
	}
	return false
}

func (w *walk) enterMember(name []byte) {
	if w.report != nil {
		w.report.path = append(w.report.path, memberStep(string(name), len(w.report.path) == 0))
	}
}

func (w *walk) enterItem(index int) {
	if w.report != nil {
		w.report.path = append(w.report.path, itemStep(index))
	}
}

func (w *walk) leave() {
	if w.report != nil {
		w.report.path = w.report.path[:len(w.report.path)-1]
	}
}
