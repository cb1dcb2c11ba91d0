package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/mcp"
)

func newTools() *cobra.Command {
	t := &target{}
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "List the tools of a server",
		Long:  "List the tools of an MCP server, with their arguments." + forms,
		Example: `  bossman tools -- npx -y @modelcontextprotocol/server-everything
  bossman tools --url http://127.0.0.1:8181/mcp --header 'X-Api-Token: k' -o json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.list(cmd, args, func(ctx context.Context, c *client.Client, w io.Writer, asJSON bool) error {
				tools, err := t.tools(ctx, c)
				return printAll(w, asJSON, entries[mcp.Tool]{tools, err}, printTool)
			})
		},
	}
	t.bind(cmd)
	return cmd
}

func newResources() *cobra.Command {
	t := &target{}
	cmd := &cobra.Command{
		Use:     "resources",
		Short:   "List the resources of a server, and its templates of resources",
		Long:    "List the resources of an MCP server, then its templates." + forms,
		Example: `  bossman resources -- ./my-server`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.list(cmd, args, func(ctx context.Context, c *client.Client, w io.Writer, asJSON bool) error {
				resources, err := client.Collect(c.Resources(ctx))
				if err != nil {
					return err
				}
				templates, err := client.Collect(c.ResourceTemplates(ctx))
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(w, map[string]any{"resources": resources, "resourceTemplates": templates})
				}
				for _, r := range resources {
					printLine(w, r.URI, r.Name, r.Description)
				}
				for _, r := range templates {
					printLine(w, r.URITemplate, r.Name, r.Description)
				}
				return nil
			})
		},
	}
	t.bind(cmd)
	return cmd
}

func newPrompts() *cobra.Command {
	t := &target{}
	cmd := &cobra.Command{
		Use:     "prompts",
		Short:   "List the prompts of a server",
		Long:    "List the prompts of an MCP server, with their arguments." + forms,
		Example: `  bossman prompts -- ./my-server`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.list(cmd, args, func(ctx context.Context, c *client.Client, w io.Writer, asJSON bool) error {
				return printAll(w, asJSON, collect(c.Prompts(ctx)), func(w io.Writer, p *mcp.Prompt) {
					printLine(w, p.Name, p.Title, p.Description)
					for _, a := range p.Arguments {
						printArgument(w, a.Name, "string", a.Description, a.Required)
					}
				})
			})
		},
	}
	t.bind(cmd)
	return cmd
}

// list runs a command that takes no arguments of its own.
func (t *target) list(cmd *cobra.Command, args []string, do func(ctx context.Context, c *client.Client, w io.Writer, asJSON bool) error) error {
	ours, command := split(cmd, args)
	if len(ours) > 0 {
		return &usageError{fmt.Errorf("%s takes no arguments before the two dashes: %q", cmd.Name(), ours[0])}
	}
	w, asJSON := t.printer(cmd)
	return t.with(cmd, command, func(ctx context.Context, c *client.Client) error { return do(ctx, c, w, asJSON) })
}

// entries is a list, or why there is none.
type entries[T any] struct {
	list []T
	err  error
}

func collect[T any](seq func(yield func(T, error) bool)) entries[T] {
	list, err := client.Collect(seq)
	return entries[T]{list, err}
}

func printAll[T any](w io.Writer, asJSON bool, all entries[T], print func(io.Writer, *T)) error {
	if all.err != nil {
		return all.err
	}
	if asJSON {
		return printJSON(w, all.list)
	}
	for i := range all.list {
		print(w, &all.list[i])
	}
	return nil
}

func printTool(w io.Writer, t *mcp.Tool) {
	printLine(w, t.Name, t.Title, t.Description)
	required := jsonscan.Get(t.InputSchema, "required")
	for name, property := range jsonscan.Members(jsonscan.Get(t.InputSchema, "properties")) {
		needed := false
		for entry := range jsonscan.Elements(required) {
			needed = needed || jsonscan.Unquote(entry) == string(name)
		}
		printArgument(w, string(name), typeOf(property), jsonscan.Unquote(jsonscan.Get(property, "description")), needed)
	}
}

// typeOf is what a property's schema says of its type, in a word.
func typeOf(property []byte) string {
	if kind := jsonscan.Unquote(jsonscan.Get(property, "type")); kind != "" {
		return kind
	}
	return "any"
}

func printLine(w io.Writer, name, title, description string) {
	if title != "" && title != name {
		name += " (" + title + ")"
	}
	fmt.Fprintln(w, oneLine(name))
	if description != "" {
		fmt.Fprintln(w, "    "+oneLine(description))
	}
}

func printArgument(w io.Writer, name, kind, description string, required bool) {
	if !required {
		kind += ", optional"
	}
	text := fmt.Sprintf("    %s (%s)", name, kind)
	if description != "" {
		text += "  " + description
	}
	fmt.Fprintln(w, oneLine(text))
}

// oneLine keeps a server's words from moving the cursor or faking lines.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0:
			return -1
		}
		return r
	}, text)
}

// printJSON prints a value for people and programs.
func printJSON(w io.Writer, v any) error {
	text, err := json.Marshal(v, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}
