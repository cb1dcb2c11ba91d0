package client

import (
	"context"

	"github.com/bossman-mcp/bossman/mcp"
)

// Complete asks how an argument of a prompt, or a variable of a resource
// template, could go on.
func (c *Client) Complete(ctx context.Context, p *mcp.CompleteParams) (*mcp.Completion, error) {
	result := new(mcp.CompleteResult)
	if err := c.Do(ctx, mcp.MethodComplete, p, result, nil); err != nil {
		return nil, err
	}
	return &result.Completion, nil
}
