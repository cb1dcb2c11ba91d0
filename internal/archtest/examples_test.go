package archtest_test

import (
	"go/ast"
	"go/doc"
	"testing"
)

func TestPublicPackagesHaveExamples(t *testing.T) {
	hold(t, []rule{{
		name:  "every public package has an example with output",
		check: checkExamples,
		examples: []example{
			{"none, and one that is compiled but never run, are refused", `
-- server/a.go --
package server
-- server/a_test.go --
package server_test

func Helper() {
	// Output: 1
}
-- stdio/a.go --
package stdio
-- stdio/example_test.go --
package stdio_test

func Example() {
	serve()
}
`, []string{"server/a.go:1", "stdio/a.go:1"}},
			{"internal packages and programs need none, and one is enough", `
-- internal/queue/a.go --
package queue
-- cmd/bossman/main.go --
package main
-- examples/add/main.go --
package main
-- conformance/server/main.go --
package main
-- server/a.go --
package server
-- server/example_test.go --
package server_test

func ExampleServer() {
	// Output: 1
}
`, nil},
		},
	}})
}

func checkExamples(m *tree) []finding {
	var found []finding
	for _, p := range m.packages {
		if p.name == "main" || len(p.source) == 0 || within(p.dir, "internal/...", "cmd/...", "examples/...", "conformance/...", "bench/...") {
			continue
		}
		var tests []*ast.File
		for _, file := range p.tests {
			tests = append(tests, file.syntax)
		}
		shown := false
		for _, e := range doc.Examples(tests...) {
			shown = shown || e.Output != "" || e.EmptyOutput
		}
		if !shown {
			f := m.at(p.source[0].syntax.Package)
			f.subject, f.problem = p.dir, "package "+p.dir+" has no example that runs"
			f.advice = "add example_test.go with an Example function that ends in an Output comment"
			found = append(found, f)
		}
	}
	return found
}
