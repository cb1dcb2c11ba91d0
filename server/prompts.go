package server

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

// PromptFunc fills in a prompt. The arguments that the prompt requires are
// there; others may be.
type PromptFunc func(ctx context.Context, c *mcp.Call, arguments map[string]string) (*mcp.GetPromptResult, error)

type prompt struct {
	mcp.Prompt
	get PromptFunc
}

// AddPrompt offers a prompt. Its name must be free.
func (s *Server) AddPrompt(description mcp.Prompt, get PromptFunc) {
	if description.Name == "" || get == nil {
		panic("server: prompt " + description.Name + " needs a name and a function that fills it in")
	}
	if !s.prompts.add(description.Name, &prompt{description, get}) {
		panic("server: prompt " + description.Name + " is registered twice")
	}
	s.changed(mcp.NotificationPromptsListChanged)
}

// RemovePrompt takes a prompt away and reports whether it was there.
func (s *Server) RemovePrompt(name string) bool {
	removed := s.prompts.remove(name)
	if removed {
		s.changed(mcp.NotificationPromptsListChanged)
	}
	return removed
}

func (s *Server) listPrompts(c *mcp.Call) (any, error) {
	return s.prompts.page(c, s.opts.PageSize, func(prompts []*prompt, next *string) any {
		result := &mcp.ListPromptsResult{Prompts: make([]mcp.Prompt, len(prompts)), NextCursor: next}
		result.TTLMs, result.CacheScope = s.hints()
		for i, p := range prompts {
			result.Prompts[i] = p.Prompt
		}
		return result
	})
}

func (s *Server) getPrompt(ctx context.Context, c *mcp.Call) (any, error) {
	name := jsonscan.Get(c.Params, "name")
	if jsonscan.KindOf(name) != jsonscan.String {
		return nil, jsonrpc.InvalidParams("name must be the name of a prompt")
	}
	p, ok := s.prompts.get(jsonscan.Unquote(name))
	if !ok {
		return nil, jsonrpc.InvalidParams("Unknown prompt: %s", jsonscan.Unquote(name))
	}
	arguments := make(map[string]string)
	if raw := jsonscan.Get(c.Params, "arguments"); raw != nil {
		if err := json.Unmarshal(raw, &arguments); err != nil {
			return nil, jsonrpc.InvalidParams("arguments must be an object of strings")
		}
	}
	var absent []string
	for _, a := range p.Arguments {
		if _, given := arguments[a.Name]; a.Required && !given {
			absent = append(absent, a.Name)
		}
	}
	if len(absent) > 0 {
		return nil, jsonrpc.InvalidParams("prompt %s needs the argument %s", p.Name, strings.Join(absent, " and "))
	}
	result, err := p.get(ctx, c, arguments)
	if err == nil && result == nil {
		s.log.Error("prompt returned neither a result nor an error", "prompt", p.Name)
		return nil, jsonrpc.InternalError("the prompt returned nothing")
	}
	return result, err
}
