package fleet_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/fleet"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

// newLibrary is a server with a prompt, a resource and a template.
func newLibrary() *server.Server {
	s := server.New("library", "1", nil)
	s.AddPrompt(mcp.Prompt{Name: "greet", Arguments: []mcp.PromptArgument{{Name: "name"}}},
		func(_ context.Context, _ *mcp.Call, arguments map[string]string) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Description: "for " + arguments["name"]}, nil
		})
	s.CompletePrompt("greet", func(_ context.Context, _ *mcp.Call, r server.CompleteRequest) ([]string, error) {
		return []string{r.Value + "a"}, nil
	})
	read := func(_ context.Context, _ *mcp.Call, r server.ReadRequest) ([]mcp.ResourceContents, error) {
		return []mcp.ResourceContents{{URI: r.URI, Text: "text of " + r.URI}}, nil
	}
	s.AddResource(mcp.Resource{URI: "note://1", Name: "one"}, read)
	s.AddTemplate(mcp.ResourceTemplate{URITemplate: "page://{n}", Name: "pages"}, read)
	return s
}

func TestAServerOffersWhatItsClientDoes(t *testing.T) {
	ctx := t.Context()
	f := launch(t, servers{"lib": {Command: "x"}}, &fleet.Options{Dial: dialAll(&inMemory{handler: newLibrary()})})
	s := get(t, f, "lib")
	if s.Name() != "lib" {
		t.Errorf("name: %q", s.Name())
	}
	if list, err := client.Collect(s.Prompts(ctx)); err != nil || len(list) != 1 || list[0].Name != "greet" {
		t.Errorf("prompts: %v, %v", list, err)
	}
	if got, err := s.GetPrompt(ctx, "greet", map[string]string{"name": "Ada"}, nil); err != nil || got.Description != "for Ada" {
		t.Errorf("prompt: %v, %v", got, err)
	}
	if list, err := client.Collect(s.Resources(ctx)); err != nil || len(list) != 1 || list[0].URI != "note://1" {
		t.Errorf("resources: %v, %v", list, err)
	}
	if list, err := client.Collect(s.ResourceTemplates(ctx)); err != nil || len(list) != 1 || list[0].Name != "pages" {
		t.Errorf("templates: %v, %v", list, err)
	}
	if got, err := s.ReadResource(ctx, "page://7", nil); err != nil || got.Contents[0].Text != "text of page://7" {
		t.Errorf("resource: %v, %v", got, err)
	}
	got, err := s.Complete(ctx, &mcp.CompleteParams{
		Ref: mcp.CompleteReference{Type: mcp.RefPrompt, Name: "greet"}, Argument: mcp.CompleteArgument{Name: "name", Value: "Ad"},
	})
	if err != nil || got.Values[0] != "Ada" {
		t.Errorf("completion: %v, %v", got, err)
	}
	var raw jsontext.Value
	if err := s.Do(ctx, mcp.MethodListPrompts, nil, &raw, nil); err != nil || !strings.Contains(string(raw), "greet") {
		t.Errorf("by method: %s, %v", raw, err)
	}
	var named *fleet.ServerError
	if _, err := s.GetPrompt(ctx, "none", nil, nil); !errors.As(err, &named) || named.Server != "lib" {
		t.Errorf("the server's error: %v", err)
	}
	for range s.Prompts(ctx) {
		break // and nothing is yielded after it
	}
}

func TestADialerWithoutAFleet(t *testing.T) {
	c := child(asWorker)
	d, err := c.Dialer("a", &fleet.Options{Logger: quiet, Stderr: func(string) io.Writer { return io.Discard }})
	if err != nil {
		t.Fatal(err)
	}
	connected, err := client.Connect(t.Context(), d, nil)
	if err != nil {
		t.Fatal(err)
	}
	if name := connected.Server().Name; name != "worker" {
		t.Errorf("it is %q", name)
	}
	if err := connected.Close(); err != nil {
		t.Error(err)
	}
	for want, c := range map[string]fleet.ServerConfig{"is not set": {Command: "x", Err: errors.New("K is not set")}, "neither": {}} {
		if _, err := c.Dialer("a", nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}
