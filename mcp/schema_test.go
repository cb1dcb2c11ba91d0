package mcp_test

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/mcp"
)

// definition is the part of a definition in the schemas that the test reads.
type definition struct {
	Properties map[string]struct {
		Properties map[string]any `json:"properties"`
	} `json:"properties"`
}

// shapes maps the definitions of the schemas to the types that stand for them.
func shapes() map[string]reflect.Type {
	return map[string]reflect.Type{
		"Annotations":                 reflect.TypeFor[mcp.Annotations](),
		"AudioContent":                reflect.TypeFor[mcp.AudioContent](),
		"BlobResourceContents":        reflect.TypeFor[mcp.ResourceContents](),
		"BooleanSchema":               reflect.TypeFor[mcp.FieldSchema](),
		"CallToolRequestParams":       reflect.TypeFor[mcp.CallToolParams](),
		"CallToolResult":              reflect.TypeFor[mcp.CallToolResult](),
		"CancelledNotificationParams": reflect.TypeFor[mcp.CancelledParams](),
		"ClientCapabilities":          reflect.TypeFor[mcp.ClientCapabilities](),
		"CompleteRequestParams":       reflect.TypeFor[mcp.CompleteParams](),
		"CompleteResult":              reflect.TypeFor[mcp.CompleteResult](),
		"CreateMessageRequestParams":  reflect.TypeFor[mcp.CreateMessageParams](),
		"CreateMessageResult":         reflect.TypeFor[mcp.CreateMessageResult](),
		"DiscoverResult":              reflect.TypeFor[mcp.DiscoverResult](),

		"ElicitRequestParams":                   reflect.TypeFor[mcp.ElicitParams](),
		"ElicitRequestFormParams":               reflect.TypeFor[mcp.ElicitParams](),
		"ElicitRequestURLParams":                reflect.TypeFor[mcp.ElicitParams](),
		"ElicitResult":                          reflect.TypeFor[mcp.ElicitResult](),
		"ElicitationCompleteNotificationParams": reflect.TypeFor[mcp.ElicitationCompleteParams](),
		"EmbeddedResource":                      reflect.TypeFor[mcp.EmbeddedResource](),
		"EnumSchema":                            reflect.TypeFor[mcp.FieldSchema](),
		"GetPromptRequestParams":                reflect.TypeFor[mcp.GetPromptParams](),
		"GetPromptResult":                       reflect.TypeFor[mcp.GetPromptResult](),
		"Icon":                                  reflect.TypeFor[mcp.Icon](),
		"ImageContent":                          reflect.TypeFor[mcp.ImageContent](),
		"Implementation":                        reflect.TypeFor[mcp.Implementation](),
		"InitializeRequestParams":               reflect.TypeFor[mcp.InitializeParams](),
		"InitializeResult":                      reflect.TypeFor[mcp.InitializeResult](),
		"InputRequiredResult":                   reflect.TypeFor[mcp.InputRequiredResult](),
		"LegacyTitledEnumSchema":                reflect.TypeFor[mcp.FieldSchema](),

		"InitializedNotificationParams":         reflect.TypeFor[mcp.EmptyParams](),
		"ListPromptsRequestParams":              reflect.TypeFor[mcp.ListPromptsParams](),
		"ListResourceTemplatesRequestParams":    reflect.TypeFor[mcp.ListResourceTemplatesParams](),
		"ListResourcesRequestParams":            reflect.TypeFor[mcp.ListResourcesParams](),
		"ListRootsRequestParams":                reflect.TypeFor[mcp.ListRootsParams](),
		"ListToolsRequestParams":                reflect.TypeFor[mcp.ListToolsParams](),
		"PingRequestParams":                     reflect.TypeFor[mcp.EmptyParams](),
		"PromptListChangedNotificationParams":   reflect.TypeFor[mcp.EmptyParams](),
		"ResourceListChangedNotificationParams": reflect.TypeFor[mcp.EmptyParams](),
		"RootsListChangedNotificationParams":    reflect.TypeFor[mcp.EmptyParams](),
		"ToolListChangedNotificationParams":     reflect.TypeFor[mcp.EmptyParams](),
		"Result":                                reflect.TypeFor[mcp.EmptyResult](),

		"ListPromptsResult":                reflect.TypeFor[mcp.ListPromptsResult](),
		"ListResourceTemplatesResult":      reflect.TypeFor[mcp.ListResourceTemplatesResult](),
		"ListResourcesResult":              reflect.TypeFor[mcp.ListResourcesResult](),
		"ListRootsResult":                  reflect.TypeFor[mcp.ListRootsResult](),
		"ListToolsResult":                  reflect.TypeFor[mcp.ListToolsResult](),
		"LoggingMessageNotificationParams": reflect.TypeFor[mcp.LoggingMessageParams](),
		"ModelHint":                        reflect.TypeFor[mcp.ModelHint](),
		"ModelPreferences":                 reflect.TypeFor[mcp.ModelPreferences](),
		"NotificationParams":               reflect.TypeFor[mcp.EmptyParams](),
		"NumberSchema":                     reflect.TypeFor[mcp.FieldSchema](),
		"PaginatedRequestParams":           reflect.TypeFor[mcp.PageParams](),
		"ProgressNotificationParams":       reflect.TypeFor[mcp.ProgressParams](),
		"Prompt":                           reflect.TypeFor[mcp.Prompt](),
		"PromptArgument":                   reflect.TypeFor[mcp.PromptArgument](),
		"PromptMessage":                    reflect.TypeFor[mcp.PromptMessage](),
		"PromptReference":                  reflect.TypeFor[mcp.CompleteReference](),
		"ReadResourceRequestParams":        reflect.TypeFor[mcp.ReadResourceParams](),
		"ReadResourceResult":               reflect.TypeFor[mcp.ReadResourceResult](),
		"RequestParams":                    reflect.TypeFor[mcp.EmptyParams](),
		"Resource":                         reflect.TypeFor[mcp.Resource](),

		"ResourceContents":                            reflect.TypeFor[mcp.ResourceContents](),
		"ResourceLink":                                reflect.TypeFor[mcp.ResourceLink](),
		"ResourceReference":                           reflect.TypeFor[mcp.CompleteReference](),
		"ResourceTemplate":                            reflect.TypeFor[mcp.ResourceTemplate](),
		"ResourceTemplateReference":                   reflect.TypeFor[mcp.CompleteReference](),
		"ResourceUpdatedNotificationParams":           reflect.TypeFor[mcp.ResourceUpdatedParams](),
		"Root":                                        reflect.TypeFor[mcp.Root](),
		"SamplingMessage":                             reflect.TypeFor[mcp.SamplingMessage](),
		"ServerCapabilities":                          reflect.TypeFor[mcp.ServerCapabilities](),
		"SetLevelRequestParams":                       reflect.TypeFor[mcp.SetLevelParams](),
		"StringSchema":                                reflect.TypeFor[mcp.FieldSchema](),
		"SubscribeRequestParams":                      reflect.TypeFor[mcp.SubscribeParams](),
		"SubscriptionFilter":                          reflect.TypeFor[mcp.SubscriptionFilter](),
		"SubscriptionsListenRequestParams":            reflect.TypeFor[mcp.SubscriptionsListenParams](),
		"SubscriptionsListenResult":                   reflect.TypeFor[mcp.SubscriptionsListenResult](),
		"SubscriptionsAcknowledgedNotificationParams": reflect.TypeFor[mcp.SubscriptionsAcknowledgedParams](),

		"TextContent":                    reflect.TypeFor[mcp.TextContent](),
		"TextResourceContents":           reflect.TypeFor[mcp.ResourceContents](),
		"TitledMultiSelectEnumSchema":    reflect.TypeFor[mcp.FieldSchema](),
		"TitledSingleSelectEnumSchema":   reflect.TypeFor[mcp.FieldSchema](),
		"Tool":                           reflect.TypeFor[mcp.Tool](),
		"ToolAnnotations":                reflect.TypeFor[mcp.ToolAnnotations](),
		"ToolChoice":                     reflect.TypeFor[mcp.ToolChoice](),
		"ToolExecution":                  reflect.TypeFor[mcp.ToolExecution](),
		"ToolResultContent":              reflect.TypeFor[mcp.ToolResultContent](),
		"ToolUseContent":                 reflect.TypeFor[mcp.ToolUseContent](),
		"UnsubscribeRequestParams":       reflect.TypeFor[mcp.UnsubscribeParams](),
		"UntitledMultiSelectEnumSchema":  reflect.TypeFor[mcp.FieldSchema](),
		"UntitledSingleSelectEnumSchema": reflect.TypeFor[mcp.FieldSchema](),
	}
}

