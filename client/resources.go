package client

import (
	"context"
	"iter"

	"github.com/bossman-mcp/bossman/mcp"
)

// Resources lists the server's resources, page by page as the caller goes on.
func (c *Client) Resources(ctx context.Context) iter.Seq2[mcp.Resource, error] {
	return walk(ctx, c, &list[mcp.Resource]{
		method: mcp.MethodListResources, member: "resources",
		key: func(r *mcp.Resource) string { return r.URI },
	})
}

// ResourceTemplates lists the server's families of resources, page by page as the
// caller goes on.
func (c *Client) ResourceTemplates(ctx context.Context) iter.Seq2[mcp.ResourceTemplate, error] {
	return walk(ctx, c, &list[mcp.ResourceTemplate]{
		method: mcp.MethodListResourceTemplates, member: "resourceTemplates",
		key: func(t *mcp.ResourceTemplate) string { return t.URITemplate },
	})
}

// ReadResource reads a resource, from the cache if the server allows that.
func (c *Client) ReadResource(ctx context.Context, uri string, opts *CallOptions) (*mcp.ReadResourceResult, error) {
	text, _, err := c.cached(ctx, mcp.MethodReadResource, uri, &mcp.ReadResourceParams{URI: uri}, opts)
	if err != nil {
		return nil, err
	}
	result := new(mcp.ReadResourceResult)
	if err := decode(mcp.MethodReadResource, text, result); err != nil {
		return nil, err
	}
	return result, nil
}
