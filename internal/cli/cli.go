// Package cli is the command line of bossman: a file a command.
package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// Version is what bossman calls itself.
const Version = "0.1.0"

// Main runs a command line, without the program's name, and returns the exit
// code.
func Main(args []string) int {
	root := newRoot()
	root.SetArgs(args)
	err := root.Execute()
	if err == nil {
		return exitOK
	}
	code := exitCode(err)
	if code != exitTool { // what the tool said is printed
		fmt.Fprintln(os.Stderr, "bossman:", err)
	}
	if code == exitUsage {
		fmt.Fprintln(os.Stderr, "Run 'bossman --help' for how it is used.")
	}
	return code
}

// usageError is a mistake on the command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// noArguments refuses arguments that are no command.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q", args[0])
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		text += fmt.Sprintf("; did you mean %q?", near[0])
	}
	return &usageError{errors.New(text)}
}

// newRoot builds the tree of commands.
func newRoot() *cobra.Command {
	serve, version := &serveFlags{}, false
	root := &cobra.Command{
		Use:   "bossman",
		Short: "A durable task queue that a team of coding agents shares over MCP",
		Long: `bossman is a task queue for coding agents. Agents speak to it over the Model
Context Protocol: they create tasks, take the next one, and report it done. A
task that was acknowledged is on disk, and survives a crash of everything.

It is also a client for any other MCP server: see 'bossman call --help'.

Without a command, bossman serves MCP on standard input and output, which is how
MCP clients start it. Add it to a client's configuration like this:

  {"mcpServers": {"bossman": {"command": "bossman"}}}`,
		Example: `  bossman                        serve the agent that started it
  bossman --db ./tasks.db        keep the tasks in a file of your choice
  bossman serve                  serve agents on this machine over HTTP
  bossman --answer-command "my-oracle --brief"
                                 let a program answer the agents' questions`,
		Args:          noArguments,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				printVersion(cmd, nil)
				return nil
			}
			return serve.stdio(cmd.Context())
		},
	}
	root.SuggestionsMinimumDistance = 2
	root.Flags().BoolVarP(&version, "version", "v", false, "print the version") // by hand: cobra's own would bring templates along
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err} })
	serve.bind(root)
	root.AddCommand(
		newServe(), newNewKey(),
		newTools(), newCall(), newResources(), newRead(), newPrompts(), newPrompt(), newSkills(), newSkill(), newPing(), newDiscover(), newLogout(),
		newVersion(), newExitCodes(),
	)
	return root
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArguments,
		Run: printVersion,
	}
}

func printVersion(cmd *cobra.Command, _ []string) {
	fmt.Fprintln(cmd.OutOrStdout(), "bossman", Version)
}

func newExitCodes() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "What bossman's exit codes mean",
		Long:  exitCodesText,
	}
}
