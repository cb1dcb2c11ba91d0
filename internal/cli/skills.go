package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/internal/spelling"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/skills"
	"github.com/bossman-mcp/bossman/skills/load"
)

func newSkills() *cobra.Command {
	t := &target{}
	cmd := &cobra.Command{
		Use:     "skills",
		Short:   "List the skills of a server",
		Long:    "List the skills of an MCP server, which are folders of instructions for agents." + forms,
		Example: `  bossman skills -- ./my-server`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.list(cmd, args, func(ctx context.Context, c *client.Client, w io.Writer, asJSON bool) error {
				return printAll(w, asJSON, collect(load.List(ctx, c)), func(w io.Writer, s **skills.Skill) {
					printLine(w, (*s).URI, (*s).Name(), (*s).Description())
				})
			})
		},
	}
	t.bind(cmd)
	return cmd
}

func newSkill() *cobra.Command {
	f := &callFlags{}
	cmd := &cobra.Command{
		Use:   "skill SKILL [FILE]",
		Short: "Read a skill of a server",
		Long: `Read the instructions of a skill of an MCP server, or another of its files. The skill is
named by its name or by the URI of its SKILL.md, the file by its path in the skill's folder.
What differs from what the server says of the skill is not shown.` + forms,
		Example: `  bossman skill refunds -- ./my-server
  bossman skill refunds templates/email.md -- ./my-server`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ours, command := split(cmd, args)
			if len(ours) < 1 || len(ours) > 2 {
				return &usageError{errors.New("skill needs a skill, and perhaps one of its files")}
			}
			return f.with(cmd, command, func(ctx context.Context, c *client.Client) error {
				contents, err := readSkill(ctx, c, ours[0], ours[1:])
				if err != nil {
					return err
				}
				w, asJSON := f.printer(cmd)
				if asJSON {
					return printJSON(w, contents)
				}
				return printResource(w, cmd.ErrOrStderr(), f.save, contents)
			})
		},
	}
	f.bind(cmd)
	cmd.Flags().StringVar(&f.save, "save", ".", "folder for what is no text")
	return cmd
}

// readSkill reads a file of a skill: its SKILL.md if none is named.
func readSkill(ctx context.Context, c *client.Client, name string, file []string) (*mcp.ResourceContents, error) {
	entry, err := findSkill(ctx, c, name)
	if err != nil {
		return nil, err
	}
	skill, err := load.Open(ctx, c, entry)
	if err != nil {
		return nil, err
	}
	if len(file) == 0 {
		return &mcp.ResourceContents{URI: entry.URI, MIMEType: "text/markdown", Text: skill.Text()}, nil
	}
	return skill.Read(ctx, file[0])
}

// findSkill finds a skill by its URI, listed or not, or by its name, which two skills
// may share.
func findSkill(ctx context.Context, c *client.Client, name string) (*skills.Skill, error) {
	if strings.Contains(name, "://") {
		return load.Get(ctx, c, name)
	}
	var found *skills.Skill
	var names []string
	for entry, err := range load.List(ctx, c) {
		if err != nil {
			return nil, err
		}
		if entry.Name() != name {
			names = append(names, entry.Name())
			continue
		}
		if found != nil {
			return nil, &usageError{fmt.Errorf("two skills are named %q: choose %s or %s", name, found.URI, entry.URI)}
		}
		found = entry
	}
	if found != nil {
		return found, nil
	}
	text := fmt.Sprintf("the server lists no skill %q", name)
	if near, ok := spelling.Nearest(name, names); ok {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return nil, &usageError{errors.New(text)}
}
