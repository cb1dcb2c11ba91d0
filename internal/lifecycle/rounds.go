package lifecycle

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
)

// maxRounds bounds how often one call may ask the client again.
const maxRounds = 16

// rounds runs the handler; when it needs input, asks the client and runs it
// again.
func (d *Handshake) rounds(ctx context.Context, in *Incoming, rev *revision.Revision, call *mcp.Call) (any, error) {
	for range maxRounds {
		result, err := d.handler.Handle(ctx, call)
		if !errors.Is(err, mcp.ErrInputRequired) {
			return result, err
		}
		wanted := call.Input.Wanted
		call.Input.Wanted, call.Input.Used = nil, nil
		if len(wanted) == 0 && call.Input.State != nil {
			continue // it only wants to be run again
		}
		if in.Ask == nil || len(wanted) == 0 {
			return nil, jsonrpc.InvalidRequest("%s needs input from the client, and this connection has no way to ask", in.Method)
		}
		for _, question := range wanted {
			var answer jsontext.Value
			if err := in.Ask.Ask(ctx, question.Method, shapeQuestion(rev, question), &answer); err != nil {
				return nil, refused(question.Method, err)
			}
			if call.Input.Answers == nil {
				call.Input.Answers = make(mcp.InputResponses)
			}
			call.Input.Answers[question.Key] = answer
		}
	}
	return nil, jsonrpc.InternalError(fmt.Sprintf("the handler asked for input %d times", maxRounds))
}

// refused tells the caller that its own answer was an error. Were the error
// passed on as it is, the caller would take it for ours.
func refused(method string, err error) error {
	var theirs *jsonrpc.Error
	if errors.As(err, &theirs) {
		return jsonrpc.InternalError(fmt.Sprintf("the client answered %s with an error: %s", method, theirs.Message))
	}
	return fmt.Errorf("ask the client for %s: %w", method, err)
}
