package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/internal/spelling"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/schema"
)

// callFlags are the settings of a call.
type callFlags struct {
	target
	json string
	save string
}

func newCall() *cobra.Command {
	f := &callFlags{}
	cmd := &cobra.Command{
		Use:   "call TOOL [ARGUMENT...]",
		Short: "Call a tool of a server",
		Long: `Call a tool of an MCP server and print what it answers.

Arguments are key=value, where the value is text, or a number, a truth value or JSON
where the tool wants that; or key:=JSON; or all at once with --json. They are checked
against the tool's schema before anything is sent.

Text is printed; images and audio are saved to files. Progress is shown, and the
server's questions are asked, at the terminal.` + forms,
		Example: `  bossman call add a=2 b=40 -- ./add
  bossman call create_task description='Fix the parser' priority=5 -- bossman
  bossman call moonphase --url http://127.0.0.1:8181/mcp --header 'X-Api-Token: k'
  bossman call search --json '{"query":"go","limit":3}' --server github`,
		RunE:              f.run,
		ValidArgsFunction: f.complete,
	}
	f.bind(cmd)
	cmd.Flags().StringVar(&f.json, "json", "", "the arguments as one JSON object")
	cmd.Flags().StringVar(&f.save, "save", ".", "folder for images and audio")
	return cmd
}

func (f *callFlags) run(cmd *cobra.Command, args []string) error {
	ours, command := split(cmd, args)
	if len(ours) == 0 {
		return &usageError{errors.New("call needs the name of a tool")}
	}
	return f.with(cmd, command, func(ctx context.Context, c *client.Client) error {
		tool, err := f.findTool(ctx, c, ours[0])
		if err != nil {
			return err
		}
		arguments, err := f.arguments(tool, ours[1:])
		if err != nil {
			return err
		}
		bar := newProgressBar(cmd.ErrOrStderr())
		result, err := c.CallTool(ctx, tool.Name, arguments, &client.CallOptions{OnProgress: bar.show})
		bar.clear()
		if err != nil {
			return err
		}
		return f.print(cmd, result)
	})
}

// findTool finds a tool by its name, or says which comes near.
func (t *target) findTool(ctx context.Context, c *client.Client, name string) (*mcp.Tool, error) {
	tools, err := t.tools(ctx, c)
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range tools {
		if tools[i].Name == name {
			return &tools[i], nil
		}
		names = append(names, tools[i].Name)
	}
	text := fmt.Sprintf("the server has no tool %q", name)
	if near, ok := spelling.Nearest(name, names); ok {
		text += fmt.Sprintf("; did you mean %q?", near)
	} else if len(names) > 0 {
		text += "; it has " + strings.Join(names, ", ")
	}
	return nil, &usageError{errors.New(text)}
}

// arguments builds the tool's arguments and checks them.
func (f *callFlags) arguments(tool *mcp.Tool, words []string) (jsontext.Value, error) {
	var arguments jsontext.Value
	switch {
	case f.json != "" && len(words) > 0:
		return nil, &usageError{errors.New("arguments come as --json or one by one, not both")}
	case f.json != "":
		arguments = jsontext.Value(f.json)
		if err := jsonscan.Check(arguments, 100); err != nil {
			return nil, &usageError{fmt.Errorf("--json: %w", err)}
		}
	default:
		var err error
		if arguments, err = fromWords(tool.InputSchema, words); err != nil {
			return nil, &usageError{err}
		}
	}
	s, err := schema.Parse(tool.InputSchema)
	if err == nil {
		err = s.Compile()
	}
	if err != nil {
		return arguments, nil // a schema we cannot use is the server's to enforce
	}
	if err := s.Validate(arguments); err != nil {
		return nil, &usageError{fmt.Errorf("%s: %w", tool.Name, err)}
	}
	return arguments, nil
}

// fromWords reads key=value and key:=JSON.
func fromWords(input jsontext.Value, words []string) (jsontext.Value, error) {
	properties := jsonscan.Get(input, "properties")
	text := []byte{'{'}
	seen := make(map[string]bool)
	for _, word := range words {
		key, value, ok := strings.Cut(word, "=")
		if !ok || key == "" || key == ":" {
			return nil, fmt.Errorf("argument %q: write it as key=value or key:=JSON", word)
		}
		key, raw := strings.CutSuffix(key, ":")
		if seen[key] {
			return nil, fmt.Errorf("argument %q is given twice", key)
		}
		seen[key] = true
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(jsonscan.AppendQuote(text, key), ':')
		switch isJSON := jsonscan.Check([]byte(value), 100) == nil; {
		case raw && !isJSON:
			return nil, fmt.Errorf("argument %q: %q is no JSON", key, value)
		case raw || isJSON && wantsJSON(jsonscan.Get(properties, key)):
			text = append(text, value...)
		default:
			text = jsonscan.AppendQuote(text, value)
		}
	}
	return append(text, '}'), nil
}

// wantsJSON reports whether a property is for something else than text.
func wantsJSON(property []byte) bool {
	switch kind := jsonscan.Get(property, "type"); jsonscan.KindOf(kind) {
	case jsonscan.String:
		return jsonscan.Unquote(kind) != "string"
	case jsonscan.Array:
		for one := range jsonscan.Elements(kind) {
			if jsonscan.Unquote(one) == "string" {
				return false
			}
		}
		return true
	}
	return false
}

// print shows a result. A tool that failed makes the command fail.
func (f *callFlags) print(cmd *cobra.Command, r *mcp.CallToolResult) error {
	w, asJSON := f.printer(cmd)
	var err error
	if asJSON {
		err = printJSON(w, r)
	} else {
		err = printContents(w, cmd.ErrOrStderr(), f.save, r.Content)
		if len(r.Content) == 0 && r.StructuredContent != nil {
			_, err = fmt.Fprintf(w, "%s\n", r.StructuredContent)
		}
	}
	if err == nil && r.IsError {
		return errToolFailed
	}
	return err
}

// complete proposes the names of tools, then those of their arguments.
func (f *callFlags) complete(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	ours, command := split(cmd, args)
	var words []string
	err := f.with(cmd, command, func(ctx context.Context, c *client.Client) error {
		if len(ours) == 0 {
			tools, err := f.tools(ctx, c)
			for _, tool := range tools {
				words = append(words, tool.Name+"\t"+oneLine(tool.Description))
			}
			return err
		}
		tool, err := f.findTool(ctx, c, ours[0])
		if err != nil {
			return err
		}
		for name, property := range jsonscan.Members(jsonscan.Get(tool.InputSchema, "properties")) {
			words = append(words, string(name)+"=\t"+oneLine(jsonscan.Unquote(jsonscan.Get(property, "description"))))
		}
		return nil
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return words, directive
}
