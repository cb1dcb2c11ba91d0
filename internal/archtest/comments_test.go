package archtest_test

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

func TestNamesAreDocumented(t *testing.T) {
	hold(t, []rule{
		{
			name:  "every exported name has a comment that starts with the name",
			check: checkComments,
			examples: []example{
				{"functions, types and methods need their own comment", `
-- server/a.go --
package server

func New() {}

type Server struct{}

func (s *Server) Use() {}

// makes a server.
func Make() {}

//go:noinline
func Fast() {}

// Tool is a tool.
type Tool[T any] struct{}

func (t *Tool[T]) Call() {}
`, []string{"server/a.go:3", "server/a.go:5", "server/a.go:7", "server/a.go:10", "server/a.go:13", "server/a.go:18"}},
				{"constants and variables need one, or their group does", `
-- internal/queue/a.go --
package queue

const A = 1

// that is b.
var B = 2

const (
	C = 3
	D = 4 // the fourth
	// after D
	E = 5
)
`, []string{"internal/queue/a.go:3", "internal/queue/a.go:6", "internal/queue/a.go:9"}},
				{"what is documented, hidden or a test passes", `
-- server/a.go --
package server

// New makes one.
func New() {}

// A Server answers.
type Server struct{}

// Errors of servers.
var (
	ErrA = 1
	ErrB = 2
)

// Use wraps.
func (s *Server) Use() {}

type hidden struct{}

func (h hidden) Close() {}

func helper() {}

// Deprecated: use New.
func Old() {}

func (s *Server) String() string { return "" }
-- server/a_test.go --
package server_test

func Helper() {}
`, nil},
			},
		},
		{
			name:  "every package has one package comment",
			check: checkPackageComments,
			examples: []example{
				{"a missing, a misnamed and a second one are refused", `
-- server/a.go --
package server
-- stdio/a.go --
// Serves on standard input.
package stdio
-- mcp/a.go --
// Package mcp is one.
package mcp
-- mcp/b.go --
// Package mcp is another.
package mcp
-- cmd/bossman/main.go --
// This runs it.
package main
`, []string{"cmd/bossman/main.go:2", "mcp/b.go:2", "server/a.go:1", "stdio/a.go:2"}},
				{"one that names its package or command passes", `
-- server/a.go --
package server
-- server/doc.go --
// Package server answers.
package server
-- cmd/bossman/main.go --
// Command bossman runs a team.
package main
-- cmd/moonphase/main.go --
// Moonphase prints the moon.
package main
-- internal/only/a_test.go --
package only_test
`, nil},
			},
		},
	})
}

func checkComments(m *tree) []finding {
	var found []finding
	note := func(p *pkg, name *ast.Ident, problem, advice string) {
		f := m.at(name.Pos())
		f.subject, f.problem, f.advice = p.dir+"."+name.Name, problem, advice
		found = append(found, f)
	}
	for _, p := range m.packages {
		for _, file := range p.source {
			for _, decl := range file.syntax.Decls {
				for _, n := range namesOf(decl) {
					switch {
					case !n.documented():
						note(p, n.name, "exported "+n.name.Name+" has no comment", "say what the caller cannot see: units, ownership, when it blocks, what fails")
					case n.own && !n.startsWell():
						note(p, n.name, "the comment of "+n.name.Name+" does not start with the name", `start it with "`+n.name.Name+` ", as go doc shows it`)
					}
				}
			}
		}
	}
	return found
}

// An exportedName is one that needs a comment.
type exportedName struct {
	name     *ast.Ident
	comments []*ast.CommentGroup // any of them will do
	own      bool                // the first is about this name alone
}

func (n exportedName) documented() bool {
	return slices.ContainsFunc(n.comments, func(c *ast.CommentGroup) bool { return strings.TrimSpace(c.Text()) != "" })
}

// startsWell says whether the name's own comment begins as go doc wants it. A
// name that has a group's comment only needs no more.
func (n exportedName) startsWell() bool {
	words := strings.Fields(n.comments[0].Text())
	if len(words) > 1 && slices.Contains([]string{"A", "An", "The"}, words[0]) {
		words = words[1:]
	}
	if len(words) == 0 || words[0] == "Deprecated:" {
		return true
	}
	first := strings.TrimSuffix(strings.TrimRight(words[0], ",:;."), "'s")
	return first == n.name.Name
}

// plainMethods are methods of error and fmt.Stringer: a comment could only repeat
// what these say.
var plainMethods = []string{"Error", "Unwrap", "String"}

// namesOf returns the exported names that a declaration declares, methods of
// hidden types and plain methods excepted.
func namesOf(decl ast.Decl) []exportedName {
	var names []exportedName
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d)) && !slices.Contains(plainMethods, d.Name.Name)) {
			names = append(names, exportedName{d.Name, []*ast.CommentGroup{d.Doc}, true})
		}
	case *ast.GenDecl:
		alone := !d.Lparen.IsValid()
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				own := s.Doc
				if alone {
					own = d.Doc
				}
				if s.Name.IsExported() {
					names = append(names, exportedName{s.Name, []*ast.CommentGroup{own, d.Doc}, true})
				}
			case *ast.ValueSpec:
				comments := []*ast.CommentGroup{s.Doc, d.Doc, s.Comment}
				if alone {
					comments = []*ast.CommentGroup{d.Doc}
				}
				for _, name := range s.Names {
					if name.IsExported() {
						names = append(names, exportedName{name, comments, alone && len(s.Names) == 1})
					}
				}
			}
		}
	}
	return names
}

// receiver returns the name of a method's type.
func receiver(d *ast.FuncDecl) string {
	x := d.Recv.List[0].Type
	for {
		switch t := x.(type) {
		case *ast.StarExpr:
			x = t.X
		case *ast.ParenExpr:
			x = t.X
		case *ast.IndexExpr:
			x = t.X
		case *ast.IndexListExpr:
			x = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}

func checkPackageComments(m *tree) []finding {
	var found []finding
	note := func(p *pkg, pos token.Pos, problem, advice string) {
		f := m.at(pos)
		f.subject, f.problem, f.advice = p.dir, problem, advice
		found = append(found, f)
	}
	for _, p := range m.packages {
		if len(p.source) == 0 {
			continue
		}
		var commented *goFile
		for _, file := range p.source {
			text := file.syntax.Doc.Text()
			switch {
			case strings.TrimSpace(text) == "":
				continue
			case commented != nil:
				note(p, file.syntax.Package, "a second package comment, after that of "+commented.path, "keep one, or put an empty line between the comment and the package clause")
			case !startsPackage(p, text):
				note(p, file.syntax.Package, "the package comment does not start with the package's name", `start it with "Package `+p.name+` " or, for a program, "Command `+path.Base(p.dir)+` "`)
			}
			commented = file
		}
		if commented == nil {
			note(p, p.source[0].syntax.Package, "package "+p.dir+" has no package comment", "say in a sentence what it does, in doc.go or the file it is named after")
		}
	}
	return found
}

func startsPackage(p *pkg, text string) bool {
	if p.name != "main" {
		return strings.HasPrefix(text, "Package "+p.name+" ")
	}
	name := path.Base(p.dir)
	return strings.HasPrefix(text, "Command "+name+" ") || strings.HasPrefix(text, strings.ToUpper(name[:1])+name[1:]+" ")
}
