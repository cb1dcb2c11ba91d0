package archtest_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"strings"
	"testing"
)

func TestErasDoNotMeet(t *testing.T) {
	hold(t, []rule{{
		name:  "the modern and the legacy half of streamable do not call each other",
		check: checkEras,
		examples: []example{
			{"functions, methods and method values are refused in both directions", `
-- streamable/modern.go --
package streamable

type modern struct{}

func (m *modern) answer() {}

func post(l *legacy) { l.resume() }
-- streamable/legacy_session.go --
package streamable

type legacy struct{}

func (l *legacy) resume() {
	post(l)
	f := new(modern).answer
	f()
}
`, []string{"streamable/legacy_session.go:6", "streamable/legacy_session.go:7", "streamable/modern.go:7"}},
			{"a detour through a type of another package is seen", `
-- streamable/modern.go --
package streamable

import "sync/atomic"

var current atomic.Pointer[legacy]

func post() { current.Load().resume() }
-- streamable/legacy.go --
package streamable

type legacy struct{}

func (l *legacy) resume() {}
`, []string{"streamable/modern.go:7"}},
			{"what lies elsewhere may be shared, names may be equal, and the fork may call both", `
-- streamable/modern.go --
package streamable

type modern struct{}

func (m *modern) answer() { check(); m.close() }

func (m *modern) close() {}
-- streamable/legacy.go --
package streamable

type legacy struct{}

func (l *legacy) answer() { check(); l.close() }

func (l *legacy) close() {}
-- streamable/handler.go --
package streamable

func check() {}

func fork(m *modern, l *legacy) { m.answer(); l.answer() }
-- streamable/modern_test.go --
package streamable

func both(m *modern, l *legacy) { m.answer(); l.answer() }
`, nil},
		},
	}})
}

// era returns the half of streamable that a file belongs to, if any.
func era(file string) string {
	for _, half := range []string{"modern", "legacy"} {
		if strings.HasPrefix(path.Base(file), half) {
			return half
		}
	}
	return ""
}

func checkEras(m *tree) []finding {
	var files []*goFile
	var syntax []*ast.File
	for _, p := range m.packages {
		if p.dir == "streamable" {
			files = p.source
		}
	}
	for _, file := range files {
		syntax = append(syntax, file.syntax)
	}
	info := &types.Info{Uses: make(map[*ast.Ident]types.Object)}
	config := types.Config{
		Importer: m.importer(files),
		Error:    func(error) {}, // the compiler's to report; what it resolved is judged
	}
	// The error is the first of those that Error saw.
	_, _ = config.Check(modulePath+"/streamable", m.fset, syntax, info)
	var found []finding
	for use, object := range info.Uses {
		callee, ok := object.(*types.Func)
		if !ok || !callee.Pos().IsValid() {
			continue
		}
		here, there := m.at(use.Pos()), m.at(callee.Origin().Pos())
		from, to := era(here.path), era(there.path)
		if path.Dir(there.path) != "streamable" || from == "" || to == "" || from == to {
			continue
		}
		here.subject = callee.Name()
		here.problem = fmt.Sprintf("the %s half uses %s, which %s declares", from, callee.Name(), there.path)
		here.advice = "fork once, in the file that picks a half; move what both need to a file of neither"
		found = append(found, here)
	}
	return found
}

// importer returns an importer of what the files import, from what the go command
// has compiled. What does not compile stays unresolved.
func (m *tree) importer(files []*goFile) types.Importer {
	exports := make(map[string]string)
	args := []string{"list", "-e", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}", "--"}
	for _, file := range files {
		for _, spec := range file.syntax.Imports {
			args = append(args, strings.Trim(spec.Path.Value, "`\""))
		}
	}
	if args[len(args)-1] != "--" {
		list := exec.Command("go", args...)
		list.Dir = m.root // for a module in memory this package's folder
		out, _ := list.Output()
		for line := range strings.Lines(string(out)) {
			name, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
			exports[name] = file
		}
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(name string) (io.ReadCloser, error) {
		if exports[name] == "" {
			return nil, errors.New("no export data for " + name)
		}
		return os.Open(exports[name])
	})
}
