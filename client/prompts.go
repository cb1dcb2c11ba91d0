package client

import (
	"context"
	"iter"

	"github.com/bossman-mcp/bossman/mcp"
)

// Prompts lists the server's prompts, page by page as the caller goes on.
func (c *Client) Prompts(ctx context.Context) iter.Seq2[mcp.Prompt, error] {
	return walk(ctx, c, &list[mcp.Prompt]{
		method: mcp.MethodListPrompts, member: "prompts",
		key: func(p *mcp.Prompt) string { return p.Name },
	})
}

// GetPrompt returns a prompt with its arguments filled in.
func (c *Client) GetPrompt(ctx context.Context, name string, arguments map[string]string, opts *CallOptions) (*mcp.GetPromptResult, error) {
	r, err := c.newRequest(mcp.MethodGetPrompt, &mcp.GetPromptParams{Name: name, Arguments: arguments}, opts)
	if err != nil {
		return nil, err
	}
	reply, _, err := c.run(ctx, r)
	if err != nil {
		return nil, err
	}
	result := new(mcp.GetPromptResult)
	if err := decode(r.method, reply.Result, result); err != nil {
		return nil, err
	}
	return result, nil
}
