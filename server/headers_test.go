package server_test

import (
	"context"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

func rawTool(schema string) server.Implementation {
	return server.Raw(jsontext.Value(schema), nil, func(context.Context, *mcp.Call, jsontext.Value) (*mcp.CallToolResult, error) {
		return nil, nil
	})
}

func TestHeaderParamsOfTools(t *testing.T) {
	s := server.New("t", "1", nil)
	s.AddTool(mcp.Tool{Name: "sql"}, rawTool(`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`))
	if got := s.HeaderParams("sql"); len(got) != 1 || got[0].Name != "Region" {
		t.Errorf("got %v", got)
	}
	if got := s.HeaderParams("nobody"); got != nil {
		t.Errorf("got %v of a tool that is not there", got)
	}
	s.RemoveTool("sql")
	if got := s.HeaderParams("sql"); got != nil {
		t.Errorf("got %v of a tool that is gone", got)
	}
}

func TestAToolWithABadMarkPanics(t *testing.T) {
	defer func() {
		if v := recover(); v == nil || !strings.Contains(v.(string), "tool sql") {
			t.Errorf("got %v, want a panic that names the tool", v)
		}
	}()
	server.New("t", "1", nil).AddTool(mcp.Tool{Name: "sql"}, rawTool(`{"type":"object","properties":{"n":{"type":"number","x-mcp-header":"N"}}}`))
}
