package tools

import (
	"context"

	"github.com/bossman-mcp/bossman/internal/queue"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

type reportInput struct {
	ID     string       `json:"id" doc:"The task's id"`
	Result string       `json:"result,omitzero" doc:"What was done, or why it could not be"`
	Status queue.Status `json:"status,omitzero" enum:"done,failed" default:"done" doc:"How it ended"`
}

func (f *face) addReport(s *server.Server) {
	s.AddTool(mcp.Tool{
		Name:        "report_task_done",
		Description: "Report that a task is done, or that it failed. Reporting the same again is harmless",
		Annotations: &mcp.ToolAnnotations{
			Title: "Report a task", DestructiveHint: hint(false), IdempotentHint: hint(true), OpenWorldHint: hint(false),
		},
	}, server.Func(f.report))
}

func (f *face) report(ctx context.Context, in reportInput) (view, error) {
	t, err := f.store.Finish(ctx, in.ID, queue.Outcome{Result: in.Result, Failed: in.Status == queue.Failed})
	if err != nil {
		return view{}, f.failed("finish", err)
	}
	return viewOf(t), nil
}
