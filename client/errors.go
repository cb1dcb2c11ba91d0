package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

// ErrClosed is what calls return after [Client.Close].
var ErrClosed = errors.New("client closed")

// LocalError is why a call has no answer of the server: the connection, a
// deadline, a result that makes no sense, a handler of ours. It never holds a
// *jsonrpc.Error, so what the server said cannot be mistaken for it.
type LocalError struct {
	Method string // of the request
	Err    error
}

func (e *LocalError) Error() string { return e.Err.Error() }

// Unwrap returns the reason, such as context.Canceled or peer.ErrClosed.
func (e *LocalError) Unwrap() error { return e.Err }

// local marks err as ours. An error that a handler got from another server is
// kept as text only.
func local(method string, err error) error {
	var known *LocalError
	if errors.As(err, &known) {
		return err
	}
	var theirs *jsonrpc.Error
	if errors.As(err, &theirs) {
		err = errors.New(err.Error())
	}
	return &LocalError{Method: method, Err: err}
}

// localf is local with words.
func localf(method, format string, args ...any) error {
	return local(method, fmt.Errorf("call "+method+": "+format, args...))
}

// TimeoutError says that no answer came in time. It matches
// context.DeadlineExceeded.
type TimeoutError struct {
	After time.Duration // how long the server was silent, or the call waited in all
	InAll bool          // the upper limit was reached, whatever the progress
}

func (e *TimeoutError) Error() string {
	if e.InAll {
		return fmt.Sprintf("no answer within %v, progress or not", e.After)
	}
	return fmt.Sprintf("no answer within %v", e.After)
}

// Is makes the error a deadline that was exceeded.
func (e *TimeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// Timeout reports true, as deadlines of package net do.
func (e *TimeoutError) Timeout() bool { return true }

// ToolError is the failure of a tool as a Go error. What the tool said is in the
// result.
type ToolError struct {
	Tool   string
	Result *mcp.CallToolResult
}

func (e *ToolError) Error() string {
	said := TextOf(e.Result.Content)
	if said == "" {
		said = "no reason given"
	}
	return "tool " + e.Tool + " failed: " + said
}

// OutputError says that a tool's result does not fit the schema that the server
// promised, or that the schema cannot be used; see [Options.Unchecked].
type OutputError struct {
	Tool   string
	Result *mcp.CallToolResult // nil if the tool was not called, since its schema cannot be used
	Err    error               // a *schema.Invalid if the result does not fit
}

func (e *OutputError) Error() string {
	if e.Result == nil {
		return fmt.Sprintf("tool %s was not called: its output schema cannot be used: %v", e.Tool, e.Err)
	}
	return fmt.Sprintf("the output of tool %s does not fit its schema: %v", e.Tool, e.Err)
}

// Unwrap returns the reason.
func (e *OutputError) Unwrap() error { return e.Err }
