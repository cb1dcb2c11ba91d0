package tools

import (
	"context"
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/internal/queue"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

// addOrchestrator answers the methods of the Copilot orchestrator. They are
// plain JSON-RPC: no handshake, no tool call around them.
func (f *face) addOrchestrator(s *server.Server) {
	s.Method("getNextTask", f.getNextTask)
	s.Method("reportTaskDone", f.reportTaskDone)
	s.Method("askQuestion", f.askQuestion)
}

// ticket is a task as the orchestrator knows it. There a task is pending until
// it is reported done, whether somebody works on it or not.
type ticket struct {
	ID          string       `json:"id"`
	Title       string       `json:"title"`
	Description string       `json:"description"`
	Status      queue.Status `json:"status"`
}

// getNextTask hands out the next task, to nobody else, or null.
func (f *face) getNextTask(ctx context.Context, c *mcp.Call) (any, error) {
	t, err := f.store.ClaimNext(ctx, workerName(c, ""))
	switch {
	case errors.Is(err, queue.ErrEmpty):
		return nil, nil
	case err != nil:
		return nil, f.refuse("Failed to get next task", err)
	}
	return ticket{ID: t.ID, Title: t.Heading(), Description: t.Description, Status: queue.Pending}, nil
}

func (f *face) reportTaskDone(ctx context.Context, c *mcp.Call) (any, error) {
	if c.Params == nil {
		return nil, jsonrpc.InvalidParams("params must be an object")
	}
	id, ok := stringParam(c.Params, "taskId")
	if !ok || id == "" {
		return nil, jsonrpc.InvalidParams("taskId must be a non-empty string")
	}
	result, ok := stringParam(c.Params, "result")
	if !ok {
		return nil, jsonrpc.InvalidParams("result must be a string if provided")
	}
	if _, err := f.store.Finish(ctx, id, queue.Outcome{Result: result}); err != nil {
		return nil, f.refuse("Failed to report task done", err)
	}
	return struct {
		Success bool `json:"success"`
	}{true}, nil
}

func (f *face) askQuestion(ctx context.Context, c *mcp.Call) (any, error) {
	if c.Params == nil {
		return nil, jsonrpc.InvalidParams("params must be an object")
	}
	question, ok := stringParam(c.Params, "question")
	if !ok || question == "" {
		return nil, jsonrpc.InvalidParams("question must be a non-empty string")
	}
	chat, ok := stringParam(c.Params, "chatId")
	if !ok {
		return nil, jsonrpc.InvalidParams("chatId must be a string if provided")
	}
	if chat == "" {
		chat = "new"
	}
	if f.answerer == nil {
		return nil, f.refuse("Failed to answer question", ErrNoAnswerer)
	}
	answer, err := f.answerer.Answer(ctx, question, chat)
	if err != nil {
		return nil, f.refuse("Failed to answer question", err)
	}
	return struct {
		Answer string `json:"answer"`
		ChatID string `json:"chatId"`
	}{answer, chat}, nil
}

// stringParam returns a member of params, empty when it is absent, and reports
// whether it is a string.
func stringParam(params jsontext.Value, name string) (string, bool) {
	raw := jsonscan.Get(params, name)
	switch jsonscan.KindOf(raw) {
	case jsonscan.Invalid:
		return "", true
	case jsonscan.String:
		return jsonscan.Unquote(raw), true
	}
	return "", false
}

// refuse makes an error of these methods: the caller's mistakes are invalid
// params, all else is internal.
func (f *face) refuse(what string, err error) error {
	var answer *AnswerError
	switch {
	case errors.Is(err, queue.ErrNotFound), errors.Is(err, queue.ErrInvalid), errors.Is(err, queue.ErrFinished):
		return jsonrpc.InvalidParams("%v", err)
	case errors.Is(err, ErrNoAnswerer), errors.As(err, &answer):
	default:
		err = errors.New(strings.TrimPrefix(f.failed(what, err).Error(), "error: "))
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: what + ": " + err.Error()}
}
