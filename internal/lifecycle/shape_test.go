package lifecycle

import (
	"context"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
)

// full are results with every member that some revision does not know.
func full() []any {
	ttl, one := int64(1), 1.0
	meta := mcp.Meta(`{"com.example/x":1}`)
	icons := []mcp.Icon{{Src: "https://example.com/i.png"}}
	notes := &mcp.Annotations{LastModified: "now", Priority: &one}
	resource := mcp.Resource{URI: "a:b", Name: "n", Title: "T", Icons: icons, Meta: meta, Annotations: notes}
	contents := mcp.ResourceContents{URI: "a:b", Text: "x", Meta: meta}
	blocks := mcp.Contents{
		&mcp.TextContent{Text: "x", Annotations: notes, Meta: meta}, &mcp.ImageContent{Annotations: notes, Meta: meta},
		&mcp.AudioContent{Annotations: notes, Meta: meta}, mcp.Link(resource),
		&mcp.EmbeddedResource{Resource: contents, Annotations: notes, Meta: meta}, mcp.Text("plain"),
	}
	return []any{
		&mcp.CallToolResult{Content: blocks, StructuredContent: jsontext.Value(`[1]`)},
		&mcp.ListToolsResult{TTLMs: &ttl, CacheScope: mcp.CachePublic, Tools: []mcp.Tool{{
			Name: "n", Title: "T", Icons: icons, Meta: meta, Annotations: &mcp.ToolAnnotations{Title: "T"}, OutputSchema: jsontext.Value(`{"type":"array"}`),
		}}},
		&mcp.ListResourcesResult{TTLMs: &ttl, CacheScope: mcp.CachePublic, Resources: []mcp.Resource{resource}},
		&mcp.ListResourceTemplatesResult{TTLMs: &ttl, ResourceTemplates: []mcp.ResourceTemplate{{
			URITemplate: "a:{b}", Name: "n", Title: "T", Icons: icons, Meta: meta, Annotations: &mcp.Annotations{LastModified: "now"},
		}}},
		&mcp.ListPromptsResult{TTLMs: &ttl, Prompts: []mcp.Prompt{{
			Name: "n", Title: "T", Icons: icons, Meta: meta, Arguments: []mcp.PromptArgument{{Name: "a", Title: "A"}},
		}}},
		&mcp.ReadResourceResult{TTLMs: &ttl, CacheScope: mcp.CachePublic, Contents: []mcp.ResourceContents{contents}},
		&mcp.GetPromptResult{Messages: []mcp.PromptMessage{{Role: mcp.RoleUser, Content: blocks[0]}, {Role: mcp.RoleUser, Content: blocks[2]}}},
		&mcp.CompleteResult{Completion: mcp.Completion{Values: []string{"x"}}},
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	out, err := jsonrpc.AppendValue(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestShapingLeavesTheResultAlone(t *testing.T) {
	for _, result := range full() {
		before := text(t, result)
		for _, rev := range revision.All() {
			if rev.Stateless {
				continue
			}
			shaped, err := shapeFor(rev, result)
			if err != nil {
				t.Fatal(err)
			}
			out := text(t, shaped)
			if after := text(t, result); after != before {
				t.Fatalf("shaping %T for %s changed it\nfrom %s\nto   %s", result, rev.Name, before, after)
			}
			for member, known := range map[string]bool{
				"resultType": false, "ttlMs": false, "cacheScope": false, "icons": rev.Icons, "title": rev.Structured || rev.Annotated && strings.Contains(before, "outputSchema"),
				"lastModified": rev.Structured, "com.example/x": rev.Structured, "audio": true, "resource_link": rev.Structured,
				"structuredContent": false, "outputSchema": false, // which are no objects
			} {
				if !known && strings.Contains(out, `"`+member+`"`) {
					t.Errorf("%T for %s has %s: %s", result, rev.Name, member, out)
				}
			}
		}
	}
}

func TestAMemoIsEncodedOnceForEachRevision(t *testing.T) {
	memo := &mcp.Memo{Result: full()[1]}
	texts := map[string]bool{}
	for _, rev := range revision.All() {
		if rev.Stateless {
			continue
		}
		first, err := shapeFor(rev, memo)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := shapeFor(rev, memo)
		if a, b := first.(jsontext.Value), again.(jsontext.Value); &a[0] != &b[0] {
			t.Errorf("%s was encoded twice", rev.Name)
		}
		texts[text(t, first)] = true
	}
	if len(texts) != 4 {
		t.Errorf("four revisions have %d shapes", len(texts))
	}
}

func TestProgressWithoutAMessageWhereThereIsNone(t *testing.T) {
	for _, rev := range revision.All() {
		if rev.Stateless {
			continue
		}
		var sent string
		handler := introduced(func(ctx context.Context, c *mcp.Call) (any, error) {
			return struct{}{}, c.Progress(ctx, 1, 2, "half way")
		})
		in := session(nil)
		in.Params = jsontext.Value(`{"name":"x","_meta":{"progressToken":1}}`)
		in.Notify = func(_ context.Context, _ string, params any) error { sent = text(t, params); return nil }
		if _, err := answer(t, opened(t, handler, rev, nil), in); err != nil {
			t.Fatal(err)
		}
		if told := strings.Contains(sent, "half way"); told != rev.Annotated || sent == "" {
			t.Errorf("%s: sent %s", rev.Name, sent)
		}
	}
}

func TestVisitsHaveAnIDWhereTheRevisionWantsOne(t *testing.T) {
	visit := introduced(func(_ context.Context, c *mcp.Call) (any, error) {
		_, err := c.Elicit("visit", &mcp.ElicitParams{Mode: mcp.ElicitURL, URL: "https://example.com", Message: "go"})
		return struct{}{}, err
	})
	ids := map[string]bool{}
	for range 3 {
		ask := func(_ string, params any) (string, error) {
			var p mcp.ElicitParams
			if err := json.Unmarshal([]byte(text(t, params)), &p); err != nil {
				t.Fatal(err)
			}
			ids[p.ElicitationID] = true
			return `{"action":"accept"}`, nil
		}
		if _, err := answer(t, opened(t, visit, revision.NewestHandshake(), nil), session(ask)); err != nil {
			t.Fatal(err)
		}
	}
	if len(ids) != 3 || ids[""] {
		t.Errorf("three visits have the ids %v", ids)
	}
}

func TestWhatAResultBringsItselfWins(t *testing.T) {
	name := `"` + mcp.MetaServerInfo + `":{"name":"x","version":"1"}`
	for _, test := range []struct {
		name, method string
		result       any
		want         string
	}{
		{"an empty result", "x/y", struct{}{}, `{"resultType":"complete","_meta":{` + name + `}}`},
		{"a result with members", "x/y", jsontext.Value(` {"a":1}`), `{"resultType":"complete","_meta":{` + name + `} ,"a":1}`},
		{"its own _meta", "x/y", jsontext.Value(`{"a":1,"_meta":{"k":2}}`), `{"resultType":"complete","_meta":{"k":2,` + name + `},"a":1}`},
		{"its own name", "x/y", jsontext.Value(`{"_meta":{"` + mcp.MetaServerInfo + `":{}}}`), `{"resultType":"complete","_meta":{"` + mcp.MetaServerInfo + `":{}}}`},
		{"its own type", "x/y", jsontext.Value(`{"resultType":"later"}`), `{"resultType":"later","_meta":{` + name + `}}`},
		{"what is no object", "x/y", []int{1}, `[1]`},
		{"nothing", "x/y", nil, `null`},
		{"a list without hints", mcp.MethodListTools, jsontext.Value(`{"tools":[]}`), `{"resultType":"complete","_meta":{` + name + `},"tools":[],"ttlMs":0,"cacheScope":"private"}`},
		{"a list with hints", mcp.MethodListTools, jsontext.Value(`{"tools":[],"ttlMs":5,"cacheScope":"public"}`), `{"resultType":"complete","_meta":{` + name + `},"tools":[],"ttlMs":5,"cacheScope":"public"}`},
		{"a question in place of a list", mcp.MethodReadResource, jsontext.Value(`{"resultType":"input_required"}`), `{"resultType":"input_required","_meta":{` + name + `}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			door := NewStateless(introduced(func(context.Context, *mcp.Call) (any, error) { return test.result, nil }), quiet())
			got, err := answer(t, door, modern(test.method, `{}`))
			if err != nil {
				t.Fatal(err)
			}
			a, b := jsontext.Value(got), jsontext.Value(test.want)
			if a.Canonicalize() != nil || b.Canonicalize() != nil || string(a) != string(b) {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestClientsThatTakeTurnsAreKeptApart(t *testing.T) {
	door := NewStateless(introduced(func(_ context.Context, c *mcp.Call) (any, error) {
		return map[string]any{"name": c.Client.Info.Name, "roots": c.Client.Capabilities.Roots != nil}, nil
	}), quiet())
	ask := func(name, capabilities string) string {
		params := `{"_meta":{"` + mcp.MetaProtocolVersion + `":"` + revision.Newest().Name + `","` + mcp.MetaClientInfo + `":{"name":"` + name + `","version":"1"},"` +
			mcp.MetaClientCapabilities + `":` + capabilities + `}}`
		got, err := answer(t, door, &Incoming{ID: jsonrpc.IntID(1), Method: "x/y", Params: jsontext.Value(params)})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	long := strings.Repeat("long", 2000)
	for range 3 {
		for name, capabilities := range map[string]string{"ada": `{}`, "bob": `{"roots":{}}`, long: `{"roots":{}}`} {
			got := ask(name, capabilities)
			if !strings.Contains(got, `"`+name+`"`) || strings.Contains(got, `"roots":true`) != (capabilities != "{}") {
				t.Errorf("%.20s with %s was taken for %.200s", name, capabilities, got)
			}
		}
	}
}
