package archtest_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

func TestProgramsInDocumentsCompile(t *testing.T) {
	hold(t, []rule{{
		name:  "every program in a document compiles",
		check: checkPrograms,
		examples: []example{
			{"one with a mistake is refused, at its line", `
-- README.md --
# Readme

~~~go
package main

func main() { println("fine") }
~~~

~~~go
s := server.New("a fragment", "1", nil)
~~~

~~~go
package main

func main() {
	println(missing)
}
~~~
-- docs/guide.md --
~~~go
package main

import "fmt"

func main() { fmt.Printf("%d\n", "text") }
~~~
`, []string{"README.md:17", "docs/guide.md:6"}},
			{"no program, no work", `
-- README.md --
# Readme
`, nil},
		},
	}})
}

func TestProgramsSeeTheModuleAsUsersDo(t *testing.T) {
	program := "~~~go\npackage main\n\nimport _ \"" + modulePath + "/%s\"\n\nfunc main() {}\n~~~\n"
	m := *repository(t)
	m.markdown = []*document{
		readDocument("open.md", fmt.Sprintf(program, "jsonrpc")),
		readDocument("closed.md", fmt.Sprintf(program, "internal/jsonscan")),
	}
	found := checkPrograms(&m)
	if len(found) != 1 || found[0].place() != "closed.md:4" || !strings.Contains(found[0].problem, "internal package") {
		t.Errorf("found %v, want closed.md:4, about an internal package", found)
	}
	m.markdown = m.markdown[:1]
	for _, f := range checkPrograms(&m) {
		t.Error(f)
	}
}

// A program is a code block that is a whole program.
type program struct {
	path string // of the document
	line int    // of its first line there
	text string
}

func (m *tree) programs() []program {
	var programs []program
	for _, d := range m.markdown {
		for _, b := range d.blocks {
			if b.language == "go" && slices.Contains(b.lines, "package main") {
				programs = append(programs, program{d.path, b.line, strings.Join(b.lines, "\n")})
			}
		}
	}
	return programs
}

// complaint is a line in which the go command speaks of a program.
var complaint = regexp.MustCompile(`(?m)\bprogram(\d+)[/\\]main\.go:(\d+)(?::\d+)?: (.*)$`)

// checkPrograms lets go vet see every program of every document at once.
func checkPrograms(m *tree) []finding {
	const advice = "correct the program in the document"
	programs := m.programs()
	if len(programs) == 0 {
		return nil
	}
	out, err := m.vet(programs)
	if err == nil {
		return nil
	}
	var found []finding
	for _, match := range complaint.FindAllStringSubmatch(out, -1) {
		number, _ := strconv.Atoi(match[1])
		line, _ := strconv.Atoi(match[2])
		p := programs[number]
		found = append(found, finding{path: p.path, line: p.line + line - 1, subject: p.path, problem: match[3], advice: advice})
	}
	if len(found) == 0 {
		found = append(found, finding{
			path: programs[0].path, line: programs[0].line, subject: "go vet",
			problem: fmt.Sprintf("go vet of the programs in documents: %v: %s", err, out), advice: advice,
		})
	}
	return found
}

// vet runs go vet on programs, in a module of its own that requires ours as a
// user's would, with our go.sum and no network. It returns what vet says.
func (m *tree) vet(programs []program) (string, error) {
	files := make(fstest.MapFS)
	put := func(name, text string) { files[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644} }
	for i, p := range programs {
		put(fmt.Sprintf("program%d/main.go", i), p.text)
	}
	put("go.mod", "module programs\n\ngo 1.26\n")
	if m.root != "" {
		ours, err := fs.ReadFile(m.fsys, "go.mod")
		if err != nil {
			return "", err
		}
		sums, err := fs.ReadFile(m.fsys, "go.sum")
		if err != nil {
			return "", err
		}
		put("go.sum", string(sums))
		put("go.mod", fmt.Sprintf("%s\nrequire %s v0.0.0\n\nreplace %s => %q\n",
			strings.Replace(string(ours), "module "+modulePath, "module programs", 1),
			modulePath, modulePath, filepath.ToSlash(m.root)))
	}
	folder, err := os.MkdirTemp("", "programs")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	if err := os.CopyFS(folder, files); err != nil {
		return "", err
	}
	vet := exec.Command("go", "vet", "./...")
	vet.Dir = folder
	vet.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GOPROXY=off")
	out, err := vet.CombinedOutput()
	return string(out), err
}
