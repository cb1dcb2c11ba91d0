package server_test

import (
	"context"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

func TestAWrappedToolSeesArgumentsThatFit(t *testing.T) {
	type in struct {
		A int `json:"a"`
	}
	var seen []string
	add := server.Func(func(_ context.Context, in in) (string, error) { return "ran", nil })
	wrapped := add.Wrap(func(next server.ToolFunc) server.ToolFunc {
		return func(ctx context.Context, c *mcp.Call, arguments jsontext.Value) (*mcp.CallToolResult, error) {
			seen = append(seen, string(arguments))
			return next(ctx, c, arguments)
		}
	})
	s := server.New("test", "1", nil)
	s.AddTool(mcp.Tool{Name: "plain"}, add)
	s.AddTool(mcp.Tool{Name: "wrapped"}, wrapped)
	for _, tc := range []struct {
		name, arguments string
		fits            bool
	}{
		{"an integer as it is mostly written", `{"a":1}`, true},
		{"an integer with a fraction", `{"a":1.0}`, true},
		{"a member too many", `{"a":1,"b":2}`, false},
		{"a member missing", `{}`, false},
		{"null", `{"a":null}`, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			seen = nil
			for _, tool := range []string{"plain", "wrapped"} {
				c := &mcp.Call{Method: mcp.MethodCallTool, Params: jsontext.Value(`{"name":"` + tool + `","arguments":` + tc.arguments + `}`)}
				result, err := s.Handle(t.Context(), c)
				if err != nil || result.(*mcp.CallToolResult).IsError == tc.fits {
					t.Errorf("%s: %+v, %v", tool, result, err)
				}
			}
			if tc.fits && (len(seen) != 1 || seen[0] != tc.arguments) || !tc.fits && len(seen) != 0 {
				t.Errorf("the wrapping saw %q", seen)
			}
		})
	}
}

func TestTheOutputOfAWrappedToolIsChecked(t *testing.T) {
	type sum struct {
		Sum int `json:"sum"`
	}
	s := server.New("test", "1", quiet())
	s.AddTool(mcp.Tool{Name: "wrapped"}, server.Func(func(context.Context, struct{}) (sum, error) { return sum{1}, nil }).Wrap(
		func(next server.ToolFunc) server.ToolFunc {
			return func(ctx context.Context, c *mcp.Call, arguments jsontext.Value) (*mcp.CallToolResult, error) {
				result, err := next(ctx, c, arguments)
				result.StructuredContent = jsontext.Value(`{"sum":"one"}`)
				return result, err
			}
		}))
	result, err := s.Handle(t.Context(), &mcp.Call{Method: mcp.MethodCallTool, Params: jsontext.Value(`{"name":"wrapped"}`)})
	if err == nil {
		t.Errorf("the client gets %+v", result)
	}
}
