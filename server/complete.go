package server

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

// CompleteRequest says what to complete.
type CompleteRequest struct {
	Argument string            // the prompt's argument, or the template's variable
	Value    string            // what was typed so far
	Given    map[string]string // the arguments that are already settled
}

// Completer proposes values, best first. More than a hundred may be returned;
// the client gets the first hundred and is told how many there are.
type Completer func(ctx context.Context, c *mcp.Call, r CompleteRequest) ([]string, error)

// CompletePrompt proposes values for the arguments of a prompt.
func (s *Server) CompletePrompt(name string, complete Completer) {
	s.addCompleter(mcp.RefPrompt, name, complete)
}

// CompleteTemplate proposes values for the variables of a resource template.
func (s *Server) CompleteTemplate(uriTemplate string, complete Completer) {
	s.addCompleter(mcp.RefResource, uriTemplate, complete)
}

func (s *Server) addCompleter(kind, name string, complete Completer) {
	if complete == nil || !s.completions.add(kind+" "+name, complete) {
		panic("server: completion for " + name + " is registered twice, or nil")
	}
	s.discovered.Store(nil)
}

func (s *Server) complete(ctx context.Context, c *mcp.Call) (any, error) {
	var params mcp.CompleteParams
	if err := json.Unmarshal(c.Params, &params); err != nil {
		return nil, jsonrpc.InvalidParams("params must have a ref and an argument with a name and a value")
	}
	var name string
	var known bool
	switch params.Ref.Type {
	case mcp.RefPrompt:
		name = params.Ref.Name
		_, known = s.prompts.get(name)
	case mcp.RefResource:
		name = params.Ref.URI
		_, known = s.templates.get(name)
		if _, plain := s.resources.get(name); plain {
			known = true
		}
	default:
		return nil, jsonrpc.InvalidParams("ref.type must be %s or %s", mcp.RefPrompt, mcp.RefResource)
	}
	if !known {
		return nil, jsonrpc.InvalidParams("nothing to complete: there is no %s %q", params.Ref.Type, name)
	}
	var values []string
	if complete, ok := s.completions.get(params.Ref.Type + " " + name); ok {
		request := CompleteRequest{Argument: params.Argument.Name, Value: params.Argument.Value}
		if params.Context != nil {
			request.Given = params.Context.Arguments
		}
		var err error
		if values, err = complete(ctx, c, request); err != nil {
			return nil, err
		}
	}
	total, more := int64(len(values)), len(values) > mcp.MaxCompletionValues
	if more {
		values = values[:mcp.MaxCompletionValues]
	}
	return &mcp.CompleteResult{Completion: mcp.Completion{Values: values, Total: &total, HasMore: &more}}, nil
}
