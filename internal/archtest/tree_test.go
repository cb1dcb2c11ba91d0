package archtest_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/bossman-mcp/bossman/internal/need"
)

// modulePath is the module that is judged.
const modulePath = "github.com/bossman-mcp/bossman"

// A tree is a module's source. Nothing changes it after readTree.
type tree struct {
	fsys     fs.FS
	root     string // the folder on disk; empty for a module in memory
	fset     *token.FileSet
	files    []*goFile
	packages []*pkg // sorted by folder
	markdown []*document
	unparsed []finding
}

// A goFile is one file of Go source, whatever system it is for.
type goFile struct {
	path   string // from the root, with slashes
	test   bool   // its name ends in _test.go
	lines  []string
	syntax *ast.File
}

// A pkg is one folder of Go source.
type pkg struct {
	dir    string // from the root; "." for the root itself
	name   string
	source []*goFile // without tests
	tests  []*goFile
}

// module is the repository, read once for all tests.
var module struct {
	once sync.Once
	tree *tree
	err  error
}

// repository returns the source of the module that this test is part of.
func repository(t *testing.T) *tree {
	t.Helper()
	root := need.Root(t)
	module.once.Do(func() {
		if module.tree, module.err = readTree(os.DirFS(root)); module.err == nil {
			module.tree.root = root
		}
	})
	if module.err != nil {
		t.Fatalf("read the repository: %v", module.err)
	}
	return module.tree
}

func TestEveryGoFileParses(t *testing.T) {
	m := repository(t)
	for _, f := range m.unparsed {
		t.Error(f)
	}
	if len(m.packages) < 10 || len(m.markdown) == 0 {
		t.Errorf("the walk found %d packages and %d documents: it does not see the repository", len(m.packages), len(m.markdown))
	}
}

// readTree reads the Go files and documents of a module. It passes over modules
// within, testdata and folders that the go command would pass over, except that
// documents may lie in .github.
func readTree(fsys fs.FS) (*tree, error) {
	m := &tree{fsys: fsys, fset: token.NewFileSet()}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // removed since its folder was listed
			}
			return err
		}
		if d.IsDir() {
			if m.passesOver(name) {
				return fs.SkipDir
			}
			return nil
		}
		return m.add(name)
	})
	if err != nil {
		return nil, err
	}
	m.group()
	return m, nil
}

func (m *tree) passesOver(dir string) bool {
	base := path.Base(dir)
	switch {
	case dir == "." || dir == ".github":
		return false
	case strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_"):
		return true
	case base == "testdata" || base == "vendor" || base == "node_modules" || dir == "bin" || dir == "dist":
		return true
	}
	_, err := fs.Stat(m.fsys, path.Join(dir, "go.mod"))
	return err == nil
}

func (m *tree) add(name string) error {
	ext := path.Ext(name)
	if ext != ".go" && ext != ".md" {
		return nil
	}
	text, err := fs.ReadFile(m.fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if ext == ".md" {
		m.markdown = append(m.markdown, readDocument(name, string(text)))
		return nil
	}
	syntax, err := parser.ParseFile(m.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		f := finding{path: name, subject: name, problem: err.Error(), advice: "finish the file; no other rule has seen it"}
		var list scanner.ErrorList
		if errors.As(err, &list) {
			f.line, f.problem = list[0].Pos.Line, list[0].Msg
		}
		m.unparsed = append(m.unparsed, f)
		return nil
	}
	m.files = append(m.files, &goFile{
		path: name, test: strings.HasSuffix(name, "_test.go"), lines: strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), syntax: syntax,
	})
	return nil
}

// group makes packages of the files.
func (m *tree) group() {
	byDir := make(map[string]*pkg)
	for _, f := range m.files {
		p := byDir[f.dir()]
		if p == nil {
			p = &pkg{dir: f.dir()}
			byDir[p.dir] = p
			m.packages = append(m.packages, p)
		}
		if f.test {
			p.tests = append(p.tests, f)
		} else {
			p.source = append(p.source, f)
		}
		if name := f.syntax.Name.Name; !f.test || p.name == "" {
			p.name = strings.TrimSuffix(name, "_test")
		}
	}
	slices.SortFunc(m.packages, func(a, b *pkg) int { return strings.Compare(a.dir, b.dir) })
}

