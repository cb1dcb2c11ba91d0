package mcp

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/jsonrpc"
)

// ExtensionDeferred identifies the protocol's tasks extension: a server may
// answer tools/call with a handle, and the client fetches the result later. What
// the extension calls a task is a deferred result here.
const ExtensionDeferred = "io.modelcontextprotocol/tasks"

// The methods of the extension. An older revision had two of the names, for
// requests of another form.
const (
	MethodGetDeferred    = "tasks/get"           // client to server: the state of a deferred result
	MethodUpdateDeferred = "tasks/update"        // client to server: answers to what a deferred result asks
	MethodCancelDeferred = "tasks/cancel"        // client to server: give up a deferred result
	NotificationDeferred = "notifications/tasks" // server to client: the state of a deferred result
)

// DeferredStatus is how far a deferred result is.
type DeferredStatus string

// The states of a deferred result. The last three are final.
const (
	DeferredWorking       DeferredStatus = "working"
	DeferredInputRequired DeferredStatus = "input_required"
	DeferredCompleted     DeferredStatus = "completed" // also when the result is a tool's failure
	DeferredFailed        DeferredStatus = "failed"    // by a JSON-RPC error
	DeferredCancelled     DeferredStatus = "cancelled"
)

// Final reports whether nothing will change any more.
func (s DeferredStatus) Final() bool {
	return s == DeferredCompleted || s == DeferredFailed || s == DeferredCancelled
}

// Deferred is the state of a deferred result. It is the result of tasks/get and
// the params of notifications/tasks. With the result type [ResultTask] and
// without its last three fields it is the handle that answers tools/call.
type Deferred struct {
	Meta       Meta           `json:"_meta,omitzero"`
	ResultType string         `json:"resultType,omitzero"`
	ID         string         `json:"taskId"`
	Status     DeferredStatus `json:"status"`
	// StatusMessage says more about the status, for people and models.
	StatusMessage string    `json:"statusMessage,omitzero"`
	CreatedAt     time.Time `json:"createdAt"`
	LastUpdatedAt time.Time `json:"lastUpdatedAt"`
	// TTLMs is for how many milliseconds after CreatedAt the state is kept. Nil,
	// which is written as null, is without limit. It may change.
	TTLMs *int64 `json:"ttlMs"`
	// PollIntervalMs is how many milliseconds a client should wait between two
	// looks; 0 says nothing. It may change.
	PollIntervalMs int64 `json:"pollIntervalMs,omitzero"`

	// InputRequests are the open questions of [DeferredInputRequired].
	InputRequests InputRequests `json:"inputRequests,omitzero"`
	// Result of [DeferredCompleted] is what the request would have returned.
	Result jsontext.Value `json:"result,omitzero"`
	// Error of [DeferredFailed] is what the request would have failed with.
	Error *jsonrpc.Error `json:"error,omitzero"`
}

// DeferredParams name a deferred result: of tasks/get and tasks/cancel.
type DeferredParams struct {
	Meta Meta   `json:"_meta,omitzero"`
	ID   string `json:"taskId"`
}

// UpdateDeferredParams answer questions of a deferred result, all or some. Keys
// that nobody asked for are passed over.
type UpdateDeferredParams struct {
	Meta           Meta           `json:"_meta,omitzero"`
	ID             string         `json:"taskId"`
	InputResponses InputResponses `json:"inputResponses"`
}

// Deferred reports whether the client can fetch a result later. Settings that
// are no object declare nothing.
func (c *ClientCapabilities) Deferred() bool {
	return c.Extensions[ExtensionDeferred].Kind() == '{'
}

// MissingDeferred is the error for a client that lacks the extension.
func MissingDeferred() error {
	return missing(ClientCapabilities{Extensions: map[string]jsontext.Value{ExtensionDeferred: jsontext.Value("{}")}})
}
