package client_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
	"github.com/bossman-mcp/bossman/server"
)

// eachRevision runs a test against a real server, held to one revision after the
// other.
func eachRevision(t *testing.T, test func(t *testing.T, rev *revision.Revision)) {
	for _, rev := range revision.All() {
		t.Run(rev.Name, func(t *testing.T) { test(t, rev) })
	}
}

func TestEverythingAServerOffersInEachRevision(t *testing.T) {
	eachRevision(t, func(t *testing.T, rev *revision.Revision) {
		s := newEverything()
		s.AddPrompt(mcp.Prompt{Name: "greet", Arguments: []mcp.PromptArgument{{Name: "name", Required: true}}},
			func(_ context.Context, _ *mcp.Call, arguments map[string]string) (*mcp.GetPromptResult, error) {
				return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{{Role: mcp.RoleUser, Content: mcp.Text("Greet " + arguments["name"])}}}, nil
			})
		s.CompletePrompt("greet", func(context.Context, *mcp.Call, server.CompleteRequest) ([]string, error) {
			return []string{"Ada", "Alan"}, nil
		})
		c := connect(t, &inMemory{handler: s}, &client.Options{Revision: rev.Name})
		ctx := t.Context()

		info := c.Server()
		if info.Name != "everything" || info.Version != "1.2.3" || info.Instructions != "Be kind." || info.Revision != rev.Name || info.Stateless != rev.Stateless || info.Capabilities.Tools == nil {
			t.Errorf("the server is %+v", info)
		}
		var names []string
		for tool, err := range c.Tools(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, tool.Name)
		}
		if want := []string{"add", "ask", "count", "fail", "wait"}; !slices.Equal(slices.Sorted(slices.Values(names)), want) {
			t.Errorf("tools: %v", names)
		}
		if resources, err := client.Collect(c.Resources(ctx)); err != nil || len(resources) != 3 {
			t.Errorf("resources: %v, %v", resources, err)
		}
		if templates, err := client.Collect(c.ResourceTemplates(ctx)); err != nil || len(templates) != 1 || templates[0].URITemplate != "page://{n}" {
			t.Errorf("templates: %v, %v", templates, err)
		}
		if prompts, err := client.Collect(c.Prompts(ctx)); err != nil || len(prompts) != 1 {
			t.Errorf("prompts: %v, %v", prompts, err)
		}
		if page, err := c.ReadResource(ctx, "page://7", nil); err != nil || page.Contents[0].Text != "page 7" {
			t.Errorf("resource: %v, %v", page, err)
		}
		if prompt, err := c.GetPrompt(ctx, "greet", map[string]string{"name": "Ada"}, nil); err != nil || prompt.Messages[0].Content.(*mcp.TextContent).Text != "Greet Ada" {
			t.Errorf("prompt: %v, %v", prompt, err)
		}
		completion, err := c.Complete(ctx, &mcp.CompleteParams{Ref: mcp.CompleteReference{Type: mcp.RefPrompt, Name: "greet"}, Argument: mcp.CompleteArgument{Name: "name", Value: "A"}})
		if err != nil || !slices.Equal(completion.Values, []string{"Ada", "Alan"}) {
			t.Errorf("completion: %v, %v", completion, err)
		}
		if err := c.Ping(ctx); err != nil {
			t.Errorf("ping: %v", err)
		}
		var raw jsontext.Value
		if err := c.Do(ctx, mcp.MethodReadResource, map[string]any{"uri": "note://1", "_meta": map[string]any{"x": 1}}, &raw, nil); err != nil || !strings.Contains(string(raw), "note note://1") {
			t.Errorf("do: %s, %v", raw, err)
		}
	})
}