// at returns a finding at a place in the source; the caller completes it.
func (m *tree) at(pos token.Pos) finding {
	place := m.fset.Position(pos)
	return finding{path: place.Filename, line: place.Line}
}

func (m *tree) line(pos token.Pos) int { return m.fset.Position(pos).Line }

func (f *goFile) dir() string { return path.Dir(f.path) }

// imports yields each import of the file: inside the module its folder, outside
// its path.
func (f *goFile) imports(yield func(spec *ast.ImportSpec, target string, inside bool) bool) {
	for _, spec := range f.syntax.Imports {
		target, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		inside := true
		if target == modulePath {
			target = "."
		} else if rest, ok := strings.CutPrefix(target, modulePath+"/"); ok {
			target = rest
		} else {
			inside = false
		}
		if !yield(spec, target, inside) {
			return
		}
	}
}

// selectors returns every use of a name of an imported package, given as imports
// yields it.
func (f *goFile) selectors(target string) []*ast.SelectorExpr {
	local := ""
	f.imports(func(spec *ast.ImportSpec, to string, _ bool) bool {
		if to == target {
			local = path.Base(target)
			if spec.Name != nil {
				local = spec.Name.Name
			}
		}
		return true
	})
	if local == "" {
		return nil
	}
	var uses []*ast.SelectorExpr
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == local {
				uses = append(uses, sel)
			}
		}
		return true
	})
	return uses
}

// within says whether a folder or import path is one of patterns. A pattern
// that ends in /... stands for the folder and everything below it.
func within(target string, patterns ...string) bool {
	for _, pattern := range patterns {
		if prefix, all := strings.CutSuffix(pattern, "/..."); all && strings.HasPrefix(target, prefix+"/") {
			return true
		} else if target == prefix {
			return true
		}
	}
	return false
}

func TestPatternsOfFolders(t *testing.T) {
	tests := []struct {
		name, target string
		patterns     []string
		want         bool
	}{
		{"a folder is itself", "mcp", []string{"mcp"}, true},
		{"a folder is not what lies below it", "mcp/revision", []string{"mcp"}, false},
		{"dots take in what lies below", "mcp/revision", []string{"mcp/..."}, true},
		{"dots take in the folder", "mcp", []string{"mcp/..."}, true},
		{"dots end at the name", "mcptest", []string{"mcp/..."}, false},
		{"any pattern will do", "stdio", []string{"mcp", "stdio"}, true},
		{"no pattern is nobody", "stdio", nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := within(tt.target, tt.patterns...); got != tt.want {
				t.Errorf("within(%q, %q) = %v", tt.target, tt.patterns, got)
			}
		})
	}
}

func TestTheWalkPassesOverWhatIsNotTheModule(t *testing.T) {
	m := inMemory(t, `
-- a/a.go --
package a
-- a/a_test.go --
package a_test
-- a/testdata/x.go --
package x
-- bench/go.mod --
module bench
-- bench/b.go --
package b
-- .hidden/c.go --
package c
-- _old/d.go --
package d
-- .github/e.md --
-- vendor/f/f.go --
package f
-- README.md --
`)
	var got []string
	for _, f := range m.files {
		got = append(got, f.path)
	}
	for _, d := range m.markdown {
		got = append(got, d.path)
	}
	want := []string{"a/a.go", "a/a_test.go", ".github/e.md", "README.md"}
	if !slices.Equal(got, want) {
		t.Errorf("the walk found %q, want %q", got, want)
	}
	if len(m.packages) != 1 || m.packages[0].name != "a" || len(m.packages[0].source) != 1 || len(m.packages[0].tests) != 1 {
		t.Errorf("the packages are %v", m.packages)
	}
}
