package skills_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/skills"
)

func ExampleServe() {
	folder := fstest.MapFS{ // an embed.FS, or that of an os.Root
		"refunds/SKILL.md":            {Data: []byte("---\nname: refunds\ndescription: Give money back\n---\nBe kind.\n")},
		"refunds/templates/letter.md": {Data: []byte("Dear customer\n")},
	}
	s := server.New("shop", "1.0.0", nil)
	if err := skills.Serve(s, folder, nil); err != nil {
		fmt.Println(err)
		return
	}
	result, err := s.Handle(context.Background(), &mcp.Call{Method: skills.MethodList})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, skill := range result.(*skills.ListResult).Skills {
		fmt.Println(skill.Name(), "-", skill.Description())
		for _, file := range skill.Files {
			fmt.Println(" ", file.URI, file.Size)
		}
	}
	// Output:
	// refunds - Give money back
	//   skill://refunds/SKILL.md 60
	//   skill://refunds/templates/letter.md 14
}

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
