package archtest_test

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestHabits(t *testing.T) {
	hold(t, []rule{
		{
			name:  "no comment or document marks unfinished work",
			check: checkUnfinished,
			examples: []example{{"a marker is refused, as a word only and not in a string", `
-- a/a.go --
package a

// TODO(me): later
var x = "TODO"

/* It works.
FIXME: not yet. */
var mastodon, TODOS int
-- a/a_test.go --
package a // XXX
-- README.md --
# Readme

It is a TODO list.
`, []string{"README.md:3", "a/a.go:3", "a/a.go:6", "a/a_test.go:1"}}},
		},
		{
			name:  "a package is named for what it does",
			check: checkPackageNames,
			examples: []example{{"a name that fits everything is refused", `
-- util/a.go --
package util
-- internal/types/a.go --
package types
-- internal/types/a_test.go --
package types_test
-- server/a.go --
package server
`, []string{"internal/types/a.go:1", "util/a.go:1"}}},
		},
		{
			name:  "there are no init functions",
			check: checkInit,
			examples: []example{{"init is refused, a method of that name is not", `
-- a/a.go --
package a

func init() {}

type T struct{}

func (T) init() {}
-- a/a_test.go --
package a

func init() {}
`, []string{"a/a.go:3", "a/a_test.go:3"}}},
		},
		{
			name:  "only programs, the command line and tests read the environment",
			check: checkEnvironment,
			examples: []example{{"reading it elsewhere is refused, under any name", `
-- server/a.go --
package server

import (
	sys "os"
	"syscall"
)

var a = sys.Getenv("A")
var b, _ = sys.LookupEnv("B")
var c = sys.Environ
var d, _ = syscall.Getenv("D")
var e = sys.Args
-- server/a_test.go --
package server_test

import "os"

var a = os.Getenv("A")
-- internal/cli/a.go --
package cli

import "os"

var a = os.Getenv("A")
-- examples/add/main.go --
package main

import "os"

var a = os.Getenv("A")
`, []string{"server/a.go:8", "server/a.go:9", "server/a.go:10", "server/a.go:11"}}},
		},
		{
			name:  "the comment on a go statement says who waits for the goroutine",
			check: checkOwners,
			examples: []example{{"no comment, and one that is further away, are refused", `
-- a/a.go --
package a

func f(g interface{ Go(func()) }) {
	go f(g)

	// f waits for it.

	go f(g)
	g.Go(func() {
		println() // not here
	})
	f(g) // about something else
	go f(g)
}
-- a/a_test.go --
package a

func tests(g interface{ Go(func()) }) {
	g.Go(func() {})
	go tests(g)
}
`, []string{"a/a.go:4", "a/a.go:8", "a/a.go:9", "a/a.go:13"}},
				{"a comment beside it, above it or at its end will do", `
-- a/a.go --
package a

func f(g interface{ Go(func()) }) {
	go f(g) // f waits for it
	// f waits for it.
	go f(g)
	go func() { // f waits for it
	}()
	go func() {
	}() // f waits for it
	// f waits for it.
	g.Go(func() {})
	g.Go(func() {}) // f waits for it
}
`, nil},
			},
		},
	})
}

func checkUnfinished(m *tree) []finding {
	marker := regexp.MustCompile(`\b(TODO|FIXME|XXX)\b`)
	const advice = "finish it, or say in plain words what is so and why"
	var found []finding
	for _, file := range m.files {
		for _, group := range file.syntax.Comments {
			for _, c := range group.List {
				if word := marker.FindString(c.Text); word != "" {
					f := m.at(c.Pos())
					f.subject, f.problem, f.advice = file.path, "a comment says "+word, advice
					found = append(found, f)
				}
			}
		}
	}
	for _, d := range m.markdown {
		for i, line := range d.lines {
			if word := marker.FindString(line); word != "" {
				found = append(found, finding{path: d.path, line: i + 1, subject: d.path, problem: "a document says " + word, advice: advice})
			}
		}
	}
	return found
}

func checkPackageNames(m *tree) []finding {
	empty := []string{"util", "utils", "common", "shared", "types", "helper", "helpers", "misc", "lib"}
	var found []finding
	for _, p := range m.packages {
		if slices.Contains(empty, p.name) {
			f := m.at(append(p.source, p.tests...)[0].syntax.Package)
			f.subject, f.problem = p.dir, "a package named "+p.name
			f.advice = "name it for what it does, in one word, or move its parts to where they are used"
			found = append(found, f)
		}
	}
	return found
}

func checkInit(m *tree) []finding {
	var found []finding
	for _, file := range m.files {
		for _, decl := range file.syntax.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				f := m.at(fn.Pos())
				f.subject, f.problem = file.path, "an init function"
				f.advice = "let a constructor do it, or a test's TestMain"
				found = append(found, f)
			}
		}
	}
	return found
}

func checkEnvironment(m *tree) []finding {
	calls := []string{"Getenv", "LookupEnv", "Environ", "ExpandEnv", "Setenv", "Unsetenv", "Clearenv"}
	var found []finding
	for _, file := range m.files {
		if file.test || file.syntax.Name.Name == "main" || within(file.dir(), "internal/cli/...", "internal/need/...") {
			continue
		}
		for _, target := range []string{"os", "syscall"} {
			for _, use := range file.selectors(target) {
				if !slices.Contains(calls, use.Sel.Name) {
					continue
				}
				f := m.at(use.Pos())
				f.subject, f.problem = file.path, target+"."+use.Sel.Name+" outside the command line"
				f.advice = "take the value as a parameter or a field of Options, and read the environment in internal/cli"
				found = append(found, f)
			}
		}
	}
	return found
}

// checkOwners looks at go statements, and at calls of a method named Go, which
// are those of sync.WaitGroup and its like. Tests are passed over: there a check
// for leaks owns them all.
func checkOwners(m *tree) []finding {
	var found []finding
	for _, file := range m.files {
		if file.test {
			continue
		}
		beside := make(map[int]bool) // lines that a comment starts on
		above := make(map[int]bool)  // lines that end a comment and have nothing before it
		for _, group := range file.syntax.Comments {
			start := m.fset.Position(group.Pos())
			beside[start.Line] = true
			if strings.TrimSpace(file.lines[start.Line-1][:start.Column-1]) == "" {
				above[m.line(group.End())] = true
			}
		}
		note := func(n ast.Node, word token.Pos) {
			start := m.line(word)
			if !above[start-1] && !beside[start] && !beside[m.line(n.End())] {
				f := m.at(word)
				f.subject, f.problem = file.path, "a goroutine whose owner nobody names"
				f.advice = "say in a comment on this line or the one above who waits for it, such as: // Run waits for it"
				found = append(found, f)
			}
		}
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				note(n, n.Go)
			case *ast.CallExpr:
				if method, ok := n.Fun.(*ast.SelectorExpr); ok && method.Sel.Name == "Go" && len(n.Args) == 1 {
					note(n, method.Sel.Pos())
				}
			}
			return true
		})
	}
	return found
}
