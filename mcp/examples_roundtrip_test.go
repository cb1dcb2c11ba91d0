package mcp_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

// document says how to check the examples of one type of the schema.
type document struct {
	method string     // what the message's method must be; empty for no message
	part   string     // the member that is read, by dots; empty for the whole text
	value  func() any // a fresh value to read into; nil when there is nothing to read
}

func of[T any]() any { return new(T) }

// request, answer and whole build documents of the usual forms.
func request[T any](method string) document { return document{method, "params", of[T]} }
func answer[T any]() document               { return document{"", "result", of[T]} }
func whole[T any]() document                { return document{"", "", of[T]} }

// documents maps each type name of the schema that has examples.
func documents() map[string]document {
	return map[string]document{
		"AudioContent":      whole[mcp.AudioContent](),
		"EmbeddedResource":  whole[mcp.EmbeddedResource](),
		"ImageContent":      whole[mcp.ImageContent](),
		"ResourceLink":      whole[mcp.ResourceLink](),
		"TextContent":       whole[mcp.TextContent](),
		"ToolResultContent": whole[mcp.ToolResultContent](),
		"ToolUseContent":    whole[mcp.ToolUseContent](),

		"CallToolRequest":                  request[mcp.CallToolParams](mcp.MethodCallTool),
		"CallToolRequestParams":            whole[mcp.CallToolParams](),
		"CallToolResult":                   whole[mcp.CallToolResult](),
		"CallToolResultResponse":           answer[mcp.CallToolResult](),
		"ListToolsRequest":                 request[mcp.ListToolsParams](mcp.MethodListTools),
		"ListToolsResult":                  whole[mcp.ListToolsResult](),
		"ListToolsResultResponse":          answer[mcp.ListToolsResult](),
		"PaginatedRequestParams":           whole[mcp.PageParams](),
		"Tool":                             whole[mcp.Tool](),
		"ToolListChangedNotification":      request[mcp.EmptyParams](mcp.NotificationToolsListChanged),
		"CancelledNotification":            request[mcp.CancelledParams](mcp.NotificationCancelled),
		"CancelledNotificationParams":      whole[mcp.CancelledParams](),
		"ProgressNotification":             request[mcp.ProgressParams](mcp.NotificationProgress),
		"ProgressNotificationParams":       whole[mcp.ProgressParams](),
		"LoggingMessageNotification":       request[mcp.LoggingMessageParams](mcp.NotificationMessage),
		"LoggingMessageNotificationParams": whole[mcp.LoggingMessageParams](),

		"BlobResourceContents":                whole[mcp.ResourceContents](),
		"TextResourceContents":                whole[mcp.ResourceContents](),
		"Resource":                            whole[mcp.Resource](),
		"ListResourcesRequest":                request[mcp.ListResourcesParams](mcp.MethodListResources),
		"ListResourcesResult":                 whole[mcp.ListResourcesResult](),
		"ListResourcesResultResponse":         answer[mcp.ListResourcesResult](),
		"ListResourceTemplatesRequest":        request[mcp.ListResourceTemplatesParams](mcp.MethodListResourceTemplates),
		"ListResourceTemplatesResult":         whole[mcp.ListResourceTemplatesResult](),
		"ListResourceTemplatesResultResponse": answer[mcp.ListResourceTemplatesResult](),
		"ReadResourceRequest":                 request[mcp.ReadResourceParams](mcp.MethodReadResource),
		"ReadResourceResult":                  whole[mcp.ReadResourceResult](),
		"ReadResourceResultResponse":          answer[mcp.ReadResourceResult](),
		"ResourceListChangedNotification":     request[mcp.EmptyParams](mcp.NotificationResourcesListChanged),
		"ResourceUpdatedNotification":         request[mcp.ResourceUpdatedParams](mcp.NotificationResourceUpdated),
		"ResourceUpdatedNotificationParams":   whole[mcp.ResourceUpdatedParams](),

		"GetPromptRequest":              request[mcp.GetPromptParams](mcp.MethodGetPrompt),
		"GetPromptRequestParams":        whole[mcp.GetPromptParams](),
		"GetPromptResult":               whole[mcp.GetPromptResult](),
		"GetPromptResultResponse":       answer[mcp.GetPromptResult](),
		"ListPromptsRequest":            request[mcp.ListPromptsParams](mcp.MethodListPrompts),
		"ListPromptsResult":             whole[mcp.ListPromptsResult](),
		"ListPromptsResultResponse":     answer[mcp.ListPromptsResult](),
		"PromptListChangedNotification": request[mcp.EmptyParams](mcp.NotificationPromptsListChanged),
		"CompleteRequest":               request[mcp.CompleteParams](mcp.MethodComplete),
		"CompleteRequestParams":         whole[mcp.CompleteParams](),
		"CompleteResult":                whole[mcp.CompleteResult](),
		"CompleteResultResponse":        answer[mcp.CompleteResult](),

		"ClientCapabilities":                    whole[mcp.ClientCapabilities](),
		"ServerCapabilities":                    whole[mcp.ServerCapabilities](),
		"DiscoverRequest":                       request[mcp.DiscoverParams](mcp.MethodDiscover),
		"DiscoverResult":                        whole[mcp.DiscoverResult](),
		"DiscoverResultResponse":                answer[mcp.DiscoverResult](),
		"SubscriptionsListenRequest":            request[mcp.SubscriptionsListenParams](mcp.MethodSubscriptionsListen),
		"SubscriptionsListenResult":             whole[mcp.SubscriptionsListenResult](),
		"SubscriptionsListenResultResponse":     answer[mcp.SubscriptionsListenResult](),
		"SubscriptionsAcknowledgedNotification": request[mcp.SubscriptionsAcknowledgedParams](mcp.NotificationSubscriptionsAcknowledged),

		"CreateMessageRequest":       request[mcp.CreateMessageParams](mcp.MethodCreateMessage),
		"CreateMessageRequestParams": whole[mcp.CreateMessageParams](),
		"CreateMessageResult":        whole[mcp.CreateMessageResult](),
		"SamplingMessage":            whole[mcp.SamplingMessage](),
		"ModelPreferences":           whole[mcp.ModelPreferences](),
		"ListRootsRequest":           {method: mcp.MethodListRoots},
		"ListRootsResult":            whole[mcp.ListRootsResult](),
		"Root":                       whole[mcp.Root](),

		"ElicitRequest":                  request[mcp.ElicitParams](mcp.MethodElicit),
		"ElicitRequestFormParams":        whole[mcp.ElicitParams](),
		"ElicitRequestURLParams":         whole[mcp.ElicitParams](),
		"ElicitResult":                   whole[mcp.ElicitResult](),
		"BooleanSchema":                  whole[mcp.FieldSchema](),
		"NumberSchema":                   whole[mcp.FieldSchema](),
		"StringSchema":                   whole[mcp.FieldSchema](),
		"TitledMultiSelectEnumSchema":    whole[mcp.FieldSchema](),
		"TitledSingleSelectEnumSchema":   whole[mcp.FieldSchema](),
		"UntitledMultiSelectEnumSchema":  whole[mcp.FieldSchema](),
		"UntitledSingleSelectEnumSchema": whole[mcp.FieldSchema](),

		"InputRequests":       whole[mcp.InputRequests](),
		"InputRequiredResult": whole[mcp.InputRequiredResult](),
		"InputResponses":      whole[mcp.InputResponses](),

		"InternalError":                        whole[jsonrpc.Error](),
		"InvalidParamsError":                   whole[jsonrpc.Error](),
		"MethodNotFoundError":                  whole[jsonrpc.Error](),
		"ParseError":                           whole[jsonrpc.Error](),
		"HeaderMismatchError":                  {"", "error", of[jsonrpc.Error]},
		"MissingRequiredClientCapabilityError": {"", "error.data.requiredCapabilities", of[mcp.ClientCapabilities]},
		"UnsupportedProtocolVersionError":      {"", "error", of[jsonrpc.Error]},
	}
}