func TestToolsAreCalledInEachRevision(t *testing.T) {
	eachRevision(t, func(t *testing.T, rev *revision.Revision) {
		c := connect(t, &inMemory{handler: newEverything()}, &client.Options{Revision: rev.Name})
		ctx := t.Context()
		for name, arguments := range map[string]any{
			"a struct": pair{2, 40}, "a pointer": &pair{2, 40}, "a map": map[string]any{"a": 2, "b": 40}, "raw JSON": jsontext.Value(` {"a":2, "b":40} `),
		} {
			if got, err := client.Call[sum](ctx, c, "add", arguments); err != nil || got.Result != 42 {
				t.Errorf("%s: %v, %v", name, got, err)
			}
		}
		result, err := c.CallTool(ctx, "fail", nil, nil)
		if err != nil || !result.IsError || client.TextOf(result.Content) != "out of luck" {
			t.Errorf("fail: %+v, %v", result, err)
		}
		var failure *client.ToolError
		if _, err := client.Call[string](ctx, c, "fail", nil); !errors.As(err, &failure) || failure.Tool != "fail" || err.Error() != "tool fail failed: out of luck" {
			t.Errorf("fail: %v", err)
		}
		var theirs *jsonrpc.Error
		var ours *client.LocalError
		if _, err := c.CallTool(ctx, "nothing", nil, nil); !errors.As(err, &theirs) || errors.As(err, &ours) || theirs.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("unknown tool: %v", err)
		}
		for name, arguments := range map[string]any{
			"a number": 7, "an array": []int{1}, "raw JSON that is none": jsontext.Value(`{"a":`), "two values": jsontext.Value(`{} {}`),
			"a member twice": jsontext.Value(`{"a":1,"a":2}`), "raw text": jsontext.Value(`"x"`), "a channel": make(chan int),
		} {
			if _, err := c.CallTool(ctx, "add", arguments, nil); !errors.As(err, &ours) || errors.As(err, &theirs) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestProgressIsHeardBeforeTheCallReturns(t *testing.T) {
	eachRevision(t, func(t *testing.T, rev *revision.Revision) {
		c := connect(t, &inMemory{handler: newEverything()}, &client.Options{Revision: rev.Name})
		for range 20 {
			var heard []float64
			_, err := c.CallTool(t.Context(), "count", nil, &client.CallOptions{OnProgress: func(p *mcp.ProgressParams) {
				heard = append(heard, p.Progress) // no lock: it is this goroutine
				if p.Total == nil || *p.Total != 3 {
					t.Errorf("total %v", p.Total)
				}
				if err := c.Ping(t.Context()); err != nil { // calls may be made from it
					t.Error(err)
				}
			}})
			if err != nil || !slices.Equal(heard, []float64{1, 2, 3}) {
				t.Fatalf("heard %v, %v", heard, err)
			}
		}
	})
}

func TestLogMessagesAreHeard(t *testing.T) {
	eachRevision(t, func(t *testing.T, rev *revision.Revision) {
		heard := make(chan string, 10)
		c := connect(t, &inMemory{handler: newEverything()}, &client.Options{
			Revision: rev.Name, LogLevel: mcp.LevelWarning,
			OnLog: func(p *mcp.LoggingMessageParams) { heard <- p.Logger + string(p.Data) },
		})
		if _, err := c.CallTool(t.Context(), "count", nil, nil); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"counter1", "counter2", "counter3"} {
			if got := <-heard; got != want {
				t.Errorf("heard %q, want %q", got, want)
			}
		}
		if err := c.SetLogLevel(t.Context(), mcp.LevelError); err != nil {
			t.Fatal(err)
		}
		if _, err := c.CallTool(t.Context(), "count", nil, nil); err != nil {
			t.Fatal(err)
		}
		if err := c.Ping(t.Context()); err != nil { // everything before it has arrived
			t.Fatal(err)
		}
		if len(heard) > 0 {
			t.Errorf("heard %q of a level that was not wanted", <-heard)
		}
	})
}

func TestTheServersQuestionsAreAnsweredInEachRevision(t *testing.T) {
	eachRevision(t, func(t *testing.T, rev *revision.Revision) {
		var mu sync.Mutex
		var asked []string
		note := func(what string) { mu.Lock(); asked = append(asked, what); mu.Unlock() }
		c := connect(t, &inMemory{handler: newEverything()}, &client.Options{
			Revision: rev.Name,
			Elicit: func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				note("form " + p.Message)
				return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: jsontext.Value(`{"name":"Ada"}`)}, nil
			},
			Sample: func(_ context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
				note("model " + client.TextOf(p.Messages[0].Content))
				return &mcp.CreateMessageResult{Role: mcp.RoleAssistant, Model: "m", Content: mcp.Contents{mcp.Text("hello")}}, nil
			},
			Roots: func(context.Context) ([]mcp.Root, error) {
				note("roots")
				return []mcp.Root{{URI: "file:///project"}}, nil
			},
		})
		got, err := client.Call[string](t.Context(), c, "ask", nil)
		if !rev.Structured { // no elicitation yet: the server finds that the client cannot be asked
			var theirs *jsonrpc.Error
			if !errors.As(err, &theirs) {
				t.Errorf("got %q, %v", got, err)
			}
			return
		}
		if want := `accept {"name":"Ada","age":30} hello file:///project`; err != nil || got != want {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
		if want := []string{"form Who?", "model hi", "roots"}; !slices.Equal(asked, want) {
			t.Errorf("asked %q", asked)
		}
		if err := c.RootsChanged(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestWhatAServerMayNotAskIsNotAnswered(t *testing.T) {
	eachRevision(t, func(t *testing.T, rev *revision.Revision) {
		c := connect(t, &inMemory{handler: newEverything()}, &client.Options{Revision: rev.Name})
		var theirs *jsonrpc.Error
		if _, err := c.CallTool(t.Context(), "ask", nil, nil); !errors.As(err, &theirs) {
			t.Errorf("got %v", err)
		}
	})
}

func TestManyGoroutinesShareAClient(t *testing.T) {
	for _, era := range []string{"handshake", "stateless"} {
		t.Run(era, func(t *testing.T) {
			c := connect(t, &inMemory{handler: newEverything()}, &client.Options{Revision: era})
			var wg sync.WaitGroup
			for i := range 64 {
				wg.Go(func() {
					for j := range 5 {
						if err := mixed(t.Context(), c, i+j); err != nil {
							t.Errorf("goroutine %d: %v", i, err)
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

// mixed makes one of several calls and checks its answer.
func mixed(ctx context.Context, c *client.Client, n int) error {
	switch n % 5 {
	case 0:
		got, err := client.Call[sum](ctx, c, "add", pair{float64(n), 1})
		if err == nil && got.Result != float64(n+1) {
			err = errors.New("wrong sum")
		}
		return err
	case 1:
		tools, err := client.Collect(c.Tools(ctx))
		if err == nil && len(tools) != 5 {
			err = errors.New("wrong list")
		}
		return err
	case 2:
		_, err := c.ReadResource(ctx, "note://1", nil)
		return err
	case 3:
		heard := 0
		_, err := c.CallTool(ctx, "count", nil, &client.CallOptions{OnProgress: func(*mcp.ProgressParams) { heard++ }})
		if err == nil && heard != 3 {
			err = errors.New("wrong progress")
		}
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := c.CallTool(ctx, "wait", nil, nil); !errors.Is(err, context.Canceled) {
		return errors.New("not cancelled")
	}
	return nil
}
