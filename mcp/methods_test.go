package mcp_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/mcp"
)

func TestMethodsAreThoseOfTheSchemasOfAllRevisions(t *testing.T) {
	ours := []string{
		mcp.MethodDiscover, mcp.MethodListTools, mcp.MethodCallTool, mcp.MethodListResources,
		mcp.MethodListResourceTemplates, mcp.MethodReadResource, mcp.MethodListPrompts, mcp.MethodGetPrompt,
		mcp.MethodComplete, mcp.MethodSubscriptionsListen, mcp.MethodInitialize, mcp.MethodSetLevel,
		mcp.MethodSubscribe, mcp.MethodUnsubscribe, mcp.MethodCreateMessage, mcp.MethodElicit,
		mcp.MethodListRoots, mcp.MethodPing, mcp.MethodGetDeferred, mcp.MethodDeferredResult,
		mcp.MethodListDeferred, mcp.MethodCancelDeferred,
		mcp.NotificationCancelled, mcp.NotificationProgress, mcp.NotificationMessage,
		mcp.NotificationToolsListChanged, mcp.NotificationPromptsListChanged,
		mcp.NotificationResourcesListChanged, mcp.NotificationResourceUpdated,
		mcp.NotificationSubscriptionsAcknowledged, mcp.NotificationInitialized,
		mcp.NotificationRootsListChanged, mcp.NotificationElicitationComplete, mcp.NotificationDeferredStatus,
	}
	slices.Sort(ours)

	found := map[string]bool{}
	for _, file := range sharedFiles(t, "*.schema.json") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, method := range methodsOf(t, text) {
			found[method] = true
		}
	}
	schemas := slices.Sorted(maps.Keys(found))
	if !slices.Equal(ours, schemas) {
		t.Errorf("the constants are\n%s\nand the schemas have\n%s", strings.Join(ours, "\n"), strings.Join(schemas, "\n"))
	}
}

// methodsOf returns the constants that a schema gives to members named method.
func methodsOf(t *testing.T, text []byte) []string {
	t.Helper()
	type definitions map[string]struct {
		Properties map[string]jsontext.Value `json:"properties"`
	}
	var schema struct {
		Definitions definitions `json:"definitions"`
		Defs        definitions `json:"$defs"`
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	if schema.Definitions == nil {
		schema.Definitions = schema.Defs
	}
	var methods []string
	for _, d := range schema.Definitions {
		var method struct {
			Const string `json:"const"`
		}
		if raw := d.Properties["method"]; raw != nil {
			if err := json.Unmarshal(raw, &method); err != nil {
				t.Fatal(err)
			}
		}
		if method.Const != "" {
			methods = append(methods, method.Const)
		}
	}
	return methods
}
