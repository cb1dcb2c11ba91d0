package archtest_test

import (
	"fmt"
	"go/ast"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestDocumentsTellTheTruth(t *testing.T) {
	hold(t, []rule{
		{
			name:  "every link to a file leads to one",
			check: checkLinks,
			examples: []example{{"a missing file, folder or heading is refused, and so is a way out of the repository", `
-- README.md --
# Readme

[here](docs/guide.md), [there](docs/gide.md), [top](#readme), [bottom](#bottom)
[web](https://example.org/none.md) [folder](docs) [out](../other/README.md)
-- docs/guide.md --
## Start
[back](../README.md#readme) [wrong](../README.md#start) [no](nowhere/)
`, []string{"README.md:3", "README.md:3", "README.md:4", "docs/guide.md:2", "docs/guide.md:2"}}},
		},
		{
			name:  "every command in a document exists",
			check: checkCommands,
			examples: []example{
				{"an unknown one is refused, flags and cobra's own are not", `
-- cmd/bossman/main.go --
package main
-- internal/cli/serve.go --
package cli

import "github.com/spf13/cobra"

func serve() *cobra.Command { return &cobra.Command{Use: "serve [flags]"} }

func root() *cobra.Command { return &cobra.Command{Use: "bossman"} }
-- README.md --
~~~sh
bossman serve --db x
bossman --version
bossman help serve
$ bossman sreve
bossman bossman
bossmanager run
~~~

bossman prose
`, []string{"README.md:5", "README.md:6"}},
				{"a program without commands makes the rule say so", `
-- cmd/bossman/main.go --
package main
-- README.md --
`, []string{"cmd/bossman:0"}},
				{"without the program there is nothing to compare", `
-- README.md --
~~~sh
bossman sreve
~~~
`, nil},
			},
		},
		{
			name:  "ARCHITECTURE.md names every package",
			check: checkArchitecture,
			examples: []example{
				{"a missing one is refused, mentions in prose do not count", `
-- ARCHITECTURE.md --
The server is in "server". ` + "`jsonrpc/peer`, `examples/...`" + `
~~~
7 cmd/bossman internal/queue/{sqlite,postgres}
~~~
-- server/a.go --
package server
-- jsonrpc/peer/a.go --
package peer
-- jsonrpc/a.go --
package jsonrpc
-- cmd/bossman/main.go --
package main
-- internal/queue/sqlite/a.go --
package sqlite
-- examples/add/main.go --
package main
`, []string{"ARCHITECTURE.md:1", "ARCHITECTURE.md:1"}},
				{"without the document there is nothing to compare", `
-- server/a.go --
package server
`, nil},
			},
		},
	})
}

func checkLinks(m *tree) []finding {
	var found []finding
	for _, d := range m.markdown {
		for _, l := range d.links() {
			file, anchor, local := d.resolve(l.target)
			if !local {
				continue
			}
			f := finding{path: d.path, line: l.line, subject: l.target, advice: "correct the link or add what it leads to"}
			// A path that leaves the repository is not valid here, and so not found.
			if _, err := fs.Stat(m.fsys, file); err != nil {
				f.problem = fmt.Sprintf("the link %q leads to %s, which does not exist in the repository", l.target, file)
				found = append(found, f)
				continue
			}
			to := slices.IndexFunc(m.markdown, func(d *document) bool { return d.path == file })
			if anchor != "" && to >= 0 && !slices.Contains(m.markdown[to].anchors(), anchor) {
				f.problem = fmt.Sprintf("the link %q names a heading that %s does not have", l.target, file)
				found = append(found, f)
			}
		}
	}
	return found
}

// checkCommands compares what documents type with the commands that internal/cli
// declares: the first word of the Use of every cobra.Command.
func checkCommands(m *tree) []finding {
	if _, err := fs.Stat(m.fsys, "cmd/bossman"); err != nil {
		return nil
	}
	commands := m.commands()
	if len(commands) == 0 {
		return []finding{{
			path: "cmd/bossman", subject: "cmd/bossman", problem: "no cobra.Command with a literal Use in internal/cli",
			advice: "teach checkCommands where the commands are declared",
		}}
	}
	commands = append(commands, "help", "completion")
	var found []finding
	for _, d := range m.markdown {
		for _, b := range d.blocks {
			if !slices.Contains([]string{"sh", "bash", "shell", "console"}, b.language) {
				continue
			}
			for i, line := range b.lines {
				words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "$ "))
				if len(words) < 2 || words[0] != "bossman" || strings.HasPrefix(words[1], "-") || slices.Contains(commands, words[1]) {
					continue
				}
				found = append(found, finding{
					path: d.path, line: b.line + i, subject: words[1], problem: "bossman has no command " + words[1],
					advice: "use one of " + strings.Join(commands, ", "),
				})
			}
		}
	}
	return found
}

// commands returns the names of the command line's commands, at any depth, but
// not that of the program itself.
func (m *tree) commands() []string {
	var names []string
	for _, file := range m.files {
		if file.test || !within(file.dir(), "internal/cli/...", "cmd/bossman/...") {
			continue
		}
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			if kind, ok := lit.Type.(*ast.SelectorExpr); !ok || kind.Sel.Name != "Command" {
				return true
			}
			for _, elt := range lit.Elts {
				pair, _ := elt.(*ast.KeyValueExpr)
				if pair == nil {
					continue
				}
				key, _ := pair.Key.(*ast.Ident)
				value, _ := pair.Value.(*ast.BasicLit)
				if key == nil || value == nil || key.Name != "Use" {
					continue
				}
				use, err := strconv.Unquote(value.Value)
				if name, _, _ := strings.Cut(use, " "); err == nil && name != "" && name != "bossman" {
					names = append(names, name)
				}
			}
			return true
		})
	}
	return names
}

// checkArchitecture looks for the packages in the code of the document, because
// their names are words of prose too. A name that ends in /... or in braces
// stands for several, as in levels.
func checkArchitecture(m *tree) []finding {
	at := slices.IndexFunc(m.markdown, func(d *document) bool { return d.path == "ARCHITECTURE.md" })
	if at < 0 {
		return nil
	}
	var named []string
	for _, word := range m.markdown[at].codeWords() {
		before, rest, braces := strings.Cut(word, "{")
		inner, after, closed := strings.Cut(rest, "}")
		if !braces || !closed {
			named = append(named, word)
			continue
		}
		for _, part := range strings.Split(inner, ",") {
			named = append(named, before+part+after)
		}
	}
	var found []finding
	for _, p := range m.packages {
		if p.dir != "." && !within(p.dir, named...) {
			found = append(found, finding{
				path: "ARCHITECTURE.md", line: 1, subject: p.dir, problem: "package " + p.dir + " is not mentioned",
				advice: "say in a line what it is for, with its path as code: `" + p.dir + "`",
			})
		}
	}
	return found
}

// codeWords returns the words of code blocks and code spans.
func (d *document) codeWords() []string {
	var words []string
	for _, b := range d.blocks {
		for _, line := range b.lines {
			words = append(words, strings.Fields(line)...)
		}
	}
	for _, line := range d.prose {
		for _, span := range codeSpan.FindAllString(line, -1) {
			words = append(words, strings.Fields(strings.Trim(span, "`"))...)
		}
	}
	for i, word := range words {
		words[i] = strings.TrimSuffix(strings.Replace(strings.Trim(word, ",;:()"), "/…", "/...", 1), "/")
	}
	return words
}
