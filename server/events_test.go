package server_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

func TestFiltersAreReadAsPackageJSONReadsThem(t *testing.T) {
	s := shop()
	s.AddResource(mcp.Resource{URI: "a:1", Name: "one"}, func(context.Context, *mcp.Call, server.ReadRequest) ([]mcp.ResourceContents, error) {
		return nil, nil
	})
	s.AddPrompt(mcp.Prompt{Name: "p"}, func(context.Context, *mcp.Call, map[string]string) (*mcp.GetPromptResult, error) {
		return nil, nil
	})
	for _, filter := range []string{
		`{}`,
		`{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true}`,
		` {"toolsListChanged" : false , "unknown" : 1, "resourcesListChanged":true} `,
		`{"toolsListChanged":null,"promptsListChanged":true}`,
		`{"promptsListChanged":true,"resourceSubscriptions":["a:1","a:2"]}`,
		`{"resourceSubscriptions":null}`,
		`null`,
		`{"toolsListChanged":"true"}`, `{"toolsListChanged":1}`, `{"resourceSubscriptions":"a:1"}`, `[]`, `true`,
	} {
		var want mcp.SubscriptionFilter
		wantErr := json.Unmarshal([]byte(filter), &want)
		result, err := handle(t, s, mcp.MethodSubscriptionsListen, `{"notifications":`+filter+`}`)
		if (err == nil) != (wantErr == nil) {
			t.Errorf("%s: got %v, want %v", filter, err, wantErr)
			continue
		}
		if err == nil && !reflect.DeepEqual(result.(*mcp.Subscription).Filter, want) {
			t.Errorf("%s: got %+v, want %+v", filter, result.(*mcp.Subscription).Filter, want)
		}
	}
	if _, err := handle(t, s, mcp.MethodSubscriptionsListen, `{}`); err == nil {
		t.Error("a subscription to nothing at all was taken")
	}
}
