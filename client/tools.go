package client

import (
	"context"
	"iter"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/mcp"
)

// Tools lists the server's tools, page by page as the caller goes on. Tools that
// cannot be called are left out: those with an output schema that is none, costs too
// much or refers to something outside, and over HTTP those that ask for headers
// which cannot be.
func (c *Client) Tools(ctx context.Context) iter.Seq2[mcp.Tool, error] {
	return walk(ctx, c, &list[mcp.Tool]{
		method: mcp.MethodListTools, member: "tools",
		key:  func(t *mcp.Tool) string { return t.Name },
		page: c.learn,
	})
}

// learn remembers what calls of the tools will need, and returns those that can
// be called.
func (c *Client) learn(tools []mcp.Tool) []mcp.Tool {
	c.mu.Lock()
	var mirror paramHeaders
	if k := c.state.conn; k != nil {
		mirror = k.mirror
	}
	promises := c.state.known == nil || c.state.known.Structured
	c.mu.Unlock()
	good := tools[:0]
	for i := range tools {
		t := &tools[i]
		if mirror != nil {
			params, err := mcp.HeaderParams(t.InputSchema)
			if err != nil {
				c.log.Warn("left out a tool", "tool", t.Name, "error", err)
				continue
			}
			mirror.SetToolHeaders(t.Name, mirrored(params))
		}
		if promises {
			c.tools.learn(t)
			if err := c.promised(t.Name).usable(); err != nil {
				c.log.Warn("left out a tool", "tool", t.Name, "error", err)
				continue
			}
		}
		good = append(good, *t)
	}
	return good
}

// promised returns what the results of a tool are held to, nil for nothing.
func (c *Client) promised(tool string) *output {
	if c.opts.Unchecked {
		return nil
	}
	return c.tools.output(tool)
}

// relist lists the tools anew, for what calls of them need.
func (c *Client) relist(ctx context.Context) error {
	c.opts.Cache.Invalidate(mcp.MethodListTools)
	for _, err := range c.Tools(ctx) {
		if err != nil {
			return err
		}
	}
	return nil
}

// CallTool calls a tool. Arguments are written as JSON and must be an object; nil
// stands for an empty one. A tool that fails is no error, see IsError of the
// result and [Call]. If the tool was listed before and has an output schema, a
// result that does not fit is an [*OutputError].
func (c *Client) CallTool(ctx context.Context, name string, arguments any, opts *CallOptions) (*mcp.CallToolResult, error) {
	if raw, ok := arguments.(jsontext.Value); ok && raw != nil {
		if err := checkObject(raw); err != nil {
			return nil, localf(mcp.MethodCallTool, "arguments: %w", err)
		}
	}
	promised := c.promised(name)
	if err := promised.usable(); err != nil {
		return nil, local(mcp.MethodCallTool, &OutputError{Tool: name, Err: err})
	}
	r, err := c.newRequest(mcp.MethodCallTool, nil, opts)
	if err != nil {
		return nil, err
	}
	r.tool = toolCall{name, arguments, &c.codecs}
	r.out.Params = &r.tool
	reply, asked, err := c.run(ctx, r)
	if err != nil {
		return nil, err
	}
	if !asked {
		r.recycle()
	}
	result, err := readToolResult(reply.Result)
	if err != nil {
		return nil, err
	}
	if err := promised.check(result); err != nil {
		return nil, local(mcp.MethodCallTool, &OutputError{Tool: name, Result: result, Err: err})
	}
	return result, nil
}

// Await fetches the result of an earlier call of a tool that came later, by the
// id that [CallOptions.OnDeferred] heard. It is not held to an output schema.
func (c *Client) Await(ctx context.Context, id string, opts *CallOptions) (*mcp.CallToolResult, error) {
	r, err := c.newRequest(mcp.MethodCallTool, nil, opts)
	if err != nil {
		return nil, err
	}
	reply, err := c.fetch(ctx, r, &mcp.Deferred{ID: id})
	if err != nil {
		return nil, err
	}
	return readToolResult(reply.Result)
}

// toolCall is the params of a call, in as few steps as can be.
type toolCall struct {
	name      string
	arguments any
	codecs    *codecs
}

// AppendJSON writes the params.
func (t *toolCall) AppendJSON(dst []byte) ([]byte, error) {
	dst = jsonscan.AppendQuote(append(dst, `{"name":`...), t.name)
	dst = append(dst, `,"arguments":`...)
	at := len(dst)
	dst, err := t.codecs.append(dst, t.arguments)
	if err != nil {
		return dst, err
	}
	switch arguments := jsonscan.Trim(dst[at:]); {
	case string(arguments) == "null":
		dst = append(dst[:at], "{}"...)
	case jsonscan.KindOf(arguments) != jsonscan.Object:
		return dst, errNoObject
	}
	return append(dst, '}'), nil
}

// Call calls a tool for its structured content, which it decodes into an Out. A
// tool that fails is a [*ToolError]. A tool without structured content may
// answer with one block of text that is JSON, or, if Out is a string, with text.
func Call[Out any](ctx context.Context, c *Client, tool string, arguments any) (out Out, err error) {
	result, err := c.CallTool(ctx, tool, arguments, nil)
	if err != nil {
		return out, err
	}
	if result.IsError {
		return out, &ToolError{Tool: tool, Result: result}
	}
	text := result.StructuredContent
	if text == nil {
		said := TextOf(result.Content)
		if s, ok := any(&out).(*string); ok {
			*s = said
			return out, nil
		}
		text = jsontext.Value(said)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		return out, localf(mcp.MethodCallTool, "read the output of tool %s: %v", tool, err)
	}
	return out, nil
}

// TextOf returns the text of contents, block by block, a line break between two.
func TextOf(contents mcp.Contents) string {
	if len(contents) == 1 {
		if text, ok := contents[0].(*mcp.TextContent); ok {
			return text.Text
		}
	}
	var parts []string
	for _, block := range contents {
		if text, ok := block.(*mcp.TextContent); ok {
			parts = append(parts, text.Text)
		}
	}
	return strings.Join(parts, "\n")
}
