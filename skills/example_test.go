package skills_test

import (
	"fmt"

	"github.com/bossman-mcp/bossman/skills"
)

func ExampleFrontmatter() {
	fields, err := skills.Frontmatter([]byte(`---
name: refunds
description: Give money back
metadata: {version: "2"}
---
Ask for the order's number first.
`))
	fmt.Println(string(fields), err)
	// Output: {"name":"refunds","description":"Give money back","metadata":{"version":"2"}} <nil>
}
