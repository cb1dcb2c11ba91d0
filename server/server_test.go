package server_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

func quiet() *server.Options {
	return &server.Options{Logger: slog.New(slog.DiscardHandler)}
}

// handle sends a Call and unwraps what came back.
func handle(t *testing.T, h mcp.Handler, method, params string) (any, error) {
	t.Helper()
	result, err := h.Handle(t.Context(), &mcp.Call{Method: method, Params: jsontext.Value(params), Client: &mcp.Client{}})
	if memo, ok := result.(*mcp.Memo); ok {
		return memo.Result, err
	}
	return result, err
}

// callText calls a tool and returns its text, with a mark when it is an error.
func callText(t *testing.T, s *server.Server, params string) string {
	t.Helper()
	result, err := handle(t, s, mcp.MethodCallTool, params)
	if err != nil {
		return "protocol: " + err.Error()
	}
	r := result.(*mcp.CallToolResult)
	var text strings.Builder
	if r.IsError {
		text.WriteString("failed: ")
	}
	for _, c := range r.Content {
		if block, ok := c.(*mcp.TextContent); ok {
			text.WriteString(block.Text)
		}
	}
	return text.String()
}

type order struct {
	Item  string `json:"item" doc:"What to buy"`
	Count int    `json:"count,omitzero" default:"1" min:"1" max:"9"`
	Size  string `json:"size,omitzero" enum:"small,large"`
}

type receipt struct {
	Total int `json:"total" max:"100"`
}

func shop() *server.Server {
	s := server.New("shop", "1.0.0", quiet())
	server.Tool(s, "buy", "Buy something", func(_ context.Context, in order) (receipt, error) {
		if in.Item == "moon" {
			return receipt{}, errors.New("the moon is not for sale; try cheese")
		}
		return receipt{Total: in.Count * 30}, nil
	})
	server.Tool(s, "say", "Say something", func(_ context.Context, in struct {
		Text string `json:"text"`
	}) (string, error) {
		return in.Text, nil
	})
	s.AddTool(mcp.Tool{Name: "raw"}, server.Raw(
		jsontext.Value(`{"type":"object","properties":{"n":{"type":"integer","multipleOf":3}}}`), jsontext.Value(`{"type":"array"}`),
		func(_ context.Context, _ *mcp.Call, arguments jsontext.Value) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{StructuredContent: jsonscan.Get(arguments, "out")}, nil
		}))
	return s
}

