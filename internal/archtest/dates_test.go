package archtest_test

import (
	"go/ast"
	"regexp"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/mcp/revision"
)

func TestDatesLiveInOnePlace(t *testing.T) {
	hold(t, []rule{{
		name:  "no Go file outside mcp/revision and tests names a revision by its date",
		check: checkDates,
		examples: []example{
			{"literals and identifiers are refused, but not in tests", strings.ReplaceAll(`
-- server/a.go --
package server

const newest = "{newest}"

func answer{compact}() {}

var raw = `+"`x\n{newest}`"+`
-- server/a_test.go --
package server_test

var meta = "v/{newest}+1"
-- server/shape_{compact}.go --
package server
`, "{compact}", strings.ReplaceAll(revision.Newest().Name, "-", "_")),
				[]string{"server/a.go:3", "server/a.go:5", "server/a.go:7", "server/shape_" + strings.ReplaceAll(revision.Newest().Name, "-", "_") + ".go:1"}},
			{"the package of revisions, its tests, comments and other dates pass", `
-- mcp/revision/a.go --
package revision

const newest = "{newest}"
-- mcp/revision/a_test.go --
package revision_test

const newest = "{newest}"
-- server/a.go --
package server

// Of {newest}, section Tools.
const day = "1999-12-31"
`, nil},
		},
	}})
}

// datePattern finds the name of any revision, also with the dashes replaced or
// left out as identifiers and file names need it.
func datePattern() *regexp.Regexp {
	var names []string
	for _, r := range revision.All() {
		names = append(names, strings.ReplaceAll(regexp.QuoteMeta(r.Name), "-", "[-_]?"))
	}
	return regexp.MustCompile(strings.Join(names, "|"))
}

func checkDates(m *tree) []finding {
	date := datePattern()
	var found []finding
	for _, file := range m.files {
		if file.dir() == "mcp/revision" || file.test { // tests are what the wire is held to
			continue
		}
		note := func(n ast.Node, text string) {
			if match := date.FindString(text); match != "" {
				f := m.at(n.Pos())
				f.subject, f.problem = file.path, "the revision date "+match+" outside mcp/revision"
				f.advice = "ask mcp/revision for the fact or the name; if it is only some date, take another day"
				found = append(found, f)
			}
		}
		note(file.syntax, file.path)
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				note(n, n.Value)
			case *ast.Ident:
				note(n, n.Name)
			}
			return true
		})
	}
	return found
}