func TestExamplesOfTheSpecificationSurviveARoundTrip(t *testing.T) {
	files := sharedFiles(t, "*.examples/*.json")
	table := documents()
	seen := map[string]bool{}
	for _, file := range files {
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		seen[name] = true
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			doc, ok := table[name]
			if !ok {
				t.Fatalf("the type %s has no entry in the table", name)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			checkMethod(t, text, doc.method)
			if doc.value != nil {
				roundTrip(t, pick(t, text, doc.part), doc.value())
			}
		})
	}
	for name := range table {
		if !seen[name] {
			t.Errorf("the table has an entry for %s, which has no example", name)
		}
	}
}

// roundTrip reads text strictly into value, writes value, and compares.
func roundTrip(t *testing.T, text jsontext.Value, value any) {
	t.Helper()
	if err := json.Unmarshal(text, value, json.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("read: %v", err)
	}
	got, err := json.Marshal(value)
	if err != nil {
		t.Fatalf("write: %v", err)
	}
	if _, ok := value.(*mcp.CallToolResult); ok {
		text = withIsError(t, text)
	}
	if g, w := canonical(t, got), canonical(t, text); g != w {
		t.Errorf("after the round trip\n got %s\nwant %s", g, w)
	}
}

// withIsError adds the member that CallToolResult always writes.
func withIsError(t *testing.T, text jsontext.Value) jsontext.Value {
	t.Helper()
	members := map[string]jsontext.Value{}
	if err := json.Unmarshal(text, &members); err != nil {
		t.Fatal(err)
	}
	if members["isError"] == nil {
		members["isError"] = jsontext.Value("false")
	}
	text, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func checkMethod(t *testing.T, text jsontext.Value, want string) {
	t.Helper()
	if want == "" {
		return
	}
	var message struct {
		Method string `json:"method"`
	}
	if err := json.Unmarshal(text, &message); err != nil {
		t.Fatal(err)
	}
	if message.Method != want {
		t.Errorf("method is %q, want %q", message.Method, want)
	}
}

// pick returns the member at the end of a path of names with dots.
func pick(t *testing.T, text jsontext.Value, path string) jsontext.Value {
	t.Helper()
	if path == "" {
		return text
	}
	for name := range strings.SplitSeq(path, ".") {
		var members map[string]jsontext.Value
		if err := json.Unmarshal(text, &members); err != nil {
			t.Fatal(err)
		}
		if text = members[name]; text == nil {
			t.Fatalf("there is no member %s", name)
		}
	}
	return text
}

// canonical returns text in the one form that equal values share.
func canonical(t *testing.T, text jsontext.Value) string {
	t.Helper()
	text = text.Clone()
	if err := text.Canonicalize(); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return string(text)
}

// sharedFiles lists the files of the specification that match pattern. They lie
// beside the repository; without them the test is skipped, and fails in CI.
func sharedFiles(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "shared", "spec", pattern))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no %s in ../shared/spec beside the repository: CI needs it", pattern)
		}
		t.Skipf("no %s in ../shared/spec beside the repository", pattern)
	}
	slices.Sort(files)
	return files
}
