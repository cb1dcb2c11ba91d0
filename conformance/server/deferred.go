package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bossman-mcp/bossman/deferred"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

// wait is a nap that ends early with ctx.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// addDeferredTools adds the tools whose results may come later, and one whose
// result never does.
func addDeferredTools(s *server.Server, d *deferred.Deferrer) {
	type person struct {
		Name string `json:"name" doc:"Whom to greet"`
	}
	server.Tool(s, "greet", "Greet at once", func(_ context.Context, in person) (string, error) {
		return "Hello, " + in.Name + "!", nil
	})
	type amount struct {
		Seconds float64 `json:"seconds" doc:"How long to compute"`
		Label   string  `json:"label,omitzero" doc:"What to call it"`
	}
	s.AddTool(mcp.Tool{Name: "slow_compute", Description: "Compute for a while"},
		d.Optional(server.CallFunc(func(ctx context.Context, c *mcp.Call, in amount) (string, error) {
			if err := c.Progress(ctx, 0, in.Seconds, "computing"); err != nil {
				return "", err
			}
			if err := wait(ctx, time.Duration(in.Seconds*float64(time.Second))); err != nil {
				return "", err
			}
			return fmt.Sprintf("computed %s for %g seconds", in.Label, in.Seconds), nil
		})))
	s.AddTool(mcp.Tool{Name: "failing_job", Description: "Fail after a while, as tools do"},
		d.Required(server.Func(func(ctx context.Context, _ none) (string, error) {
			if err := wait(ctx, time.Second); err != nil {
				return "", err
			}
			return "", errors.New("this job always fails")
		})))
	s.AddTool(mcp.Tool{Name: "protocol_error_job", Description: "Fail after a while, as the protocol does"},
		d.Required(server.Func(func(ctx context.Context, _ none) (string, error) {
			if err := wait(ctx, 100*time.Millisecond); err != nil {
				return "", err
			}
			return "", jsonrpc.InternalError("this job breaks the protocol")
		})))
	addAskingTools(s, d)
}

const confirmForm = `{"type":"object","properties":{"confirm":{"type":"boolean"}},"required":["confirm"]}`

// addAskingTools adds tools that ask while they are at work, and one that asks
// before.
func addAskingTools(s *server.Server, d *deferred.Deferrer) {
	type file struct {
		Filename string `json:"filename" doc:"What to delete"`
	}
	s.AddTool(mcp.Tool{Name: "confirm_delete", Description: "Delete a file if the user agrees"},
		d.Required(server.CallFunc(func(_ context.Context, c *mcp.Call, in file) (string, error) {
			answer, err := elicit(c, "confirm", "Delete "+in.Filename+"?", confirmForm)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("deletion of %s: %s %s", in.Filename, answer.Action, answer.Content), nil
		})))
	s.AddTool(mcp.Tool{Name: "multi_input", Description: "Ask two things at once"},
		d.Required(server.CallFunc(func(_ context.Context, c *mcp.Call, _ none) (string, error) {
			name, err1 := elicit(c, "name", "What is your name?", nameForm)
			sure, err2 := elicit(c, "confirm", "Are you sure?", confirmForm)
			if err := errors.Join(err1, err2); err != nil {
				return "", err
			}
			return fmt.Sprintf("%s %s", name.Content, sure.Content), nil
		})))
	s.AddTool(mcp.Tool{Name: "test_tool_with_task", Description: "Ask for a name, then answer later"},
		server.CallFunc(func(ctx context.Context, c *mcp.Call, _ none) (string, error) {
			name, err := elicit(c, "user_name", "What is your name?", nameForm)
			if err != nil {
				return "", err
			}
			if err := d.Later(c); err != nil {
				return "", err
			}
			return "Hello, " + string(name.Content), wait(ctx, 100*time.Millisecond)
		}))
}
