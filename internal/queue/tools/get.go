package tools

import (
	"context"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

type getInput struct {
	ID string `json:"id" doc:"The task's id"`
}

func (f *face) addGet(s *server.Server) {
	s.AddTool(mcp.Tool{
		Name:        "get_task",
		Description: "Get a task by its id",
		Annotations: &mcp.ToolAnnotations{Title: "Get a task", ReadOnlyHint: hint(true), OpenWorldHint: hint(false)},
	}, server.Func(f.get))
}

func (f *face) get(ctx context.Context, in getInput) (view, error) {
	t, err := f.store.Get(ctx, in.ID)
	if err != nil {
		return view{}, f.failed("get", err)
	}
	return viewOf(t), nil
}
