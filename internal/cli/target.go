package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/fleet"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/stdio"
	"github.com/bossman-mcp/bossman/streamable"
)

// target says which server a command is about, and how to speak to it.
type target struct {
	url      string
	headers  []string
	server   string
	config   string
	revision string
	timeout  time.Duration
	output   string
	verbose  bool
	login    loginFlags

	allows func(tool string) bool // of a configured server; nil: all
	says   io.Writer              // for words to the person
}

// forms tells in the help texts how to name a server.
const forms = `
Name the server by the command that starts it, after two dashes; by its address with
--url; or by its name in a configuration file with --server.`

func (t *target) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&t.url, "url", "", "address of a server over HTTP")
	flags.StringArrayVar(&t.headers, "header", nil, "header for that server, as 'Name: value'; may be repeated")
	flags.StringVar(&t.server, "server", "", "name of a server in the configuration file")
	flags.StringVar(&t.config, "config", "", "configuration file (default $BOSSMAN_CONFIG, else .mcp.json here)")
	flags.StringVar(&t.revision, "revision", "", "protocol revisions to speak, separated by commas, or an era: handshake or stateless (default: what the server likes)")
	flags.DurationVar(&t.timeout, "timeout", time.Minute, "how long the server may be silent")
	flags.StringVarP(&t.output, "output", "o", "text", "what to print: text or json")
	flags.BoolVar(&t.verbose, "verbose", false, "show what the server writes on standard error, and log messages")
	t.login.bind(cmd)
	if err := cmd.RegisterFlagCompletionFunc("server", t.completeServers); err != nil {
		panic("cli: " + err.Error())
	}
}

// tools lists the tools that may be used.
func (t *target) tools(ctx context.Context, c *client.Client) ([]mcp.Tool, error) {
	all, err := client.Collect(c.Tools(ctx))
	if err != nil || t.allows == nil {
		return all, err
	}
	return slices.DeleteFunc(all, func(tool mcp.Tool) bool { return !t.allows(tool.Name) }), nil
}

// split takes a command line apart at the two dashes: our arguments, and the
// command of the server.
func split(cmd *cobra.Command, args []string) (ours, command []string) {
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		return args[:dash], args[dash:]
	}
	return args, nil
}

// dialer finds the one server that is meant.
func (t *target) dialer(command []string) (client.Dialer, error) {
	named := 0
	for _, given := range []bool{len(command) > 0, t.url != "", t.server != ""} {
		if given {
			named++
		}
	}
	if named != 1 {
		return nil, &usageError{errors.New("name one server: -- COMMAND, --url ADDRESS or --server NAME")}
	}
	if t.output != "text" && t.output != "json" {
		return nil, &usageError{fmt.Errorf("--output %q: must be text or json", t.output)}
	}
	switch {
	case t.server != "":
		return t.configured()
	case t.url == "":
		if len(t.headers) > 0 {
			return nil, &usageError{errors.New("--header is for servers over HTTP: name one with --url")}
		}
		child := stdio.Command(command[0], command[1:]...)
		child.Logger = t.logger()
		if t.verbose {
			child.Stderr = os.Stderr
		}
		return child, nil
	}
	address, err := url.Parse(t.url)
	if err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
		return nil, &usageError{fmt.Errorf("--url %q: must be an http or https address", t.url)}
	}
	header, plain := make(http.Header), make(map[string]string)
	for _, line := range t.headers {
		name, value, ok := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, &usageError{errors.New("--header must be 'Name: value'")}
		}
		header.Add(name, strings.TrimSpace(value))
		plain[name] = strings.TrimSpace(value)
	}
	opts := t.overHTTP(&fleet.ServerConfig{URL: t.url, Header: plain})
	opts.Header = header
	return streamable.Dial(t.url, &opts), nil
}

// overHTTP is how a server with a URL is reached, but for its headers.
func (t *target) overHTTP(server *fleet.ServerConfig) streamable.DialOptions {
	opts := streamable.DialOptions{Proxy: http.ProxyFromEnvironment, Logger: t.logger()}
	if a := t.authorizer(server); a != nil {
		opts.Auth = a
	}
	return opts
}

func (t *target) logger() *slog.Logger {
	level := slog.LevelError
	if t.verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
}

// with connects to the server, runs do, and closes the connection.
func (t *target) with(cmd *cobra.Command, command []string, do func(ctx context.Context, c *client.Client) error) error {
	t.says = cmd.ErrOrStderr()
	dialer, err := t.dialer(command)
	if err != nil {
		return err
	}
	ask := &asker{in: os.Stdin, out: cmd.ErrOrStderr()}
	opts := &client.Options{
		Info:   mcp.Implementation{Name: "bossman", Version: Version},
		Elicit: ask.form, Visit: ask.visit,
		Revision: t.revision, Timeout: t.timeout, Logger: t.logger(),
	}
	if t.verbose {
		opts.OnLog = func(p *mcp.LoggingMessageParams) {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s %s: %s\n", p.Level, p.Logger, p.Data)
		}
	}
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	c, err := client.Connect(ctx, dialer, opts)
	if err != nil {
		return advise(err)
	}
	err = do(ctx, c)
	if closeErr := c.Close(); err == nil && closeErr != nil {
		err = closeErr
	}
	return advise(err)
}

// printer returns where a command prints, and whether as JSON.
func (t *target) printer(cmd *cobra.Command) (io.Writer, bool) {
	return cmd.OutOrStdout(), t.output == "json"
}
