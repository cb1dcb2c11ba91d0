package mcp_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/mcp"
)

func TestContentIsWrittenTypeFirstAndReadBack(t *testing.T) {
	tests := []struct {
		name    string
		content mcp.Content
		want    string
	}{
		{"empty text is still written", mcp.Text(""), `{"type":"text","text":""}`},
		{
			"text with everything",
			&mcp.TextContent{
				Text:        "a\"b\u2028",
				Annotations: &mcp.Annotations{Audience: []mcp.Role{mcp.RoleUser}, Priority: new(0.0), LastModified: "2025-01-12"},
				Meta:        mcp.Meta(`{"k":1.50}`),
			},
			"{\"type\":\"text\",\"text\":\"a\\\"b\u2028\",\"annotations\":{\"audience\":[\"user\"],\"priority\":0,\"lastModified\":\"2025-01-12\"},\"_meta\":{\"k\":1.50}}",
		},
		{"image bytes become base64", mcp.Image([]byte{0xff, 0xfe}, "image/png"), `{"type":"image","data":"//4=","mimeType":"image/png"}`},
		{"audio bytes become base64", mcp.Audio([]byte("abc"), "audio/wav"), `{"type":"audio","data":"YWJj","mimeType":"audio/wav"}`},
		{"an image without bytes has empty data", mcp.Image([]byte{}, ""), `{"type":"image","data":"","mimeType":""}`},
		{
			"a link has the members of a resource",
			mcp.Link(mcp.Resource{URI: "file:///a", Name: "a", Size: new(int64(0)), Icons: []mcp.Icon{{Src: "data:,"}}}),
			`{"type":"resource_link","uri":"file:///a","name":"a","size":0,"icons":[{"src":"data:,"}]}`,
		},
		{
			"an embedded resource with text",
			mcp.Embed(mcp.ResourceContents{URI: "file:///a"}),
			`{"type":"resource","resource":{"uri":"file:///a","text":""}}`,
		},
		{
			"an embedded resource with bytes",
			mcp.Embed(mcp.ResourceContents{URI: "file:///a", Blob: []byte{}}),
			`{"type":"resource","resource":{"uri":"file:///a","blob":""}}`,
		},
		{
			"a tool use",
			&mcp.ToolUseContent{ID: "1", Name: "add", Input: jsontext.Value(`{"a":1e2}`)},
			`{"type":"tool_use","id":"1","name":"add","input":{"a":1e2}}`,
		},
		{
			"a tool result with everything",
			&mcp.ToolResultContent{
				ToolUseID: "1", Content: mcp.Contents{mcp.Text("x")}, StructuredContent: jsontext.Value(`null`), IsError: true, Meta: mcp.Meta(`{}`),
			},
			`{"type":"tool_result","toolUseId":"1","content":[{"type":"text","text":"x"}],"structuredContent":null,"isError":true,"_meta":{}}`,
		},
		{
			"an unknown type is kept whole",
			&mcp.UnknownContent{Type: "video", Raw: jsontext.Value(`{"type":"video","text":1,"n":1.00}`)},
			`{"type":"video","text":1,"n":1.00}`,
		},
		{"a block without type is kept whole", &mcp.UnknownContent{Raw: jsontext.Value(`{"text":"x"}`)}, `{"text":"x"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := json.Marshal(mcp.Contents{tt.content})
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != "["+tt.want+"]" {
				t.Errorf("wrote\n %s, want\n[%s]", got, tt.want)
			}
			var back mcp.Contents
			if err := json.Unmarshal(got, &back, json.RejectUnknownMembers(true)); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(back, mcp.Contents{tt.content}) {
				t.Errorf("read %#v, want %#v", back[0], tt.content)
			}
		})
	}
}

func TestContentFillsInWhatTheProtocolRequires(t *testing.T) {
	tests := []struct {
		name  string
		value any
		want  string
	}{
		{"nil contents are an empty array", mcp.Contents(nil), `[]`},
		{"a tool use without input has an empty object", &mcp.ToolUseContent{}, `{"type":"tool_use","id":"","name":"","input":{}}`},
		{"a tool result without content has an empty array", &mcp.ToolResultContent{}, `{"type":"tool_result","toolUseId":"","content":[]}`},
		{"an image without data has an empty string", &mcp.ImageContent{}, `{"type":"image","data":"","mimeType":""}`},
		{"an unknown content without text has its type", &mcp.UnknownContent{Type: "video"}, `{"type":"video"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { wantJSON(t, tt.value, tt.want) })
	}
}

func TestContentIsRead(t *testing.T) {
	tests := []struct {
		name string
		text string
		want mcp.Contents
	}{
		{"with the type last", `[{"text":"x","type":"text"}]`, mcp.Contents{mcp.Text("x")}},
		{"with the type in escapes", `[{"\u0074ype":"\u0074ext","text":"x"}]`, mcp.Contents{mcp.Text("x")}},
		{"with a type deeper inside", `[{"_meta":{"type":"image"},"type":"text","text":"x"}]`, mcp.Contents{&mcp.TextContent{Text: "x", Meta: mcp.Meta(`{"type":"image"}`)}}},
		{"with members from the future", `[{"type":"text","text":"x","colour":"red"}]`, mcp.Contents{mcp.Text("x")}},
		{"as an empty array", ` [ ] `, mcp.Contents{}},
		{"as null", `null`, nil},
		{
			"with the case of the type respected", `[{"type":"Text"}]`,
			mcp.Contents{&mcp.UnknownContent{Type: "Text", Raw: jsontext.Value(`{"type":"Text"}`)}},
		},
		{
			"with a tool result inside a tool result kept raw",
			`[{"type":"tool_result","toolUseId":"1","content":[{"type":"tool_result","content":[]}]}]`,
			mcp.Contents{&mcp.ToolResultContent{ToolUseID: "1", Content: mcp.Contents{
				&mcp.UnknownContent{Type: "tool_result", Raw: jsontext.Value(`{"type":"tool_result","content":[]}`)},
			}}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := mcp.Contents{mcp.Text("old")}
			if err := json.Unmarshal([]byte(tt.text), &got); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("read %#v, want %#v", got, tt.want)
			}
		})
	}
}

