package mcp

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/jsonrpc"
)

// The error codes that the protocol adds to JSON-RPC's.
const (
	CodeHeaderMismatch     = -32020 // an HTTP header disagrees with the body
	CodeMissingCapability  = -32021 // the client did not declare what the request needs
	CodeUnsupportedVersion = -32022 // the server does not speak the revision
	CodeResourceNotFound   = -32002 // in the handshake era; later InvalidParams
)

// The values of resultType.
const (
	ResultComplete      = "complete"
	ResultInputRequired = "input_required"
	ResultTask          = "task" // of the extension for deferred results
)

// MissingCapabilityError says that a Call needs what the client did not declare.
// Doors turn it into the revision's error.
type MissingCapabilityError struct {
	Required ClientCapabilities // what is missing
}

func missing(required ClientCapabilities) error {
	return &MissingCapabilityError{Required: required}
}

func (e *MissingCapabilityError) Error() string {
	var names []string
	if e.Required.Elicitation != nil {
		names = append(names, "elicitation")
	}
	if e.Required.Sampling != nil {
		names = append(names, "sampling")
	}
	if e.Required.Roots != nil {
		names = append(names, "roots")
	}
	for name := range e.Required.Extensions {
		names = append(names, name)
	}
	return fmt.Sprintf("the client did not declare the capability this needs: %s", strings.Join(names, ", "))
}

// Wire returns the error as the newest revision has it.
func (e *MissingCapabilityError) Wire() *jsonrpc.Error {
	return withData(CodeMissingCapability, e.Error(), map[string]ClientCapabilities{"requiredCapabilities": e.Required})
}

// ResourceNotFoundError says that a server has no resource at URI. Doors choose
// the revision's code for it.
type ResourceNotFoundError struct{ URI string }

func (e *ResourceNotFoundError) Error() string { return "Resource not found: " + e.URI }

// Wire returns the error as the newest revision has it.
func (e *ResourceNotFoundError) Wire() *jsonrpc.Error {
	return withData(jsonrpc.CodeInvalidParams, e.Error(), map[string]string{"uri": e.URI})
}

func withData(code int, message string, data any) *jsonrpc.Error {
	text, err := json.Marshal(data)
	if err != nil {
		text = nil // a foreign extension's settings; the message says enough
	}
	return &jsonrpc.Error{Code: code, Message: message, Data: text}
}
