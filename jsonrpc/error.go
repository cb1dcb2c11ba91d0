package jsonrpc

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// The codes that JSON-RPC 2.0 defines.
const (
	CodeParseError     = -32700 // the text is not JSON
	CodeInvalidRequest = -32600 // the JSON is no message, or comes at the wrong time
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternalError  = -32603
)

// Error is an error as it travels: what one side says went wrong with the
// other's request. Handlers return it to choose the code; callers find it with
// errors.As. [AppendError] writes it.
type Error struct {
	Code    int            `json:"code"`
	Message string         `json:"message"`
	Data    jsontext.Value `json:"data,omitzero"` // optional, any JSON
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// read fills e from raw, which is strict JSON, and reports whether that is an
// error object: it needs an integer code and a message.
func (e *Error) read(raw []byte) bool {
	hasCode, hasMessage := false, false
	for name, value := range jsonscan.Members(raw) {
		switch string(name) {
		case "code":
			var err error
			e.Code, err = strconv.Atoi(string(value))
			hasCode = err == nil
		case "message":
			e.Message = jsonscan.Unquote(value)
			hasMessage = jsonscan.KindOf(value) == jsonscan.String
		case "data":
			e.Data = value
		}
	}
	return hasCode && hasMessage
}

// ParseError says that text is no JSON.
func ParseError(err error) *Error {
	return &Error{Code: CodeParseError, Message: "Parse error: " + err.Error()}
}

// InvalidRequest says that a message is malformed or out of place.
func InvalidRequest(format string, args ...any) *Error {
	return &Error{Code: CodeInvalidRequest, Message: "Invalid Request: " + fmt.Sprintf(format, args...)}
}

// MethodNotFound says that nobody answers to method.
func MethodNotFound(method string) *Error {
	return &Error{Code: CodeMethodNotFound, Message: "Method not found: " + method}
}

// InvalidParams says what is wrong with the parameters of a request.
func InvalidParams(format string, args ...any) *Error {
	return &Error{Code: CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

// InternalError says that the receiver failed; message must not tell how its
// insides look.
func InternalError(message string) *Error {
	return &Error{Code: CodeInternalError, Message: "Internal error: " + message}
}
