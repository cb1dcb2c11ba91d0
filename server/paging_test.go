package server_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

func numbered(n, pageSize int) *server.Server {
	opts := quiet()
	opts.PageSize = pageSize
	s := server.New("numbers", "1", opts)
	for i := range n {
		addNumber(s, i)
	}
	return s
}

func addNumber(s *server.Server, i int) {
	server.Tool(s, fmt.Sprintf("t%d", i), "", func(context.Context, struct{}) (string, error) { return "", nil })
}

// page lists one page and returns its names and the next cursor's params.
func page(t *testing.T, s *server.Server, params string) (names string, next string) {
	t.Helper()
	result, err := handle(t, s, mcp.MethodListTools, params)
	if err != nil {
		t.Fatal(err)
	}
	list := result.(*mcp.ListToolsResult)
	for _, tool := range list.Tools {
		names += tool.Name + " "
	}
	if list.NextCursor != nil {
		next = fmt.Sprintf(`{"cursor":%q}`, *list.NextCursor)
	}
	return strings.TrimSpace(names), next
}

func TestPagesFollowTheirCursors(t *testing.T) {
	s := numbered(5, 2)
	for cursor, i := "", 0; ; i++ {
		names, next := page(t, s, cursor)
		if want := []string{"t0 t1", "t2 t3", "t4"}[i]; names != want {
			t.Errorf("page %d: %q, want %q", i, names, want)
		}
		if next == "" {
			if i != 2 {
				t.Errorf("the list ended after page %d", i)
			}
			break
		}
		cursor = next
	}
}

func TestCursorsSurviveChanges(t *testing.T) {
	s := numbered(5, 2)
	_, next := page(t, s, "")
	s.RemoveTool("t1") // the entry the cursor points behind
	s.RemoveTool("t2")
	addNumber(s, 9)
	if names, _ := page(t, s, next); names != "t3 t4" {
		t.Errorf("second page after changes: %q", names)
	}
}

func TestForeignCursorsAreRefused(t *testing.T) {
	s := numbered(5, 2)
	for _, cursor := range []string{`""`, `"x"`, `"dA"`, `"cDE"`, `"dDAx"`, `7`, `"` + strings.Repeat("A", 4096) + `"`} {
		_, err := handle(t, s, mcp.MethodListTools, `{"cursor":`+cursor+`}`)
		var wire *jsonrpc.Error
		if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("cursor %s: %v", cursor, err)
		}
	}
}

func TestPagesAreBuiltOnce(t *testing.T) {
	s := numbered(3, 10)
	list := func() any {
		result, err := s.Handle(t.Context(), &mcp.Call{Method: mcp.MethodListTools, Client: &mcp.Client{}})
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	first := list()
	if list() != first {
		t.Error("an unchanged list was built twice")
	}
	s.RemoveTool("t0")
	if list() == first {
		t.Error("a changed list was not built anew")
	}
}

func FuzzCursor(f *testing.F) {
	for _, seed := range []string{"", "dDE", "dDI", "x", "cDE", "dA", "====", "dHpaeg"} {
		f.Add(seed)
	}
	s := numbered(5, 2)
	f.Fuzz(func(t *testing.T, cursor string) {
		params, err := jsonrpc.AppendValue(nil, map[string]string{"cursor": cursor})
		if err != nil {
			t.Skip("not a JSON string")
		}
		result, err := handle(t, s, mcp.MethodListTools, string(params))
		var wire *jsonrpc.Error
		switch {
		case errors.As(err, &wire):
			if wire.Code != jsonrpc.CodeInvalidParams {
				t.Fatalf("cursor %q: %v", cursor, err)
			}
		case err != nil:
			t.Fatalf("cursor %q: %v", cursor, err)
		case len(result.(*mcp.ListToolsResult).Tools) > 2:
			t.Fatalf("cursor %q: a page of %d", cursor, len(result.(*mcp.ListToolsResult).Tools))
		}
	})
}