func TestUnknownContentDoesNotShareTheReadersBuffer(t *testing.T) {
	text := []byte(`[{"type":"video","n":1}]`)
	var got mcp.Contents
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	clear(text)
	if raw := got[0].(*mcp.UnknownContent).Raw; string(raw) != `{"type":"video","n":1}` {
		t.Errorf("raw changed to %q", raw)
	}
}

func TestContentIsRefused(t *testing.T) {
	tests := []struct{ name, text string }{
		{"when it is an object in place of an array", `{"type":"text","text":"x"}`},
		{"when it is a string", `"x"`},
		{"when a block is null", `[null]`},
		{"when a block is a string", `["x"]`},
		{"when the type is a number", `[{"type":1}]`},
		{"when the text is a number", `[{"type":"text","text":1}]`},
		{"when the data is not base64", `[{"type":"image","data":"%%","mimeType":"image/png"}]`},
		{"when the data is base64 without padding", `[{"type":"image","data":"YQ","mimeType":"image/png"}]`},
		{"when a member stands twice", `[{"type":"text","text":"x","text":"y"}]`},
		{"when the type stands twice", `[{"type":"text","type":"image"}]`},
		{"when a member of an unknown type stands twice", `[{"type":"video","a":1,"a":2}]`},
		{"when text is not UTF-8", "[{\"type\":\"text\",\"text\":\"\xff\"}]"},
		{"when the array does not end", `[{"type":"text","text":"x"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got mcp.Contents
			if err := json.Unmarshal([]byte(tt.text), &got); err == nil {
				t.Errorf("read %#v, want an error", got)
			}
		})
	}
}

func TestContentTypeReadsOnlyItself(t *testing.T) {
	blocks := map[string]any{
		"text": new(mcp.TextContent), "image": new(mcp.ImageContent), "audio": new(mcp.AudioContent),
		"resource_link": new(mcp.ResourceLink), "resource": new(mcp.EmbeddedResource),
		"tool_use": new(mcp.ToolUseContent), "tool_result": new(mcp.ToolResultContent),
	}
	for typ, block := range blocks {
		if err := json.Unmarshal([]byte(`{"type":"`+typ+`"}`), block); err != nil {
			t.Errorf("%s does not read itself: %v", typ, err)
		}
		for _, text := range []string{`{"type":"other"}`, `{}`, `null`} {
			if err := json.Unmarshal([]byte(text), block); err == nil {
				t.Errorf("%s reads %s, want an error", typ, text)
			}
		}
	}
}

func TestNilContentIsAnErrorWhenWritten(t *testing.T) {
	for name, value := range map[string]any{
		"in a list":             mcp.Contents{nil},
		"in a prompt message":   &mcp.PromptMessage{Role: mcp.RoleUser},
		"in a sampling message": &mcp.SamplingMessage{Content: mcp.Contents{nil}},
	} {
		if text, err := json.Marshal(value); err == nil {
			t.Errorf("nil content %s is written as %s, want an error", name, text)
		}
	}
}

func TestDeepToolResultsAreReadInTimeThatGrowsWithTheirLength(t *testing.T) {
	const depth = 4000
	text := strings.Repeat(`{"content":[`, depth) + strings.Repeat(`],"type":"tool_result"}`, depth)
	begin := time.Now()
	var got mcp.Contents
	if err := json.Unmarshal([]byte("["+text+"]"), &got); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("reading %d bytes took %v", len(text), took)
	}
}

func TestSamplingMessageHasOneBlockOrMany(t *testing.T) {
	tests := []struct {
		name, text, written string
		blocks              int
	}{
		{"an object stays an object", `{"role":"user","content":{"type":"text","text":"x"}}`, "", 1},
		{"an array of one becomes an object", `{"role":"user","content":[{"type":"text","text":"x"}]}`, `{"role":"user","content":{"type":"text","text":"x"}}`, 1},
		{"an array of two stays an array", `{"role":"user","content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}`, "", 2},
		{"an empty array stays an array", `{"role":"user","content":[]}`, "", 0},
		{"an unknown block stays", `{"role":"user","content":{"type":"video"},"_meta":{}}`, "", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var m mcp.SamplingMessage
			if err := json.Unmarshal([]byte(tt.text), &m); err != nil {
				t.Fatal(err)
			}
			if len(m.Content) != tt.blocks || m.Role != mcp.RoleUser {
				t.Errorf("read %d blocks of %s, want %d", len(m.Content), m.Role, tt.blocks)
			}
			want := tt.written
			if want == "" {
				want = tt.text
			}
			wantJSON(t, &m, want)

			r := mcp.CreateMessageResult{Role: m.Role, Content: m.Content, Model: "m", Meta: m.Meta}
			text, err := json.Marshal(&r)
			if err != nil {
				t.Fatal(err)
			}
			var back mcp.CreateMessageResult
			if err := json.Unmarshal(text, &back); err != nil {
				t.Fatal(err)
			}
			if len(back.Content) != tt.blocks || back.Model != "m" {
				t.Errorf("the result came back as %s", text)
			}
		})
	}
	for _, text := range []string{`{"content":"x"}`, `{"content":[null]}`, `{"content":{"type":1}}`} {
		var m mcp.SamplingMessage
		if err := json.Unmarshal([]byte(text), &m); err == nil {
			t.Errorf("%s is read, want an error", text)
		}
	}
}

func TestPromptMessageHasExactlyOneBlock(t *testing.T) {
	for _, text := range []string{
		`{"role":"assistant","content":{"type":"text","text":"x"}}`,
		`{"role":"user","content":{"type":"video","frames":[1,2]}}`,
	} {
		var m mcp.PromptMessage
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		wantJSON(t, &m, text)
	}
	for _, text := range []string{`{"content":[]}`, `{"content":null}`, `{"content":"x"}`} {
		var m mcp.PromptMessage
		if err := json.Unmarshal([]byte(text), &m); err == nil {
			t.Errorf("%s is read, want an error", text)
		}
	}
}

// wantJSON checks that value is written as exactly want.
func wantJSON(t *testing.T, value any, want string) {
	t.Helper()
	got, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("wrote\n%s, want\n%s", got, want)
	}
}
