package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/mcp"
)

func newRead() *cobra.Command {
	f := &callFlags{}
	cmd := &cobra.Command{
		Use:     "read URI",
		Short:   "Read a resource of a server",
		Long:    "Read a resource of an MCP server. Text is printed, anything else is saved to files." + forms,
		Example: `  bossman read file:///notes/today.txt -- ./my-server`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ours, command := split(cmd, args)
			if len(ours) != 1 {
				return &usageError{errors.New("read needs the URI of one resource")}
			}
			return f.with(cmd, command, func(ctx context.Context, c *client.Client) error {
				result, err := c.ReadResource(ctx, ours[0], nil)
				if err != nil {
					return err
				}
				w, asJSON := f.printer(cmd)
				if asJSON {
					return printJSON(w, result)
				}
				for i := range result.Contents {
					if err := printResource(w, cmd.ErrOrStderr(), f.save, &result.Contents[i]); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	f.bind(cmd)
	cmd.Flags().StringVar(&f.save, "save", ".", "folder for what is no text")
	return cmd
}

func newPrompt() *cobra.Command {
	f := &callFlags{}
	cmd := &cobra.Command{
		Use:     "prompt NAME [ARGUMENT...]",
		Short:   "Get a prompt of a server, filled in",
		Long:    "Get a prompt of an MCP server. Arguments are key=value." + forms,
		Example: `  bossman prompt code_review code='x = 1' -- ./my-server`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ours, command := split(cmd, args)
			if len(ours) == 0 {
				return &usageError{errors.New("prompt needs the name of a prompt")}
			}
			arguments := make(map[string]string)
			for _, word := range ours[1:] {
				key, value, ok := strings.Cut(word, "=")
				if !ok || key == "" {
					return &usageError{fmt.Errorf("argument %q: write it as key=value", word)}
				}
				arguments[key] = value
			}
			return f.with(cmd, command, func(ctx context.Context, c *client.Client) error {
				result, err := c.GetPrompt(ctx, ours[0], arguments, nil)
				if err != nil {
					return err
				}
				w, asJSON := f.printer(cmd)
				if asJSON {
					return printJSON(w, result)
				}
				for _, m := range result.Messages {
					fmt.Fprintf(w, "%s: ", m.Role)
					if err := printContents(w, cmd.ErrOrStderr(), f.save, mcp.Contents{m.Content}); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	f.bind(cmd)
	cmd.Flags().StringVar(&f.save, "save", ".", "folder for what is no text")
	return cmd
}

func newPing() *cobra.Command {
	t := &target{}
	cmd := &cobra.Command{
		Use:     "ping",
		Short:   "See whether a server answers",
		Long:    "Connect to an MCP server and see whether it answers." + forms,
		Example: `  bossman ping --url http://127.0.0.1:8181/mcp`,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, command := split(cmd, args)
			return t.with(cmd, command, func(ctx context.Context, c *client.Client) error {
				if err := c.Ping(ctx); err != nil {
					return err
				}
				fmt.Fprintln(cmd.OutOrStdout(), "ok")
				return nil
			})
		},
	}
	t.bind(cmd)
	return cmd
}

func newDiscover() *cobra.Command {
	t := &target{}
	cmd := &cobra.Command{
		Use:     "discover",
		Short:   "Say what a server is: its name, what it offers, the protocol it speaks",
		Long:    "Connect to an MCP server and say what it is." + forms,
		Example: `  bossman discover -- npx -y @modelcontextprotocol/server-everything`,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, command := split(cmd, args)
			return t.with(cmd, command, func(_ context.Context, c *client.Client) error {
				w, asJSON := t.printer(cmd)
				server := c.Server()
				if asJSON {
					return printJSON(w, server)
				}
				fmt.Fprintf(w, "%s %s, protocol %s\n", oneLine(server.Name), oneLine(server.Version), server.Revision)
				for _, feature := range []struct {
					name string
					has  bool
				}{
					{"tools", server.Capabilities.Tools != nil},
					{"resources", server.Capabilities.Resources != nil},
					{"prompts", server.Capabilities.Prompts != nil},
				} {
					if feature.has {
						fmt.Fprintln(w, "    "+feature.name)
					}
				}
				if server.Instructions != "" {
					fmt.Fprintln(w, server.Instructions)
				}
				return nil
			})
		},
	}
	t.bind(cmd)
	return cmd
}
