package archtest_test

import (
	"fmt"
	"go/ast"
	"path"
	"strings"
	"testing"
)

// The limits of the design. Aim for half of them.
const (
	maxFile   = 500 // lines
	maxTest   = 800 // lines of a test file
	maxFunc   = 80  // lines, signature and braces included
	maxFields = 15
	maxParams = 5
)

// wide are the structs that may have more fields, as package.Name, with the reason.
var wide = map[string]string{
	"mcp.*":     "the specification decides which members a message has",
	"oauth.*":   "the RFCs decide which members a metadata document has",
	"*.Options": "one struct of named choices is easier to read than many options",
}

func TestNothingGrowsTooLarge(t *testing.T) {
	hold(t, []rule{
		{
			name:  fmt.Sprintf("a file has at most %d lines, a test %d", maxFile, maxTest),
			check: checkFileSize,
			examples: []example{{"one line more is refused", `
-- a/at_limit.go --
package a
` + strings.Repeat("\n", maxFile-1) + `-- a/over.go --
package a
` + strings.Repeat("\n", maxFile) + `-- a/at_limit_test.go --
package a
` + strings.Repeat("\n", maxTest-1) + `-- a/over_test.go --
package a
` + strings.Repeat("\n", maxTest), []string{"a/over.go:1", "a/over_test.go:1"}}},
		},
		{
			name:  fmt.Sprintf("a function has at most %d lines", maxFunc),
			check: checkFuncSize,
			examples: []example{
				{"one line more is refused, in a literal too", `
-- a/a.go --
package a

func AtLimit() {` + strings.Repeat("\n", maxFunc-1) + `}

var table = func() {` + strings.Repeat("\n", maxFunc) + `}

func Over() {` + strings.Repeat("\n", maxFunc) + `}
`, []string{"a/a.go:84", "a/a.go:166"}},
				{"the table of a test does not count, its code does", `
-- a/a_test.go --
package a

func TestTable() {
	tests := []int{` + strings.Repeat("\n", 2*maxFunc) + `}
	_ = tests
}

func TestCode() {` + strings.Repeat("\n", maxFunc) + `}
`, []string{"a/a_test.go:168"}},
			},
		},
		{
			name:  fmt.Sprintf("a struct has at most %d fields", maxFields),
			check: checkFields,
			examples: []example{{"one field more is refused, embedded fields count, and wide structs pass", `
-- a/a.go --
package a

type atLimit struct {
	a, b, c, d, e, f, g, h, i, j, k, l, m, n, o int
}

type over struct {
	atLimit
	a, b, c, d, e, f, g, h, i, j, k, l, m, n, o int
}

type Options struct {
	a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p int
}
-- mcp/a.go --
package mcp

type Message struct {
	a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p int
}
`, []string{"a/a.go:7"}}},
		},
		{
			name:  fmt.Sprintf("a function has at most %d parameters", maxParams),
			check: checkParams,
			examples: []example{{"one more is refused, in interfaces and literals too", `
-- a/a.go --
package a

func atLimit(a, b int, c, d, e string) {}

func over(a, b int, c, d, e, f string) {}

type hand interface {
	shake(a, b, c, d, e, f int)
	wave(int, int, int, int, int)
}

var literal = func(int, int, int, int, int, ...int) {}
`, []string{"a/a.go:5", "a/a.go:8", "a/a.go:12"}}},
		},
	})
}

func checkFileSize(m *tree) []finding {
	var found []finding
	for _, file := range m.files {
		limit := maxFile
		if file.test {
			limit = maxTest
		}
		if len(file.lines) > limit {
			found = append(found, finding{
				path: file.path, line: 1, subject: file.path,
				problem: fmt.Sprintf("%d lines, %d at most", len(file.lines), limit),
				advice:  "move one of its subjects to a file of its own",
			})
		}
	}
	return found
}

func checkFuncSize(m *tree) []finding {
	var found []finding
	for _, file := range m.files {
		var name string
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				name = n.Name.Name
			case *ast.FuncLit:
				name = "a function literal"
			default:
				return true
			}
			lines := m.lines(n)
			if file.test {
				lines -= m.table(n)
			}
			if lines > maxFunc {
				f := m.at(n.Pos())
				f.subject = file.dir() + "." + name
				f.problem = fmt.Sprintf("%s has %d lines, %d at most", name, lines, maxFunc)
				f.advice = "give its steps names of their own"
				found = append(found, f)
			}
			return false // what is within is shorter
		})
	}
	return found
}

// lines returns how many lines a piece of source takes.
func (m *tree) lines(n ast.Node) int { return m.line(n.End()) - m.line(n.Pos()) + 1 }

// table returns how many lines of a test function are the largest literal in it,
// its first and last line excepted.
func (m *tree) table(fn ast.Node) int {
	most := 0
	ast.Inspect(fn, func(n ast.Node) bool {
		if lit, ok := n.(*ast.CompositeLit); ok {
			most = max(most, m.lines(lit)-2)
			return false
		}
		return true
	})
	return most
}

func checkFields(m *tree) []finding {
	var found []finding
	for _, file := range m.files {
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			s, ok := spec.Type.(*ast.StructType)
			if !ok {
				return true
			}
			subject := file.syntax.Name.Name + "." + spec.Name.Name
			for pattern := range wide {
				if ok, err := path.Match(pattern, subject); err == nil && ok {
					return true
				}
			}
			if fields := s.Fields.NumFields(); fields > maxFields {
				f := m.at(spec.Pos())
				f.subject = subject
				f.problem = fmt.Sprintf("%s has %d fields, %d at most", spec.Name.Name, fields, maxFields)
				f.advice = "make a type of those that change together"
				found = append(found, f)
			}
			return true
		})
	}
	return found
}

func checkParams(m *tree) []finding {
	var found []finding
	for _, file := range m.files {
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			fn, ok := n.(*ast.FuncType)
			if !ok || fn.Params.NumFields() <= maxParams {
				return true
			}
			f := m.at(fn.Params.Pos())
			f.subject = fmt.Sprintf("%s:%d parameters", file.path, fn.Params.NumFields())
			f.problem = fmt.Sprintf("%d parameters, %d at most", fn.Params.NumFields(), maxParams)
			f.advice = "make a type of those that travel together; what is optional is a field of *Options"
			found = append(found, f)
			return true
		})
	}
	return found
}
