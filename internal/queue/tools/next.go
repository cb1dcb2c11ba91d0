package tools

import (
	"context"
	"errors"

	"github.com/bossman-mcp/bossman/internal/queue"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

type nextInput struct {
	Worker string `json:"worker,omitzero" maxLen:"256" doc:"Your name, so that others can see who works on the task"`
}

type nextOutput struct {
	Task *view `json:"task,omitzero" doc:"The task, now yours; absent when none is waiting"`
}

func (f *face) addNext(s *server.Server) {
	s.AddTool(mcp.Tool{
		Name: "get_next_task",
		Description: "Take the next waiting task: the one with the highest priority, among equals the oldest. " +
			"It is handed to you alone; call report_task_done when you are through with it",
		Annotations: &mcp.ToolAnnotations{Title: "Take the next task", DestructiveHint: hint(false), OpenWorldHint: hint(false)},
	}, server.CallFunc(f.next))
}

func (f *face) next(ctx context.Context, c *mcp.Call, in nextInput) (nextOutput, error) {
	t, err := f.store.ClaimNext(ctx, workerName(c, in.Worker))
	switch {
	case errors.Is(err, queue.ErrEmpty):
		return nextOutput{}, nil
	case err != nil:
		return nextOutput{}, f.failed("claim", err)
	}
	task := viewOf(t)
	return nextOutput{&task}, nil
}

// workerName is the name an agent gives itself, or else that of its program.
func workerName(c *mcp.Call, given string) string {
	if given != "" {
		return given
	}
	name := c.Client.Info.Name
	if queue.CheckWorker(name) != nil {
		return ""
	}
	return name
}
