package client

import (
	"context"
	"fmt"
	"net/url"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/schema"
)

// answerAll answers the questions inside a result, one after the other: there is
// one user. It returns nil when there are none.
func (c *Client) answerAll(ctx context.Context, method string, questions mcp.InputRequests) (jsontext.Value, error) {
	if len(questions) == 0 {
		return nil, nil
	}
	out := []byte{'{'}
	for i, q := range questions {
		answer, err := c.answer(ctx, q.Method, q.Params)
		if err != nil {
			return nil, localf(method, "answer the server's question %q: %w", q.Key, err)
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(jsonscan.AppendQuote(out, q.Key), ':')
		if out, err = jsonrpc.AppendValue(out, answer); err != nil {
			return nil, localf(method, "write the answer to %q: %v", q.Key, err)
		}
	}
	return append(out, '}'), nil
}

// answer answers one question of the server, in either era. The error is a
// *jsonrpc.Error where the server is at fault.
func (c *Client) answer(ctx context.Context, method string, params jsontext.Value) (any, error) {
	switch {
	case method == mcp.MethodElicit:
		return c.elicit(ctx, params)
	case method == mcp.MethodCreateMessage && c.opts.Sample != nil:
		p := new(mcp.CreateMessageParams)
		if err := json.Unmarshal(params, p); err != nil {
			return nil, jsonrpc.InvalidParams("%s: the params are not of the protocol's form", method)
		}
		return ours(c.opts.Sample(ctx, p))
	case method == mcp.MethodListRoots && c.opts.Roots != nil:
		roots, err := c.opts.Roots(ctx)
		return ours(&mcp.ListRootsResult{Roots: roots}, err)
	}
	return nil, jsonrpc.MethodNotFound(method)
}

// ours is the answer of a handler of ours. One that returns nothing at all must
// not be sent as null.
func ours[R any](result *R, err error) (any, error) {
	if err == nil && result == nil {
		err = fmt.Errorf("the handler returned no %T", result)
	}
	return result, err
}

// elicit asks the user, by a form or by a visit.
func (c *Client) elicit(ctx context.Context, params jsontext.Value) (any, error) {
	p := new(mcp.ElicitParams)
	if err := json.Unmarshal(params, p); err != nil {
		return nil, jsonrpc.InvalidParams("%s: the params are not of the protocol's form", mcp.MethodElicit)
	}
	switch {
	case p.Mode == mcp.ElicitURL && c.opts.Visit != nil:
		if !isWeb(p.URL) {
			return nil, jsonrpc.InvalidParams("%s: url must be an http or https address", mcp.MethodElicit)
		}
		action, err := c.opts.Visit(ctx, p)
		return ours(&mcp.ElicitResult{Action: action}, err)
	case (p.Mode == mcp.ElicitForm || p.Mode == "") && c.opts.Elicit != nil:
		result, err := c.opts.Elicit(ctx, p)
		if err != nil || result == nil || result.Action != mcp.ElicitAccept {
			return ours(result, err)
		}
		return c.fillIn(p, result)
	}
	return nil, jsonrpc.InvalidParams("%s: this client does not do that (mode %q)", mcp.MethodElicit, p.Mode)
}

// isWeb reports whether a user may be sent to an address.
func isWeb(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}

// fillIn adds the form's defaults to the values that the user gave, and checks
// that they fit. A form that is no schema is not checked.
func (c *Client) fillIn(p *mcp.ElicitParams, given *mcp.ElicitResult) (any, error) {
	result := *given
	if result.Content == nil {
		result.Content = jsontext.Value("{}")
	}
	if err := checkObject(result.Content); err != nil {
		return nil, fmt.Errorf("the form's values: %w", err)
	}
	form, err := schema.Parse(p.RequestedSchema)
	if err == nil {
		err = form.Compile()
	}
	if err != nil {
		c.log.Warn("the server's form cannot be checked", "error", err)
		return &result, nil
	}
	if result.Content, err = form.Defaults(result.Content); err != nil {
		return nil, fmt.Errorf("the form's values: %w", err)
	}
	if err := form.Validate(result.Content); err != nil {
		return nil, fmt.Errorf("the form's values: %w", err)
	}
	return &result, nil
}
