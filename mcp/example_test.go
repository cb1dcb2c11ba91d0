package mcp_test

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/mcp"
)

func ExampleLoggingLevel_AtLeast() {
	fmt.Println(mcp.LevelError.AtLeast(mcp.LevelWarning))
	fmt.Println(mcp.LevelDebug.AtLeast(mcp.LevelWarning))
	// Output:
	// true
	// false
}

func ExampleCallToolResult() {
	text, err := json.Marshal(&mcp.CallToolResult{
		Content:           mcp.Contents{mcp.Text("5")},
		StructuredContent: jsontext.Value(`{"sum":5}`),
	})
	fmt.Println(string(text), err)
	// Output:
	// {"content":[{"type":"text","text":"5"}],"structuredContent":{"sum":5},"isError":false} <nil>
}

func ExampleContents() {
	var contents mcp.Contents
	err := json.Unmarshal([]byte(`[
		{"type":"text","text":"hello"},
		{"type":"image","data":"aGVsbG8=","mimeType":"image/png"},
		{"type":"hologram","metres":2}
	]`), &contents)
	if err != nil {
		fmt.Println(err)
	}
	for _, content := range contents {
		switch c := content.(type) {
		case *mcp.TextContent:
			fmt.Println("text:", c.Text)
		case *mcp.ImageContent:
			fmt.Println("image:", len(c.Data), "bytes of", c.MIMEType)
		case *mcp.UnknownContent:
			fmt.Println("unknown:", c.Type)
		}
	}
	// Output:
	// text: hello
	// image: 5 bytes of image/png
	// unknown: hologram
}

func ExampleFormSchema() {
	schema, err := json.Marshal(&mcp.FormSchema{
		Type: "object",
		Properties: mcp.FormFields{
			{Name: "name", Schema: mcp.FieldSchema{Type: "string", MinLength: new(int64(1))}},
			{Name: "colour", Schema: mcp.FieldSchema{Type: "string", Enum: []string{"red", "blue"}}},
		},
		Required: []string{"name"},
	})
	question := mcp.ElicitParams{Message: "Who are you?", RequestedSchema: schema}
	fmt.Println(string(question.RequestedSchema), err)
	// Output:
	// {"type":"object","properties":{"name":{"type":"string","minLength":1},"colour":{"type":"string","enum":["red","blue"]}},"required":["name"]} <nil>
}
