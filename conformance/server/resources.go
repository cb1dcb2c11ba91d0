package main

import (
	"context"
	"fmt"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

func addResources(s *server.Server) {
	fixed := func(uri, name, mimeType string, contents mcp.ResourceContents) {
		s.AddResource(mcp.Resource{URI: uri, Name: name, MIMEType: mimeType},
			func(context.Context, *mcp.Call, server.ReadRequest) ([]mcp.ResourceContents, error) {
				return []mcp.ResourceContents{contents}, nil
			})
	}
	fixed("test://static-text", "static text", "text/plain", mcp.ResourceContents{Text: "This is a static text."})
	fixed("test://static-binary", "static binary", "image/png", mcp.ResourceContents{Blob: pixel})
	fixed("test://watched-resource", "watched", "text/plain", mcp.ResourceContents{Text: "Watch me."})
	s.AddTemplate(mcp.ResourceTemplate{URITemplate: "test://template/{id}/data", Name: "data", MIMEType: "text/plain"},
		func(_ context.Context, _ *mcp.Call, r server.ReadRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{{Text: fmt.Sprintf("The data of %s.", r.Vars["id"])}}, nil
		})
}

// addPrompt offers a prompt that is always the same.
func addPrompt(s *server.Server, description mcp.Prompt, content mcp.Content) {
	s.AddPrompt(description, func(context.Context, *mcp.Call, map[string]string) (*mcp.GetPromptResult, error) {
		return message(content), nil
	})
}

func message(content mcp.Content) *mcp.GetPromptResult {
	return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{{Role: mcp.RoleUser, Content: content}}}
}

func addPrompts(s *server.Server) {
	addPrompt(s, mcp.Prompt{Name: "test_simple_prompt", Description: "A prompt without arguments"}, mcp.Text("This is a simple prompt."))
	addPrompt(s, mcp.Prompt{Name: "test_prompt_with_image", Description: "A prompt with a picture"}, mcp.Image(pixel, "image/png"))
	s.AddPrompt(mcp.Prompt{Name: "test_prompt_with_arguments", Description: "A prompt with arguments", Arguments: []mcp.PromptArgument{
		{Name: "arg1", Description: "The first", Required: true}, {Name: "arg2", Description: "The second", Required: true},
	}}, func(_ context.Context, _ *mcp.Call, a map[string]string) (*mcp.GetPromptResult, error) {
		return message(mcp.Text(fmt.Sprintf("arg1 is %s, arg2 is %s", a["arg1"], a["arg2"]))), nil
	})
	s.AddPrompt(mcp.Prompt{Name: "test_prompt_with_embedded_resource", Description: "A prompt with a resource", Arguments: []mcp.PromptArgument{
		{Name: "resourceUri", Description: "The resource's URI", Required: true},
	}}, func(_ context.Context, _ *mcp.Call, a map[string]string) (*mcp.GetPromptResult, error) {
		return message(mcp.Embed(mcp.ResourceContents{URI: a["resourceUri"], MIMEType: "text/plain", Text: "embedded text"})), nil
	})
	s.AddPrompt(mcp.Prompt{Name: "test_input_required_result_prompt", Description: "A prompt that asks the user"},
		func(_ context.Context, c *mcp.Call, _ map[string]string) (*mcp.GetPromptResult, error) {
			answer, err := elicit(c, "user_context", "What is this about?", `{"type":"object","properties":{"context":{"type":"string"}},"required":["context"]}`)
			if err != nil {
				return nil, err
			}
			return message(mcp.Text("It is about " + string(answer.Content))), nil
		})
	s.CompletePrompt("test_prompt_with_arguments", func(_ context.Context, _ *mcp.Call, r server.CompleteRequest) ([]string, error) {
		return []string{r.Value + "a", r.Value + "b"}, nil
	})
}
