package tools

import (
	"context"

	"github.com/bossman-mcp/bossman/internal/queue"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

type listInput struct {
	Status queue.Status `json:"status,omitzero" enum:"pending,in_progress,done,failed" doc:"Only tasks in this state"`
	Worker string       `json:"worker,omitzero" maxLen:"256" doc:"Only tasks that this worker was handed"`
	Limit  int          `json:"limit,omitzero" min:"1" max:"500" doc:"The most tasks to return; 50 unless given"`
	Cursor string       `json:"cursor,omitzero" doc:"The next_cursor of the page before"`
}

type listOutput struct {
	Tasks      []view `json:"tasks" doc:"Oldest first"`
	NextCursor string `json:"next_cursor,omitzero" doc:"Ask again with this cursor for more; absent on the last page"`
}

func (f *face) addList(s *server.Server) {
	s.AddTool(mcp.Tool{
		Name:        "list_tasks",
		Description: "List tasks, oldest first, a page at a time",
		Annotations: &mcp.ToolAnnotations{Title: "List tasks", ReadOnlyHint: hint(true), OpenWorldHint: hint(false)},
	}, server.Func(f.list))
}

func (f *face) list(ctx context.Context, in listInput) (listOutput, error) {
	page, err := f.store.List(ctx, queue.Filter{Status: in.Status, Worker: in.Worker, Limit: in.Limit, Cursor: in.Cursor})
	if err != nil {
		return listOutput{}, f.failed("list", err)
	}
	out := listOutput{Tasks: make([]view, len(page.Tasks)), NextCursor: page.Next}
	for i, t := range page.Tasks {
		out.Tasks[i] = viewOf(t)
	}
	return out, nil
}
