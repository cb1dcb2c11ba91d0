package mcp_test

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/mcp"
)

// sameJSON fails the test unless r is appended as package json writes it.
func sameJSON(t *testing.T, r *mcp.CallToolResult) {
	t.Helper()
	want, wantErr := json.Marshal(r)
	got, err := r.AppendJSON([]byte("x"))
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("error %v, package json says %v", err, wantErr)
	}
	if got = got[1:]; err != nil {
		return
	}
	if err := (*jsontext.Value)(&got).Compact(); err != nil {
		t.Fatalf("%s: %v", got, err)
	}
	if string(got) != string(want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAToolResultIsAppendedAsPackageJSONWritesIt(t *testing.T) {
	half := 0.5
	for name, r := range map[string]*mcp.CallToolResult{
		"empty":                        {},
		"of no blocks":                 {Content: mcp.Contents{}},
		"of text":                      {Content: mcp.Contents{mcp.Text("a \"b\" \\ \n\t\x01 ü 世界 \U0001f600"), mcp.Text("")}},
		"that is an error":             {Content: mcp.Contents{mcp.Text("no")}, IsError: true},
		"with structured content":      {Content: mcp.Contents{mcp.Text("{}")}, StructuredContent: jsontext.Value(` {"a": [1, 2]} `)},
		"with structured null":         {StructuredContent: jsontext.Value("null")},
		"with a type and a meta":       {ResultType: mcp.ResultComplete, Meta: mcp.Meta(`{"a":1}`)},
		"with a type":                  {ResultType: mcp.ResultComplete},
		"with an annotated block":      {Content: mcp.Contents{&mcp.TextContent{Text: "a", Annotations: &mcp.Annotations{Priority: &half}}}},
		"with a block that has a meta": {Content: mcp.Contents{&mcp.TextContent{Text: "a", Meta: mcp.Meta(`{}`)}}},
		"with an image after text":     {Content: mcp.Contents{mcp.Text("a"), &mcp.ImageContent{Data: []byte("x"), MIMEType: "image/png"}}},
		"with a nil block":             {Content: mcp.Contents{nil}},
		"with text that is no UTF-8":   {Content: mcp.Contents{mcp.Text("a\xff")}},
		"with a type that is no UTF-8": {ResultType: "\xff"},
		"with content that is no JSON": {StructuredContent: jsontext.Value(`{"a":1,"a":2}`)},
		"with content that is empty":   {StructuredContent: jsontext.Value(``)},
	} {
		t.Run(name, func(t *testing.T) { sameJSON(t, r) })
	}
}

func FuzzAppendToolResult(f *testing.F) {
	f.Add("plain", []byte(`{"a":1}`), false)
	f.Add("\xff\x00\"", []byte(`[`), true)
	f.Fuzz(func(t *testing.T, text string, structured []byte, isError bool) {
		sameJSON(t, &mcp.CallToolResult{Content: mcp.Contents{mcp.Text(text)}, StructuredContent: structured, IsError: isError})
	})
}
