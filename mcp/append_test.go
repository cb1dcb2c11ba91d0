package mcp_test

import (
	"math"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

func TestWhatServersSayOftenIsAppendedAsPackageJSONWritesIt(t *testing.T) {
	ttl, next, yes := int64(5), "n\"", true
	total, none := 1e21, math.NaN()
	object := jsontext.Value(`{"type":"object"}`)
	everything := mcp.ServerCapabilities{
		Logging: &mcp.Supported{}, Completions: &mcp.Supported{}, Prompts: &mcp.PromptsCapability{ListChanged: true},
		Resources: &mcp.ResourcesCapability{Subscribe: true, ListChanged: true}, Tools: &mcp.ToolsCapability{},
	}
	for name, v := range map[string]jsonrpc.Appender{
		"a name":                    &mcp.Implementation{Name: "a\n", Version: "1"},
		"a title":                   &mcp.Implementation{Name: "a", Title: "A", Version: "1"},
		"an address":                &mcp.Implementation{Name: "a", Version: "1", Description: "d", WebsiteURL: "https://example.com", Icons: []mcp.Icon{{Src: "x"}}},
		"a name that is no UTF-8":   &mcp.Implementation{Name: "\xff"},
		"an address and no icons":   &mcp.Implementation{Name: "a", Version: "1", Description: "d", WebsiteURL: "https://example.com"},
		"an empty greeting":         &mcp.InitializeResult{},
		"a greeting":                &mcp.InitializeResult{ProtocolVersion: "1", ServerInfo: mcp.Implementation{Name: "a", Title: "A", Version: "1"}, Instructions: "Be \"kind\".", Capabilities: everything},
		"a greeting with icons":     &mcp.InitializeResult{ServerInfo: mcp.Implementation{Name: "a", Icons: []mcp.Icon{{Src: "x"}}}},
		"a greeting with a meta":    &mcp.InitializeResult{Meta: mcp.Meta(`{"a":1}`), Capabilities: mcp.ServerCapabilities{Prompts: &mcp.PromptsCapability{}, Resources: &mcp.ResourcesCapability{ListChanged: true}}},
		"a greeting of an extender": &mcp.InitializeResult{Capabilities: mcp.ServerCapabilities{Extensions: map[string]jsontext.Value{"a/b": object}}},
		"an empty discovery":        &mcp.DiscoverResult{},
		"a discovery":               &mcp.DiscoverResult{Meta: mcp.Meta(`{"a":1}`), ResultType: mcp.ResultComplete, TTLMs: &ttl, CacheScope: mcp.CachePublic, SupportedVersions: []string{"1", "2\n"}, Instructions: "Be kind.", Capabilities: everything},
		"a discovery of a tinkerer": &mcp.DiscoverResult{Capabilities: mcp.ServerCapabilities{Experimental: map[string]jsontext.Value{"a": object}}},
		"a version of no UTF-8":     &mcp.DiscoverResult{SupportedVersions: []string{"\xff"}},
		"a meta that is no JSON":    &mcp.DiscoverResult{Meta: mcp.Meta(`{"a"`)},
		"a subscription to nothing": &mcp.SubscriptionsListenParams{},
		"a subscription":            &mcp.SubscriptionsListenParams{Notifications: mcp.SubscriptionFilter{ToolsListChanged: true, ResourcesListChanged: true}},
		"a subscription to much":    &mcp.SubscriptionsListenParams{Meta: mcp.Meta(`{}`), Notifications: mcp.SubscriptionFilter{PromptsListChanged: true, ResourceSubscriptions: []string{"a:b", "\n"}, TaskIDs: []string{}}},
		"no tools":                  &mcp.ListToolsResult{},
		"a page of tools":           &mcp.ListToolsResult{ResultType: mcp.ResultComplete, TTLMs: &ttl, CacheScope: mcp.CachePublic, NextCursor: &next, Tools: []mcp.Tool{{Name: "a", Title: "A", Description: "d", InputSchema: object, OutputSchema: object}, {Name: "b"}}},
		"a page with a meta":        &mcp.ListToolsResult{Meta: mcp.Meta(`{}`)},
		"a tool with annotations":   &mcp.ListToolsResult{Tools: []mcp.Tool{{Name: "a", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: &yes}}}},
		"a tool with all hints":     &mcp.ListToolsResult{Tools: []mcp.Tool{{Name: "a", OutputSchema: object, Annotations: &mcp.ToolAnnotations{Title: "A", ReadOnlyHint: new(bool), DestructiveHint: &yes, IdempotentHint: &yes, OpenWorldHint: new(bool)}}, {Name: "b", Annotations: &mcp.ToolAnnotations{}}}},
		"a tool with icons":         &mcp.ListToolsResult{Tools: []mcp.Tool{{Name: "a", Icons: []mcp.Icon{{Src: "x"}}, Meta: mcp.Meta(`{"a":1}`)}}},
		"a schema of many lines":    &mcp.ListToolsResult{Tools: []mcp.Tool{{Name: "a", InputSchema: jsontext.Value("{\n}")}}},
		"a schema that is no JSON":  &mcp.ListToolsResult{Tools: []mcp.Tool{{Name: "a", InputSchema: jsontext.Value("{")}}},
		"a cursor that is no UTF-8": &mcp.ListToolsResult{NextCursor: new("\xff")},

		"progress":                        &mcp.ProgressParams{ProgressToken: jsontext.Value(`"a"`), Progress: 1},
		"progress with all there is":      &mcp.ProgressParams{Meta: mcp.Meta(`{"a":1}`), ProgressToken: jsontext.Value(`7`), Progress: 0.1, Total: &total, Message: "half\n"},
		"progress of a total":             &mcp.ProgressParams{ProgressToken: jsontext.Value(`7`), Progress: 1e-7, Total: &total, Message: "half\n"},
		"progress without a token":        &mcp.ProgressParams{Progress: 1},
		"progress with a bad token":       &mcp.ProgressParams{ProgressToken: jsontext.Value(`"a`), Progress: 1},
		"progress that is no number":      &mcp.ProgressParams{ProgressToken: jsontext.Value(`7`), Progress: none},
		"a total that is no number":       &mcp.ProgressParams{ProgressToken: jsontext.Value(`7`), Total: &none},
		"a progress message of odd bytes": &mcp.ProgressParams{ProgressToken: jsontext.Value(`7`), Message: "\xff"},
	} {
		t.Run(name, func(t *testing.T) {
			want, wantErr := json.Marshal(v)
			got, err := v.AppendJSON([]byte("x"))
			if (err == nil) != (wantErr == nil) || err == nil && string(got) != "x"+string(want) {
				t.Errorf("got  %s, %v\nwant %s, %v", got, err, want, wantErr)
			}
		})
	}
}

func TestAProgressTokenStaysAsItIs(t *testing.T) {
	const token = `"\u0061\/"`
	got, err := (&mcp.ProgressParams{ProgressToken: jsontext.Value(token)}).AppendJSON(nil)
	if want := `{"progressToken":` + token + `,"progress":0}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}