func TestToolCalls(t *testing.T) {
	s := shop()
	for _, tc := range []struct{ name, params, want string }{
		{"a default is filled in", `{"name":"buy","arguments":{"item":"cheese"}}`, `{"total":30}`},
		{"an execution error is for the model", `{"name":"buy","arguments":{"item":"moon"}}`, "failed: the moon is not for sale; try cheese"},
		{"output that breaks its schema is our fault", `{"name":"buy","arguments":{"item":"cheese","count":9}}`, "protocol: Internal error: the tool's output does not fit its output schema (-32603)"},
		{"text stays text", `{"name":"say","arguments":{"text":"a\nb"}}`, "a\nb"},
		{"an unknown tool is a protocol error", `{"name":"sell"}`, "protocol: Unknown tool: sell (-32602)"},
		{"a name is needed", `{}`, "protocol: name must be the name of a tool (-32602)"},
		{"a name is a string", `{"name":7}`, "protocol: name must be the name of a tool (-32602)"},
		{"arguments are an object", `{"name":"say","arguments":["x"]}`, "protocol: arguments must be an object (-32602)"},
		{"null arguments are none", `{"name":"buy","arguments":null}`, `failed: invalid arguments for buy: missing required argument "item"`},
		{"a raw schema is checked", `{"name":"raw","arguments":{"n":4}}`, "failed: invalid arguments for raw: n: must be a multiple of 3, got 4"},
		{"raw output is checked", `{"name":"raw","arguments":{"out":{}}}`, "protocol: Internal error: the tool's output does not fit its output schema (-32603)"},
		{"missing output is noticed", `{"name":"raw","arguments":{}}`, "protocol: Internal error: the tool's output does not fit its output schema (-32603)"},
		{"good raw output passes", `{"name":"raw","arguments":{"out":[1]}}`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := callText(t, s, tc.params); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

type bill struct {
	Total int `json:"total" max:"100"`
}

func (b bill) Text() string { return fmt.Sprintf("that makes %d", b.Total) }

func TestAnOutputMayHaveWordsOfItsOwn(t *testing.T) {
	s := server.New("shop", "1.0.0", quiet())
	server.Tool(s, "pay", "Pay", func(_ context.Context, in struct {
		Price int `json:"price"`
	}) (bill, error) {
		return bill{in.Price}, nil
	})
	result, err := handle(t, s, mcp.MethodCallTool, `{"name":"pay","arguments":{"price":7}}`)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(result.(*mcp.CallToolResult).StructuredContent); got != `{"total":7}` {
		t.Errorf("the structured content is %s", got)
	}
	if got := callText(t, s, `{"name":"pay","arguments":{"price":7}}`); got != "that makes 7" {
		t.Errorf("the text is %q", got)
	}
	if got := callText(t, s, `{"name":"pay","arguments":{"price":101}}`); !strings.Contains(got, "does not fit its output schema") {
		t.Errorf("an output that breaks its promise: %q", got)
	}
}

func TestWrongArgumentsAreExplainedAllAtOnce(t *testing.T) {
	got := callText(t, shop(), `{"name":"buy","arguments":{"itme":"x","count":12,"size":"lage"}}`)
	for _, want := range []string{"itme", `"item"`, "count", "9", "lage", `"large"`} {
		if !strings.Contains(got, want) {
			t.Errorf("the error does not mention %s: %s", want, got)
		}
	}
}

func TestMistakesInRegistrationPanicWithTheName(t *testing.T) {
	noop := func(context.Context, struct{}) (string, error) { return "", nil }
	for _, tc := range []struct {
		name string
		do   func(s *server.Server)
		want string
	}{
		{"a name twice", func(s *server.Server) { server.Tool(s, "buy", "", noop) }, "buy"},
		{"no name", func(s *server.Server) { server.Tool(s, "", "", noop) }, "name"},
		{"no implementation", func(s *server.Server) { s.AddTool(mcp.Tool{Name: "idle"}, server.Implementation{}) }, "idle"},
		{"a schema that is none", func(*server.Server) { server.Raw(jsontext.Value(`{"type":12}`), nil, nil) }, "type"},
		{"a type without a schema", func(s *server.Server) {
			server.Tool(s, "chan", "", func(context.Context, struct{ C chan int }) (string, error) { return "", nil })
		}, "chan"},
		{"a bad template", func(s *server.Server) { s.AddTemplate(mcp.ResourceTemplate{URITemplate: "{"}, nil) }, "{"},
		{"a method twice", func(s *server.Server) {
			s.Method("x", nil)
			s.Method("x", nil)
		}, "x"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			defer func() {
				if v := fmt.Sprint(recover()); !strings.Contains(v, tc.want) {
					t.Errorf("panic %q does not name %q", v, tc.want)
				}
			}()
			tc.do(shop())
			t.Error("no panic")
		})
	}
}

func TestFeaturesThatAreAbsentAreNotFound(t *testing.T) {
	s := server.New("empty", "1", quiet())
	for _, method := range []string{
		mcp.MethodListTools, mcp.MethodCallTool, mcp.MethodListResources, mcp.MethodListResourceTemplates, mcp.MethodReadResource,
		mcp.MethodListPrompts, mcp.MethodGetPrompt, mcp.MethodComplete, "no/such",
	} {
		_, err := handle(t, s, method, "")
		var wire *jsonrpc.Error
		if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeMethodNotFound {
			t.Errorf("%s: %v", method, err)
		}
	}
}

func TestPromptsCheckTheirArguments(t *testing.T) {
	s := server.New("p", "1", quiet())
	s.AddPrompt(mcp.Prompt{Name: "review", Arguments: []mcp.PromptArgument{{Name: "code", Required: true}, {Name: "style"}}},
		func(_ context.Context, _ *mcp.Call, a map[string]string) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{{Role: mcp.RoleUser, Content: mcp.Text(a["code"])}}}, nil
		})
	for params, want := range map[string]string{
		`{"name":"review"}`:                            "prompt review needs the argument code (-32602)",
		`{"name":"rewiev"}`:                            "Unknown prompt: rewiev (-32602)",
		`{"name":"review","arguments":{"code":1}}`:     "arguments must be an object of strings (-32602)",
		`{"name":"review","arguments":{"code":"x=1"}}`: "",
	} {
		_, err := handle(t, s, mcp.MethodGetPrompt, params)
		if got := fmt.Sprint(err); err != nil && got != want || err == nil && want != "" {
			t.Errorf("%s: %v, want %q", params, err, want)
		}
	}
}

