package tools

import (
	"context"

	"github.com/bossman-mcp/bossman/internal/queue"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

type createInput struct {
	Description string `json:"description" doc:"Task description"`
	Title       string `json:"title,omitzero" maxLen:"1024" doc:"A short name for the task"`
	Priority    int    `json:"priority,omitzero" min:"-1000000" max:"1000000" doc:"Tasks with a higher number are handed out first; 0 is usual"`
}

func (f *face) addCreate(s *server.Server) {
	s.AddTool(mcp.Tool{
		Name:        "create_task",
		Description: "Create a new task",
		Annotations: &mcp.ToolAnnotations{Title: "Create a task", DestructiveHint: hint(false), OpenWorldHint: hint(false)},
	}, server.Func(f.create))
}

func (f *face) create(ctx context.Context, in createInput) (brief, error) {
	t, err := f.store.Create(ctx, queue.NewTask{Title: in.Title, Description: in.Description, Priority: in.Priority})
	if err != nil {
		return brief{}, f.failed("create", err)
	}
	return briefOf(t), nil
}
