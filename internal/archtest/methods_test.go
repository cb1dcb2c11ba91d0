package archtest_test

import (
	"go/ast"
	"slices"
	"testing"
)

// A linker that cannot tell which methods a program looks for keeps every exported
// method of every type: it makes programs larger by a fifth, those of our users too.
func TestProgramsStaySmall(t *testing.T) {
	hold(t, []rule{
		{
			name:  "methods are not looked for by names in variables",
			check: checkMethodsByName,
			examples: []example{{"a variable is refused, a word and a test are not", `
-- a/a.go --
package a

import "reflect"

func f(t reflect.Type, name string) {
	t.MethodByName(name)
	t.MethodByName("Text")
	reflect.ValueOf(t).MethodByName("Te" + name)
}
-- a/a_test.go --
package a

import "reflect"

func g(t reflect.Type, name string) { t.MethodByName(name) }
`, []string{"a/a.go:6", "a/a.go:8"}}},
		},
		{
			name:  "nothing uses the template packages",
			check: checkTemplates,
			examples: []example{{"either is refused, and so is what has cobra use them", `
-- a/a.go --
package a

import (
	_ "html/template"
	_ "text/template"
	_ "text/template/parse"
)

func f(c interface{ SetHelpTemplate(string) }) { c.SetHelpTemplate("") }
-- a/a_test.go --
package a

import _ "text/template"
`, []string{"a/a.go:4", "a/a.go:5", "a/a.go:9"}}},
		},
	})
}

func checkMethodsByName(m *tree) []finding {
	var found []finding
	for _, file := range m.files {
		if file.test {
			continue
		}
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if _, word := call.Args[0].(*ast.BasicLit); ok && !word && method.Sel.Name == "MethodByName" {
				f := m.at(call.Pos())
				f.subject, f.problem = file.path, "a method is looked for by a name that the linker does not know"
				f.advice = "ask whether the type implements an interface, or write the name there"
				found = append(found, f)
			}
			return true
		})
	}
	return found
}

func checkTemplates(m *tree) []finding {
	var found []finding
	for _, file := range m.files {
		if file.test {
			continue
		}
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			uses := false
			switch n := n.(type) {
			case *ast.ImportSpec:
				uses = n.Path.Value == `"text/template"` || n.Path.Value == `"html/template"`
			case *ast.CallExpr:
				method, ok := n.Fun.(*ast.SelectorExpr)
				uses = ok && slices.Contains([]string{"SetVersionTemplate", "SetHelpTemplate", "SetUsageTemplate"}, method.Sel.Name)
			}
			if uses {
				f := m.at(n.Pos())
				f.subject, f.problem = file.path, "templates call methods by names that the linker does not know"
				f.advice = "put the text together in Go"
				found = append(found, f)
			}
			return true
		})
	}
	return found
}
