package fleet

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/mcp"
)

// Server is one server of a fleet. Each of its methods starts the server if it is
// not running, and waits for that as long as its context allows. Their errors are
// a [*ServerError].
type Server struct {
	fleet *Fleet
	name  string
}

// Name returns the server's name in the configuration.
func (s *Server) Name() string { return s.name }

// Status returns how the server is doing. It starts nothing.
func (s *Server) Status() Status {
	m, err := s.fleet.member(s.name)
	if err != nil {
		return Status{Name: s.name, State: StateClosed, Err: bare(err)}
	}
	return m.snapshot()
}

// use calls f with the client of a server that is ready.
func (s *Server) use(ctx context.Context, f func(*client.Client) error) error {
	m, err := s.fleet.member(s.name)
	if err != nil {
		return err
	}
	c, err := m.acquire(ctx)
	if err != nil {
		return about(s.name, err)
	}
	defer m.release()
	return about(s.name, f(c))
}

// list is an iterator over what a client lists, without what keep refuses.
func list[T any](ctx context.Context, s *Server, from func(*client.Client) iter.Seq2[T, error], keep func(*T) bool) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		wanted := true
		err := s.use(ctx, func(c *client.Client) error {
			for entry, err := range from(c) {
				if err != nil {
					return err
				}
				if keep(&entry) {
					if wanted = yield(entry, nil); !wanted {
						return nil
					}
				}
			}
			return nil
		})
		if err != nil && wanted {
			var none T
			yield(none, err)
		}
	}
}

func all[T any](*T) bool { return true }

// Tools lists the tools that the configuration allows.
func (s *Server) Tools(ctx context.Context) iter.Seq2[mcp.Tool, error] {
	return list(ctx, s, func(c *client.Client) iter.Seq2[mcp.Tool, error] { return c.Tools(ctx) },
		func(t *mcp.Tool) bool { return s.allows(t.Name) })
}

func (s *Server) allows(tool string) bool {
	m, err := s.fleet.member(s.name)
	if err != nil {
		return false
	}
	c := m.current()
	return c.Allows(tool)
}

// CallTool calls a tool, as [client.Client.CallTool] does. A tool that the
// configuration does not allow is [ErrDenied], and the server hears nothing of it.
func (s *Server) CallTool(ctx context.Context, tool string, arguments any, opts *client.CallOptions) (result *mcp.CallToolResult, err error) {
	if _, err := s.fleet.member(s.name); err != nil {
		return nil, err
	}
	if !s.allows(tool) {
		return nil, about(s.name, fmt.Errorf("tool %q is %w", tool, ErrDenied))
	}
	err = s.use(ctx, func(c *client.Client) error {
		result, err = c.CallTool(ctx, tool, arguments, opts)
		return err
	})
	return result, err
}

// Prompts lists the server's prompts.
func (s *Server) Prompts(ctx context.Context) iter.Seq2[mcp.Prompt, error] {
	return list(ctx, s, func(c *client.Client) iter.Seq2[mcp.Prompt, error] { return c.Prompts(ctx) }, all)
}

// GetPrompt is that of [client.Client].
func (s *Server) GetPrompt(ctx context.Context, name string, arguments map[string]string, opts *client.CallOptions) (result *mcp.GetPromptResult, err error) {
	err = s.use(ctx, func(c *client.Client) error {
		result, err = c.GetPrompt(ctx, name, arguments, opts)
		return err
	})
	return result, err
}

// Resources lists the server's resources.
func (s *Server) Resources(ctx context.Context) iter.Seq2[mcp.Resource, error] {
	return list(ctx, s, func(c *client.Client) iter.Seq2[mcp.Resource, error] { return c.Resources(ctx) }, all)
}

// ResourceTemplates lists the server's templates of resources.
func (s *Server) ResourceTemplates(ctx context.Context) iter.Seq2[mcp.ResourceTemplate, error] {
	return list(ctx, s, func(c *client.Client) iter.Seq2[mcp.ResourceTemplate, error] { return c.ResourceTemplates(ctx) }, all)
}

// ReadResource is that of [client.Client].
func (s *Server) ReadResource(ctx context.Context, uri string, opts *client.CallOptions) (result *mcp.ReadResourceResult, err error) {
	err = s.use(ctx, func(c *client.Client) error {
		result, err = c.ReadResource(ctx, uri, opts)
		return err
	})
	return result, err
}

// Complete is that of [client.Client].
func (s *Server) Complete(ctx context.Context, p *mcp.CompleteParams) (result *mcp.Completion, err error) {
	err = s.use(ctx, func(c *client.Client) error {
		result, err = c.Complete(ctx, p)
		return err
	})
	return result, err
}

// Listen is that of [client.Client]. The subscription survives a crash of the
// server; it ends when the server hangs and has to be ended, is given up, or has
// another entry after a reload.
func (s *Server) Listen(ctx context.Context, filter mcp.SubscriptionFilter, on func(mcp.Event)) (subscription *client.Subscription, err error) {
	err = s.use(ctx, func(c *client.Client) error {
		subscription, err = c.Listen(ctx, filter, on)
		return err
	})
	return subscription, err
}

// Ping is that of [client.Client].
func (s *Server) Ping(ctx context.Context) error {
	return s.use(ctx, func(c *client.Client) error { return c.Ping(ctx) })
}

// Do is that of [client.Client], for methods that have no name here. Tools are
// not for it, since they may be denied.
func (s *Server) Do(ctx context.Context, method string, params, result any, opts *client.CallOptions) error {
	if method == mcp.MethodCallTool || method == mcp.MethodListTools {
		return about(s.name, fmt.Errorf("%s by way of Do is %w", method, ErrDenied))
	}
	return s.use(ctx, func(c *client.Client) error { return c.Do(ctx, method, params, result, opts) })
}

// Allows reports whether a tool is allowed and not denied.
func (c *ServerConfig) Allows(tool string) bool {
	return (c.Allow == nil || matches(c.Allow, tool)) && !matches(c.Deny, tool)
}

func matches(patterns []string, name string) bool {
	for _, p := range patterns {
		if match(p, name) {
			return true
		}
	}
	return false
}

// match reports whether a name is what a pattern says, in which * stands for any
// text.
func match(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	rest, ok := strings.CutPrefix(name, parts[0])
	if len(parts) == 1 || !ok {
		return ok && rest == ""
	}
	last := parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return strings.HasSuffix(rest, last)
}

// bare returns an error without the name of its server.
func bare(err error) error {
	var named *ServerError
	if errors.As(err, &named) {
		return named.Err
	}
	return err
}
