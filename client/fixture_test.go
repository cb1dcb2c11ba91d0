package client_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

type pair struct {
	A float64 `json:"a" doc:"First number"`
	B float64 `json:"b" doc:"Second number"`
}

type sum struct {
	Result float64 `json:"result" doc:"The sum"`
}

// newAdder is a server with one tool.
func newAdder() *server.Server {
	s := server.New("adder", "1.0.0", nil)
	server.Tool(s, "add", "Add two numbers together", func(_ context.Context, in pair) (sum, error) {
		return sum{in.A + in.B}, nil
	})
	return s
}

// newEverything is a server with one of each kind.
func newEverything() *server.Server {
	s := server.New("everything", "1.2.3", &server.Options{Instructions: "Be kind.", PageSize: 2, ListTTL: time.Minute})
	server.Tool(s, "add", "Add two numbers together", func(_ context.Context, in pair) (sum, error) {
		return sum{in.A + in.B}, nil
	})
	server.Tool(s, "fail", "Always fails", func(context.Context, struct{}) (string, error) {
		return "", errors.New("out of luck")
	})
	s.AddTool(mcp.Tool{Name: "count", Description: "Counts to three, aloud"}, server.CallFunc(
		func(ctx context.Context, c *mcp.Call, _ struct{}) (string, error) {
			for i := range 3 {
				if err := c.Progress(ctx, float64(i+1), 3, fmt.Sprintf("step %d", i+1)); err != nil {
					return "", err
				}
				if err := c.Log(ctx, mcp.LevelWarning, "counter", i+1); err != nil {
					return "", err
				}
			}
			return "three", nil
		}))
	s.AddTool(mcp.Tool{Name: "wait", Description: "Waits to be cancelled"}, server.CallFunc(
		func(ctx context.Context, _ *mcp.Call, _ struct{}) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}))
	s.AddTool(mcp.Tool{Name: "ask", Description: "Asks everything"}, server.CallFunc(askEverything))
	for i := range 3 {
		uri := fmt.Sprintf("note://%d", i)
		s.AddResource(mcp.Resource{URI: uri, Name: uri}, func(_ context.Context, _ *mcp.Call, r server.ReadRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{{URI: r.URI, Text: "note " + r.URI}}, nil
		})
	}
	s.AddTemplate(mcp.ResourceTemplate{URITemplate: "page://{n}", Name: "pages"},
		func(_ context.Context, _ *mcp.Call, r server.ReadRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{{URI: r.URI, Text: "page " + r.Vars["n"]}}, nil
		})
	return s
}

const askForm = `{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","default":30}},"required":["name","age"]}`

// askEverything asks a form, a visit, a model and the roots, all at once.
func askEverything(_ context.Context, c *mcp.Call, _ struct{}) (string, error) {
	form, err1 := c.Elicit("form", &mcp.ElicitParams{Message: "Who?", RequestedSchema: jsontext.Value(askForm)})
	model, err2 := c.Sample("model", &mcp.CreateMessageParams{MaxTokens: 5, Messages: []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.Contents{mcp.Text("hi")}}}})
	roots, err3 := c.Roots("roots")
	if err := errors.Join(err1, err2, err3); err != nil {
		return "", err
	}
	if err := c.Keep("half way"); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %s %s %s", form.Action, form.Content, model.Content[0].(*mcp.TextContent).Text, roots.Roots[0].URI), nil
}
