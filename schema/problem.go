package schema

import (
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

// maxProblems is how many problems are told; more would not help.
const maxProblems = 20

// report collects problems in the order in which they are found.
type report struct {
	problems []Problem
	path     []string // ready to be joined: a, .b, [2]
	full     bool
}

func (r *report) add(message string) {
	if r.full {
		return
	}
	if len(r.problems) == maxProblems {
		r.problems = append(r.problems, Problem{Message: "there are more problems than these " + strconv.Itoa(maxProblems)})
		r.full = true
		return
	}
	r.problems = append(r.problems, Problem{Path: strings.Join(r.path, ""), Message: message})
}

// give ends the report with a problem of the whole value.
func (r *report) give(message string) {
	if !r.full {
		r.problems = append(r.problems, Problem{Message: message})
		r.full = true
	}
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
	if w.report != nil && !w.report.full {
		w.report.add(message())
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
