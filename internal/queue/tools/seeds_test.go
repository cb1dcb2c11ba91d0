package tools_test

import (
	"context"
	"flag"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/internal/queue"
	"github.com/bossman-mcp/bossman/internal/queue/sqlite"
	"github.com/bossman-mcp/bossman/internal/queue/tools"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcptest"
	"github.com/bossman-mcp/bossman/server"
)

var _ = flag.Bool("update", false, "rewrite the transcripts")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestSeeds plays every message that the five founding documents print. Each
// transcript names its document.
func TestSeeds(t *testing.T) { mcptest.Transcripts(t, "testdata/transcripts", seedServer) }

func seedServer(t *testing.T, name string) mcp.Handler {
	switch name {
	case "bossman":
		return newBossman(openStore(t))
	case "add":
		return newAdder()
	case "smolcode":
		return weather("", "72\u00c2\u00b0F")
	case "moonphase":
		return weather("Weather Information Provider", "72\u00b0F")
	case "refusing":
		return refusing()
	case "coe":
		store := openStore(t)
		for _, task := range []queue.NewTask{
			{Title: "Add user authentication", Description: "Step 1: Create auth middleware..."},
			{Title: "Add authentication", Description: "Step 1: ..."},
		} {
			if _, err := store.Create(t.Context(), task); err != nil {
				t.Fatal(err)
			}
		}
		return newBossman(store)
	}
	t.Fatalf("no server %q", name)
	return nil
}

func openStore(t *testing.T) queue.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "tasks.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// oracle has one answer.
type oracle string

func (o oracle) Answer(context.Context, string, string) (string, error) { return string(o), nil }

func newBossman(store queue.Store) *server.Server {
	quiet := slog.New(slog.DiscardHandler)
	s := server.New("bossman", "0.1.0", &server.Options{FixedLists: true, Logger: quiet})
	tools.Register(s, store, &tools.Options{Answerer: oracle("Async/await is a pattern for..."), Logger: quiet})
	return s
}

func newAdder() *server.Server {
	type pair struct {
		A float64 `json:"a" doc:"First number"`
		B float64 `json:"b" doc:"Second number"`
	}
	type sum struct {
		Result float64 `json:"result"`
	}
	s := server.New("add", "1.0.0", nil)
	server.Tool(s, "add", "Add two numbers together", func(_ context.Context, in pair) (sum, error) {
		return sum{in.A + in.B}, nil
	})
	return s
}

// weather is the server whose messages two of the documents show: a handler of
// its own, with the cursors that are printed.
func weather(title, temperature string) mcp.Handler {
	tool := mcp.Tool{
		Name: "get_weather", Title: title, Description: "Get current weather information for a location",
		InputSchema: jsontext.Value(`{"type":"object","properties":{"location":{"type":"string","description":"City name or zip code"}},"required":["location"]}`),
	}
	next := "next-page-cursor"
	return mcp.HandlerFunc(func(_ context.Context, c *mcp.Call) (any, error) {
		switch c.Method {
		case mcp.MethodDiscover:
			return &mcp.DiscoverResult{
				Meta: mcp.Meta(`{"` + mcp.MetaServerInfo + `":{"name":"ExampleServer","title":"Example Server Display Name","version":"1.0.0"}}`),
				Capabilities: mcp.ServerCapabilities{
					Logging: &mcp.Supported{}, Prompts: &mcp.PromptsCapability{ListChanged: true},
					Resources: &mcp.ResourcesCapability{Subscribe: true, ListChanged: true}, Tools: &mcp.ToolsCapability{ListChanged: true},
				},
				Instructions: "Optional instructions for the client",
			}, nil
		case mcp.MethodListTools:
			if got := jsonscan.Unquote(jsonscan.Get(c.Params, "cursor")); got != "optional-cursor-value" {
				return nil, jsonrpc.InvalidParams("cursor %q", got)
			}
			return &mcp.ListToolsResult{Tools: []mcp.Tool{tool}, NextCursor: &next}, nil
		case mcp.MethodCallTool:
			where := jsonscan.Unquote(jsonscan.Get(jsonscan.Get(c.Params, "arguments"), "location"))
			return &mcp.CallToolResult{Content: mcp.Contents{mcp.Text("Current weather in " + where + ":\nTemperature: " + temperature + "\nConditions: Partly cloudy")}}, nil
		}
		return nil, jsonrpc.MethodNotFound(c.Method)
	})
}

// refusing is a handler that will not speak to anybody.
func refusing() mcp.Handler {
	return mcp.HandlerFunc(func(context.Context, *mcp.Call) (any, error) {
		return nil, &jsonrpc.Error{
			Code: jsonrpc.CodeInvalidParams, Message: "Unsupported protocol version",
			Data: jsontext.Value(`{"supported":["2024-11-05"],"requested":"1.0.0"}`),
		}
	})
}
