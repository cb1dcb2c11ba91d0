package mcp_test

import (
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/mcp"
)

func TestZeroValuesWriteWhatTheProtocolRequiresAndNoMore(t *testing.T) {
	tests := []struct {
		name  string
		value any
		want  string
	}{
		{"call tool params", &mcp.CallToolParams{}, `{"name":""}`},
		{"call tool result", &mcp.CallToolResult{}, `{"content":[],"isError":false}`},
		{"list tools result", &mcp.ListToolsResult{}, `{"tools":[]}`},
		{"list resources result", &mcp.ListResourcesResult{}, `{"resources":[]}`},
		{"list resource templates result", &mcp.ListResourceTemplatesResult{}, `{"resourceTemplates":[]}`},
		{"read resource result", &mcp.ReadResourceResult{}, `{"contents":[]}`},
		{"list prompts result", &mcp.ListPromptsResult{}, `{"prompts":[]}`},
		{"get prompt result", &mcp.GetPromptResult{}, `{"messages":[]}`},
		{"complete result", &mcp.CompleteResult{}, `{"completion":{"values":[]}}`},
		{"discover result", &mcp.DiscoverResult{}, `{"supportedVersions":[],"capabilities":{}}`},
		{"create message params", &mcp.CreateMessageParams{}, `{"messages":[],"maxTokens":0}`},
		{"create message result", &mcp.CreateMessageResult{}, `{"role":"","content":[],"model":""}`},
		{"list roots result", &mcp.ListRootsResult{}, `{"roots":[]}`},
		{"elicit params", &mcp.ElicitParams{}, `{"message":""}`},
		{"elicit result", &mcp.ElicitResult{}, `{"action":""}`},
		{"logging message", &mcp.LoggingMessageParams{}, `{"level":"","data":null}`},
		{"subscription filter", &mcp.SubscriptionsListenParams{}, `{"notifications":{}}`},
		{"initialize params", &mcp.InitializeParams{}, `{"protocolVersion":"","capabilities":{},"clientInfo":{"name":"","version":""}}`},
		{"initialize result", &mcp.InitializeResult{}, `{"protocolVersion":"","capabilities":{},"serverInfo":{"name":"","version":""}}`},
		{"cancelled params", &mcp.CancelledParams{}, `{}`},
		{"deferred result", &mcp.Deferred{}, `{"taskId":"","status":"","createdAt":"0001-01-01T00:00:00Z","lastUpdatedAt":"0001-01-01T00:00:00Z","ttlMs":null}`},
		{"deferred params", &mcp.DeferredParams{}, `{"taskId":""}`},
		{"update deferred params", &mcp.UpdateDeferredParams{}, `{"taskId":"","inputResponses":{}}`},
		{"tool", &mcp.Tool{Name: "t"}, `{"name":"t","inputSchema":{"type":"object"}}`},
		{"tools in a list", &mcp.ListToolsResult{Tools: []mcp.Tool{{}}}, `{"tools":[{"name":"","inputSchema":{"type":"object"}}]}`},
		{"resource contents", &mcp.ResourceContents{}, `{"uri":"","text":""}`},
		{"form", &mcp.FormSchema{Type: "object"}, `{"type":"object","properties":{}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { wantJSON(t, tt.value, tt.want) })
	}
}

func TestMembersKeepTheDifferenceBetweenAbsentAndEmpty(t *testing.T) {
	tests := []struct {
		name  string
		text  string
		value any
	}{
		{"an empty cursor", `{"cursor":""}`, new(mcp.PageParams)},
		{"no cursor", `{}`, new(mcp.PageParams)},
		{"an empty next cursor and a TTL of nought", `{"ttlMs":0,"tools":[],"nextCursor":""}`, new(mcp.ListToolsResult)},
		{"structured content null", `{"content":[],"structuredContent":null,"isError":true}`, new(mcp.CallToolResult)},
		{"empty arguments", `{"name":"a","arguments":{}}`, new(mcp.CallToolParams)},
		{"an empty request state", `{"name":"a","inputResponses":{},"requestState":""}`, new(mcp.CallToolParams)},
		{"hints that are false", `{"name":"a","inputSchema":{},"annotations":{"readOnlyHint":false,"openWorldHint":false}}`, new(mcp.Tool)},
		{"capabilities without settings", `{"roots":{},"sampling":{"tools":{}},"elicitation":{"url":{}}}`, new(mcp.ClientCapabilities)},
		{"capabilities of a server", `{"experimental":{"x":{}},"logging":{},"completions":{},"prompts":{},"resources":{},"tools":{}}`, new(mcp.ServerCapabilities)},
		{"an empty blob", `{"uri":"a","blob":""}`, new(mcp.ResourceContents)},
		{"an empty text", `{"uri":"a","text":""}`, new(mcp.ResourceContents)},
		{"a progress of nought", `{"progressToken":0,"progress":0,"total":0}`, new(mcp.ProgressParams)},
		{"prompt arguments", `{"name":"a","arguments":[]}`, new(mcp.Prompt)},
		{"an accepted empty form", `{"action":"accept","content":{}}`, new(mcp.ElicitResult)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := json.Unmarshal([]byte(tt.text), tt.value, json.RejectUnknownMembers(true)); err != nil {
				t.Fatal(err)
			}
			wantJSON(t, tt.value, tt.text)
		})
	}
}

func TestNumbersAndTokensStayAsTheyWereWritten(t *testing.T) {
	for _, token := range []string{`9007199254740993`, `1.0`, `1e2`, `"1"`, `""`, `123456789012345678901234567890`} {
		text := `{"progressToken":` + token + `,"progress":0.5}`
		var p mcp.ProgressParams
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		wantJSON(t, &p, text)

		text = `{"requestId":` + token + `}`
		var c mcp.CancelledParams
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			t.Fatal(err)
		}
		wantJSON(t, &c, text)
	}
	text := `{"name":"a","inputSchema":{"z":1.0,"a":9007199254740993,"type":"object"},"outputSchema":true}`
	var tool mcp.Tool
	if err := json.Unmarshal([]byte(text), &tool); err != nil {
		t.Fatal(err)
	}
	wantJSON(t, &tool, text)
}

func TestMembersOfOlderRevisionsAreKept(t *testing.T) {
	tests := []struct {
		name  string
		text  string
		value any
	}{
		{"roots.listChanged", `{"roots":{"listChanged":true}}`, new(mcp.ClientCapabilities)},
		{"elicitationId", `{"mode":"url","message":"m","url":"https://example.com","elicitationId":"1"}`, new(mcp.ElicitParams)},
		{"elicitation complete", `{"elicitationId":"1"}`, new(mcp.ElicitationCompleteParams)},
		{"enumNames", `{"type":"string","enum":["a"],"enumNames":["A"]}`, new(mcp.FieldSchema)},
		{"execution.taskSupport", `{"name":"a","inputSchema":{},"execution":{"taskSupport":"required"}}`, new(mcp.Tool)},
		{"_meta of sampling", `{"_meta":{"progressToken":1},"messages":[],"maxTokens":1}`, new(mcp.CreateMessageParams)},
		{"_meta of elicitation", `{"_meta":{},"message":""}`, new(mcp.ElicitParams)},
		{"_meta of an elicited answer", `{"_meta":{},"action":"cancel"}`, new(mcp.ElicitResult)},
		{"_meta of roots", `{"_meta":{},"roots":[]}`, new(mcp.ListRootsResult)},
		{"setLevel", `{"level":"alert"}`, new(mcp.SetLevelParams)},
		{"subscribe", `{"uri":"file:///a"}`, new(mcp.SubscribeParams)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := json.Unmarshal([]byte(tt.text), tt.value, json.RejectUnknownMembers(true)); err != nil {
				t.Fatal(err)
			}
			wantJSON(t, tt.value, tt.text)
		})
	}
}

func TestResourceContentsAreTextOrBytes(t *testing.T) {
	wantJSON(t, &mcp.ResourceContents{URI: "a", Text: "t", Blob: []byte("b")}, `{"uri":"a","blob":"Yg=="}`)
	var c mcp.ResourceContents
	if err := json.Unmarshal([]byte(`{"uri":"a","mimeType":"m","blob":"/w==","_meta":{}}`), &c); err != nil {
		t.Fatal(err)
	}
	want := mcp.ResourceContents{URI: "a", MIMEType: "m", Blob: []byte{0xff}, Meta: mcp.Meta(`{}`)}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("read %#v, want %#v", c, want)
	}
	if err := json.Unmarshal([]byte(`{"uri":"a","blob":"_w=="}`), &c); err == nil {
		t.Error("the alphabet of base64 for URLs is accepted, want an error")
	}
}

func TestMemberNamesMatchExactly(t *testing.T) {
	var p mcp.CallToolParams
	if err := json.Unmarshal([]byte(`{"Name":"evil","NAME":"evil","argument\u017f":{}}`), &p); err != nil {
		t.Fatal(err)
	}
	if p.Name != "" || p.Arguments != nil {
		t.Errorf("read %+v, want nothing", p)
	}
	if err := json.Unmarshal([]byte(`{"name":"a","name":"b"}`), &p); err == nil {
		t.Error("a name that stands twice is accepted, want an error")
	}
}

func TestFormKeepsTheOrderOfItsFields(t *testing.T) {
	text := `{"$schema":"s","type":"object","properties":{"z":{"type":"string","minLength":0},"a":{"type":"boolean","default":false},` +
		`"m":{"type":"array","items":{"anyOf":[{"const":"1","title":"one"}]}}},"required":["a"]}`
	var form mcp.FormSchema
	if err := json.Unmarshal([]byte(text), &form, json.RejectUnknownMembers(true)); err != nil {
		t.Fatal(err)
	}
	wantJSON(t, &form, text)
	for _, text := range []string{`{"properties":[]}`, `{"properties":{"a":1}}`, `{"properties":{"a":{},"a":{}}}`} {
		if err := json.Unmarshal([]byte(text), &form); err == nil {
			t.Errorf("%s is read, want an error", text)
		}
	}
	if err := json.Unmarshal([]byte(`{"properties":null}`), &form); err != nil || form.Properties != nil {
		t.Errorf("null makes %v, %v; want no fields", form.Properties, err)
	}
}

func TestElicitationCapabilityMeansFormsWhenEmpty(t *testing.T) {
	tests := []struct {
		text      string
		form, url bool
	}{
		{`{}`, false, false},
		{`{"elicitation":{}}`, true, false},
		{`{"elicitation":{"form":{}}}`, true, false},
		{`{"elicitation":{"url":{}}}`, false, true},
		{`{"elicitation":{"form":{},"url":{}}}`, true, true},
	}
	for _, tt := range tests {
		var c mcp.ClientCapabilities
		if err := json.Unmarshal([]byte(tt.text), &c); err != nil {
			t.Fatal(err)
		}
		if form, url := c.Elicitation.HasForm(), c.Elicitation.HasURL(); form != tt.form || url != tt.url {
			t.Errorf("%s: form %v, url %v; want %v, %v", tt.text, form, url, tt.form, tt.url)
		}
	}
}

func TestToolDisplayNamePrefersTitles(t *testing.T) {
	tool := mcp.Tool{Name: "n"}
	if got := tool.DisplayName(); got != "n" {
		t.Errorf("with a name only: %q", got)
	}
	tool.Annotations = &mcp.ToolAnnotations{Title: "annotated"}
	if got := tool.DisplayName(); got != "annotated" {
		t.Errorf("with an annotation: %q", got)
	}
	tool.Title = "title"
	if got := tool.DisplayName(); got != "title" {
		t.Errorf("with a title: %q", got)
	}
}

func TestToolIsNotChangedByWritingIt(t *testing.T) {
	tool := mcp.Tool{Name: "n"}
	if _, err := json.Marshal(&tool); err != nil {
		t.Fatal(err)
	}
	if tool.InputSchema != nil {
		t.Errorf("the input schema became %s", tool.InputSchema)
	}
	if _, err := json.Marshal(&mcp.Tool{InputSchema: jsontext.Value(`{`)}); err == nil {
		t.Error("a schema that is no JSON is written, want an error")
	}
}

func TestLoggingLevelsRiseInSeverity(t *testing.T) {
	levels := []mcp.LoggingLevel{
		mcp.LevelDebug, mcp.LevelInfo, mcp.LevelNotice, mcp.LevelWarning,
		mcp.LevelError, mcp.LevelCritical, mcp.LevelAlert, mcp.LevelEmergency,
	}
	for i, level := range levels {
		if !level.Valid() {
			t.Errorf("%s is not valid", level)
		}
		for j, lowest := range levels {
			if got := level.AtLeast(lowest); got != (i >= j) {
				t.Errorf("%s at least %s: %v", level, lowest, got)
			}
		}
	}
	for _, bad := range []mcp.LoggingLevel{"", "Debug", "fatal"} {
		if bad.Valid() || bad.AtLeast(mcp.LevelDebug) || mcp.LevelEmergency.AtLeast(bad) {
			t.Errorf("%q passes as a level", bad)
		}
	}
}
