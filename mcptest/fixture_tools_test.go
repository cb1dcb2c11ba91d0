package mcptest_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

type pair struct {
	A float64 `json:"a" doc:"First number"`
	B float64 `json:"b" doc:"Second number"`
}

type sum struct {
	Sum float64 `json:"sum" doc:"The sum of a and b"`
}

func add(_ context.Context, in pair) (sum, error) { return sum{in.A + in.B}, nil }

func addListedTools(s *server.Server) {
	yes, no := true, false
	s.AddTool(mcp.Tool{
		Name: "add", Title: "Adder", Description: "Add two numbers together",
		Annotations: &mcp.ToolAnnotations{Title: "Adds", ReadOnlyHint: &yes, OpenWorldHint: &no},
		Icons:       []mcp.Icon{{Src: "https://example.com/add.svg", MIMEType: "image/svg+xml", Sizes: []string{"any"}}},
		Meta:        mcp.Meta(`{"com.example/price":0}`),
	}, server.Func(add))
	server.Tool(s, "letters", "The letters", func(context.Context, struct{}) ([]string, error) { return []string{"a", "b"}, nil })
	server.Tool(s, "hello", "Say hello", func(context.Context, struct{}) (string, error) { return "hello", nil })
}

// addPlainTools adds tools that only answer.
func addPlainTools(s *server.Server) {
	addListedTools(s)
	server.Tool(s, "show", "Show content of each kind", func(context.Context, struct{}) (mcp.Contents, error) {
		half := 0.5
		note := mcp.ResourceContents{URI: "memo://note", MIMEType: "text/plain", Text: "Hello notes", Meta: mcp.Meta(`{"com.example/shelf":5}`)}
		pixel := mcp.ResourceContents{URI: "memo://pixel", MIMEType: "image/gif", Blob: []byte("GIF89a")}
		return mcp.Contents{
			&mcp.TextContent{Text: "words", Annotations: &mcp.Annotations{Audience: []mcp.Role{mcp.RoleAssistant}, Priority: &half, LastModified: "2025-01-12T15:00:58Z"}, Meta: mcp.Meta(`{"com.example/x":1}`)},
			&mcp.ImageContent{Data: []byte("GIF89a"), MIMEType: "image/gif", Meta: mcp.Meta(`{"com.example/x":2}`)},
			mcp.Audio([]byte("hum"), "audio/wav"),
			mcp.Link(mcp.Resource{URI: "memo://note", Name: "note", Title: "A note", Icons: []mcp.Icon{{Src: "https://example.com/note.png"}}}),
			mcp.Embed(note),
			mcp.Embed(pixel),
		}, nil
	})
	server.Tool(s, "refuse", "Fail", func(context.Context, struct{}) (string, error) {
		return "", errors.New("the well is dry: try again after the rain")
	})
	server.Tool(s, "reject", "Fail with an error of the protocol", func(context.Context, struct{}) (string, error) {
		return "", &jsonrpc.Error{Code: -31000, Message: "Rejected", Data: jsontext.Value(`{"why":"because"}`)}
	})
	server.Tool(s, "panic", "Panic", func(context.Context, struct{}) (string, error) { panic("a secret") })
	s.AddTool(mcp.Tool{Name: "lie"}, server.Raw(
		jsontext.Value(`{"type":"object"}`), jsontext.Value(`{"type":"object","required":["truth"]}`),
		func(context.Context, *mcp.Call, jsontext.Value) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{StructuredContent: jsontext.Value(`{"lie":true}`)}, nil
		}))
	server.Tool(s, "wait", "Wait until cancelled", func(ctx context.Context, _ struct{}) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	})
}

// addSpeakingTools adds tools that speak before their answer.
func addSpeakingTools(s *server.Server) {
	s.AddTool(mcp.Tool{Name: "count"}, server.CallFunc(func(ctx context.Context, c *mcp.Call, in struct {
		To int `json:"to" min:"1"`
	}) (string, error) {
		for i := 1; i <= in.To; i++ {
			if err := c.Progress(ctx, float64(i), float64(in.To), fmt.Sprintf("step %d", i)); err != nil {
				return "", err
			}
		}
		return "counted", nil
	}))
	s.AddTool(mcp.Tool{Name: "log"}, server.CallFunc(func(ctx context.Context, c *mcp.Call, _ struct{}) (string, error) {
		return "logged", errors.Join(
			c.Log(ctx, mcp.LevelDebug, "", "details"),
			c.Log(ctx, mcp.LevelInfo, "fixture", map[string]int{"lines": 2}),
			c.Log(ctx, mcp.LevelError, "fixture", "trouble"),
		)
	}))
}

