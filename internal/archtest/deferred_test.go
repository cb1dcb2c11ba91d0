package archtest_test

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/mcp"
)

// node is a JSON Schema, or a part of one.
type node = map[string]any

// withDeferred adds the definitions of the extension for deferred results to the
// schema of a revision. Its specification has them in another language.
func withDeferred(schema []byte) ([]byte, error) {
	var document node
	if err := json.Unmarshal(schema, &document); err != nil {
		return nil, err
	}
	defs := document["$defs"].(node)
	id := node{"type": "string", "minLength": 1}
	add := func(union, name string, def node) {
		defs[name] = def
		members := defs[union].(node)["anyOf"].([]any)
		defs[union].(node)["anyOf"] = append(members, node{"$ref": "#/$defs/" + name})
	}
	add("ClientRequest", "GetTaskRequest", requestOf(mcp.MethodGetDeferred, node{"taskId": id}))
	add("ClientRequest", "CancelTaskRequest", requestOf(mcp.MethodCancelDeferred, node{"taskId": id}))
	add("ClientRequest", "UpdateTaskRequest", requestOf(mcp.MethodUpdateDeferred,
		node{"taskId": id, "inputResponses": node{"$ref": "#/$defs/InputResponses"}}))
	add("ServerNotification", "TaskStatusNotification", closed(node{
		"jsonrpc": node{"const": "2.0"}, "method": node{"const": mcp.NotificationDeferred}, "params": detailed(nil),
	}))
	defs["CreateTaskResult"] = stateOf(node{
		"resultType": node{"const": mcp.ResultTask},
		"status":     node{"enum": []any{"working", "input_required", "completed", "failed", "cancelled"}},
	})
	defs["GetTaskResult"] = detailed(node{"resultType": node{"const": mcp.ResultComplete}})
	filter := defs["SubscriptionFilter"].(node)["properties"].(node)
	filter["taskIds"] = node{"type": "array", "items": id}
	return json.Marshal(document)
}

// closed is an object that has these members, and besides them only the
// optional ones.
func closed(members node, optional ...string) node {
	required := slices.DeleteFunc(slices.Sorted(maps.Keys(members)), func(name string) bool { return slices.Contains(optional, name) })
	return node{"type": "object", "properties": members, "required": required, "additionalProperties": false}
}

func requestOf(method string, params node) node {
	params["_meta"] = node{"type": "object"}
	return node{
		"type": "object",
		"properties": node{
			"jsonrpc": node{"const": "2.0"}, "id": node{"$ref": "#/$defs/RequestId"},
			"method": node{"const": method}, "params": closed(params),
		},
		"required": []any{"jsonrpc", "id", "method", "params"},
	}
}

// stateOf is the state of a deferred result with these members besides those
// that every state has. In a transcript a time is partly told.
func stateOf(more node) node {
	moment := node{"type": "string", "pattern": `^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?|…|\{\{\w+\}\})Z$`}
	members := node{
		"_meta": node{"type": "object"}, "taskId": node{"type": "string", "minLength": 1},
		"statusMessage": node{"type": "string"}, "createdAt": moment, "lastUpdatedAt": moment,
		"ttlMs":          node{"type": []any{"integer", "null"}, "minimum": 1},
		"pollIntervalMs": node{"type": "integer", "minimum": 1},
	}
	maps.Copy(members, more)
	return closed(members, "_meta", "statusMessage", "pollIntervalMs")
}

// detailed is the state with the outcome or the questions.
func detailed(more node) node {
	variant := func(status node, payload string, def string) any {
		members := maps.Clone(more)
		if members == nil {
			members = make(node)
		}
		members["status"] = status
		if payload != "" {
			members[payload] = node{"$ref": "#/$defs/" + def}
		}
		return stateOf(members)
	}
	return node{"anyOf": []any{
		variant(node{"enum": []any{"working", "cancelled"}}, "", ""),
		variant(node{"const": "input_required"}, "inputRequests", "InputRequests"),
		variant(node{"const": "completed"}, "result", "CallToolResult"),
		variant(node{"const": "failed"}, "error", "Error"),
	}}
}