func TestTypesHaveEveryMemberOfTheSchemasOfAllRevisions(t *testing.T) {
	table := shapes()
	seen := map[string]bool{}
	for _, file := range sharedFiles(t, "*.schema.json") {
		revision := strings.TrimSuffix(filepath.Base(file), ".schema.json")
		for name, d := range definitionsOf(t, file) {
			shape, ok := table[name]
			names := slices.Collect(maps.Keys(d.Properties))
			if params := d.Properties["params"].Properties; !ok && params != nil {
				name += "Params" // older schemas have no definition of their own for them
				shape, ok = table[name]
				names = slices.Collect(maps.Keys(params))
			}
			if !ok {
				if len(names) > 0 && !elsewhere(name) {
					t.Errorf("%s: %s stands for no type", revision, name)
				}
				continue
			}
			seen[name] = true
			have := membersOf(shape)
			for _, member := range names {
				// The fields of deferred results are not part of this package.
				if !have[member] && member != "task" && member != "tasks" {
					t.Errorf("%s: %s has the member %s, %s has not", revision, name, member, shape)
				}
			}
		}
	}
	for name := range table {
		if !seen[name] {
			t.Errorf("the table has an entry for %s, which is in no schema", name)
		}
	}
}

// elsewhere tells whether a definition belongs to JSON-RPC, to the errors, to
// _meta or to deferred results, is a message around something in the table, or
// is a base that others in the table extend.
func elsewhere(name string) bool {
	for _, part := range []string{"JSONRPC", "Task"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	for _, end := range []string{"Request", "Notification", "Response", "Error", "MetaObject"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	bases := []string{
		"Annotated", "BaseMetadata", "Icons", "CacheableResult", "PaginatedResult",
		"InputResponseRequestParams", "ResourceRequestParams",
	}
	return slices.Contains(bases, name)
}

func definitionsOf(t *testing.T, file string) map[string]definition {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Definitions map[string]definition `json:"definitions"`
		Defs        map[string]definition `json:"$defs"`
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	if schema.Definitions == nil {
		return schema.Defs
	}
	return schema.Definitions
}

// membersOf returns the names of the JSON members of a struct. Content has a
// type besides its fields.
func membersOf(shape reflect.Type) map[string]bool {
	members := map[string]bool{}
	for _, field := range reflect.VisibleFields(shape) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		members[name] = name != ""
	}
	if reflect.PointerTo(shape).Implements(reflect.TypeFor[mcp.Content]()) {
		members["type"] = true
	}
	return members
}
