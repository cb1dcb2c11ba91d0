package mcp_test

import (
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/mcp"
)

func TestDeferredResultsKeepEveryMember(t *testing.T) {
	for _, text := range []string{
		`{"resultType":"task","taskId":"a","status":"working","statusMessage":"m","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:40:00.123Z","ttlMs":60000,"pollIntervalMs":5000}`,
		`{"taskId":"a","status":"input_required","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:40:00Z","ttlMs":null,"inputRequests":{"b":{"method":"roots/list"},"a":{"method":"elicitation/create","params":{"message":"m"}}}}`,
		`{"taskId":"a","status":"completed","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:40:00Z","ttlMs":1,"result":{"content":[],"isError":true}}`,
		`{"taskId":"a","status":"failed","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:40:00Z","ttlMs":1,"error":{"code":-32603,"message":"m","data":[1.0]}}`,
	} {
		d := new(mcp.Deferred)
		if err := json.Unmarshal([]byte(text), d, json.RejectUnknownMembers(true)); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		wantJSON(t, d, text)
	}
}

func TestThreeStatesOfDeferredResultsAreFinal(t *testing.T) {
	for status, want := range map[mcp.DeferredStatus]bool{
		mcp.DeferredWorking: false, mcp.DeferredInputRequired: false,
		mcp.DeferredCompleted: true, mcp.DeferredFailed: true, mcp.DeferredCancelled: true, "": false, "paused": false,
	} {
		if got := status.Final(); got != want {
			t.Errorf("%q is final: %v", status, got)
		}
	}
}

func TestClientsDeclareTheExtensionByAnObject(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`:                false,
		`{"extensions":{}}`: false,
		`{"extensions":{"io.modelcontextprotocol/tasks":{}}}`:      true,
		`{"extensions":{"io.modelcontextprotocol/tasks":{"x":1}}}`: true,
		`{"extensions":{"io.modelcontextprotocol/tasks":null}}`:    false,
		`{"extensions":{"io.modelcontextprotocol/tasks":true}}`:    false,
		`{"extensions":{"io.modelcontextprotocol/Tasks":{}}}`:      false,
	} {
		var c mcp.ClientCapabilities
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			t.Fatal(err)
		}
		if got := c.Deferred(); got != want {
			t.Errorf("%s declares: %v", text, got)
		}
	}
}

func TestEventsReplaceOlderOnesAboutTheSameThing(t *testing.T) {
	tools := mcp.Event{Method: mcp.NotificationToolsListChanged}
	note := mcp.Event{Method: mcp.NotificationResourceUpdated, URI: "note://1"}
	state := func(id string) mcp.Event {
		return mcp.Event{Method: mcp.NotificationDeferred, Deferred: &mcp.Deferred{ID: id}}
	}
	for _, tt := range []struct {
		name         string
		newer, older mcp.Event
		want         bool
	}{
		{"a list and itself", tools, tools, true},
		{"a resource and itself", note, note, true},
		{"a list and a resource", tools, note, false},
		{"two resources", note, mcp.Event{Method: note.Method, URI: "note://2"}, false},
		{"two states of one result", state("a"), state("a"), true},
		{"states of two results", state("a"), state("b"), false},
		{"a state and none", state("a"), mcp.Event{Method: mcp.NotificationDeferred}, false},
	} {
		if got := tt.newer.Replaces(tt.older); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