func form(message, field string) *mcp.ElicitParams {
	schema, err := json.Marshal(&mcp.FormSchema{Type: "object", Required: []string{field}, Properties: mcp.FormFields{
		{Name: field, Schema: mcp.FieldSchema{Type: "string", Title: "Your " + field}},
	}})
	if err != nil {
		panic(err)
	}
	return &mcp.ElicitParams{Mode: mcp.ElicitForm, Message: message, RequestedSchema: schema}
}

// addAskingTools adds tools that ask the client.
func addAskingTools(s *server.Server) {
	asking := func(name string, run func(c *mcp.Call) (string, error)) {
		s.AddTool(mcp.Tool{Name: name}, server.CallFunc(func(_ context.Context, c *mcp.Call, _ struct{}) (string, error) {
			return run(c)
		}))
	}
	asking("book", func(c *mcp.Call) (string, error) {
		answer, err := c.Elicit("name", form("Who is it for?", "name"))
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%s: %s", answer.Action, answer.Content), nil
	})
	asking("visit", func(c *mcp.Call) (string, error) {
		answer, err := c.Elicit("visit", &mcp.ElicitParams{Mode: mcp.ElicitURL, Message: "Please sign in", URL: "https://example.com/sign-in"})
		if err != nil {
			return "", err
		}
		return string(answer.Action), nil
	})
	asking("think", func(c *mcp.Call) (string, error) {
		answer, err := c.Sample("thought", &mcp.CreateMessageParams{MaxTokens: 100, SystemPrompt: "Be brief.", Messages: []mcp.SamplingMessage{
			{Role: mcp.RoleUser, Content: mcp.Contents{mcp.Text("What is the capital of France?")}},
		}})
		if err != nil {
			return "", err
		}
		return answer.Model + ": " + answer.Content[0].(*mcp.TextContent).Text, nil
	})
	asking("where", func(c *mcp.Call) (string, error) {
		answer, err := c.Roots("roots")
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%d roots, first %s", len(answer.Roots), answer.Roots[0].URI), nil
	})
	asking("survey", func(c *mcp.Call) (string, error) {
		name, err1 := c.Elicit("name", form("Your name?", "name"))
		roots, err2 := c.Roots("roots")
		if err := errors.Join(err1, err2); err != nil {
			return "", err
		}
		return fmt.Sprintf("%s from %s", name.Content, roots.Roots[0].URI), nil
	})
	asking("wizard", func(c *mcp.Call) (string, error) {
		name, err := c.Elicit("name", form("Your name?", "name"))
		if err != nil {
			return "", err
		}
		if c.State() == nil {
			if err := c.Keep(map[string]int{"step": 1}); err != nil {
				return "", err
			}
		}
		colour, err := c.Elicit("colour", form("Your colour?", "colour"))
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%s %s %s", name.Content, colour.Content, c.State()), nil
	})
}

// addChangingTools adds tools that change the server.
func addChangingTools(s *server.Server) {
	server.Tool(s, "grow", "Add something to a list", func(_ context.Context, in struct {
		What string `json:"what" enum:"tool,prompt,resource"`
	}) (string, error) {
		switch in.What {
		case "tool":
			server.Tool(s, "late", "", func(context.Context, struct{}) (string, error) { return "here", nil })
		case "prompt":
			s.AddPrompt(mcp.Prompt{Name: "late"}, greet)
		case "resource":
			s.AddResource(mcp.Resource{URI: "memo://late", Name: "late"}, readText("late"))
		}
		return "grown", nil
	})
	server.Tool(s, "touch", "Say that a resource was updated", func(_ context.Context, in struct {
		URI string `json:"uri"`
	}) (string, error) {
		s.ResourceUpdated(in.URI)
		return "touched", nil
	})
}