func TestCompletionIsCutAtAHundred(t *testing.T) {
	s := server.New("c", "1", quiet())
	s.AddPrompt(mcp.Prompt{Name: "p"}, func(context.Context, *mcp.Call, map[string]string) (*mcp.GetPromptResult, error) { return nil, nil })
	s.CompletePrompt("p", func(_ context.Context, _ *mcp.Call, r server.CompleteRequest) ([]string, error) {
		return slices.Repeat([]string{r.Value + r.Given["lang"]}, 250), nil
	})
	result, err := handle(t, s, mcp.MethodComplete, `{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"x"},"context":{"arguments":{"lang":"go"}}}`)
	if err != nil {
		t.Fatal(err)
	}
	c := result.(*mcp.CompleteResult).Completion
	if len(c.Values) != 100 || c.Values[0] != "xgo" || *c.Total != 250 || !*c.HasMore {
		t.Errorf("%d values, total %d, more %v", len(c.Values), *c.Total, *c.HasMore)
	}
	if _, err := handle(t, s, mcp.MethodComplete, `{"ref":{"type":"ref/prompt","name":"q"},"argument":{"name":"a","value":""}}`); err == nil {
		t.Error("completing an unknown prompt succeeded")
	}
}

func TestMiddlewareWrapsInOrder(t *testing.T) {
	var order []string
	note := func(name string) mcp.Middleware {
		return func(next mcp.Handler) mcp.Handler {
			return mcp.HandlerFunc(func(ctx context.Context, c *mcp.Call) (any, error) {
				order = append(order, name)
				return next.Handle(ctx, c)
			})
		}
	}
	s := shop()
	s.Use(note("outer"), note("middle"))
	s.Use(note("inner"))
	callText(t, s, `{"name":"say","arguments":{"text":"x"}}`)
	if got := strings.Join(order, " "); got != "outer middle inner" {
		t.Error(got)
	}
}

func TestEventsReachThoseWhoAsked(t *testing.T) {
	s := shop()
	s.AddResource(mcp.Resource{URI: "a:1", Name: "one"}, func(context.Context, *mcp.Call, server.ReadRequest) ([]mcp.ResourceContents, error) {
		return []mcp.ResourceContents{{Text: "1"}}, nil
	})
	var mu sync.Mutex
	var got []string
	listen := func(filter string) *mcp.Subscription {
		result, err := s.Handle(t.Context(), &mcp.Call{
			Method: mcp.MethodSubscriptionsListen, Params: jsontext.Value(`{"notifications":` + filter + `}`), Client: &mcp.Client{},
			Emit: func(e mcp.Event) {
				mu.Lock()
				defer mu.Unlock()
				got = append(got, e.Method+e.URI)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return result.(*mcp.Subscription)
	}
	sub := listen(`{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["a:1"]}`)
	if sub.Filter.PromptsListChanged {
		t.Error("a server without prompts agreed to tell of them")
	}
	s.RemoveTool("say")
	s.RemoveTool("say")
	s.ResourceUpdated("a:1")
	s.ResourceUpdated("a:2")
	s.RemoveResource("a:1")
	sub.Stop()
	sub.Stop()
	s.RemoveTool("buy")
	want := "notifications/tools/list_changed notifications/resources/updateda:1"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got %q, want %q", s, want)
	}
}

func TestURIsAreLookedUpInTime_R070(t *testing.T) {
	s := server.New("t", "1", quiet())
	for i := range 1000 {
		s.AddTemplate(mcp.ResourceTemplate{URITemplate: fmt.Sprintf("x%d://{a*}/{b*}/{c*}{?d*}", i), Name: "t"},
			func(context.Context, *mcp.Call, server.ReadRequest) ([]mcp.ResourceContents, error) { return nil, nil })
	}
	for _, test := range []struct{ name, uri string }{
		{"50,000 characters are not looked up", "x999://" + strings.Repeat("a,", 25_000)},
		{"50,000 characters that are encoded", "x999://" + strings.Repeat("%2C", 50_000/3)},
		{"the longest URI that is looked up", "x999://" + strings.Repeat("a,", 4_000) + "!"},
		{"a template that is not there", "y://" + strings.Repeat("a,", 4_000)},
	} {
		took := time.Hour
		for range 3 { // others may have the processor at the first try
			start := time.Now()
			_, err := handle(t, s, mcp.MethodReadResource, `{"uri":"`+test.uri+`"}`)
			took = min(took, time.Since(start))
			if err == nil {
				t.Errorf("%s: it was read", test.name)
			}
		}
		if took > 50*time.Millisecond*server.Slowdown {
			t.Errorf("%s: took %v", test.name, took)
		}
	}
}
