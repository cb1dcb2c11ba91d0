package load_test

import (
	"context"
	"fmt"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/skills/load"
)

func Example() {
	ctx := context.Background()
	c, err := client.Connect(ctx, inMemory{honest().handler()}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	for entry, err := range load.List(ctx, c) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(entry.Name(), "-", entry.Description())
		skill, err := load.Open(ctx, c, entry) // once the user has agreed
		if err != nil {
			fmt.Println(err)
			return
		}
		contents, err := skill.Read(ctx, "examples/an email.md")
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Print(contents.Text)
	}
	// Output:
	// refunds - Give money back
	// Dear customer
}
