package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/bossman-mcp/bossman/internal/queue"
	"github.com/bossman-mcp/bossman/internal/queue/sqlite"
	"github.com/bossman-mcp/bossman/internal/queue/tools"
	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/stdio"
)

// serveFlags are the settings of a server.
type serveFlags struct {
	db       string
	answer   string
	maxLine  int
	logLevel string
}

func (f *serveFlags) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.db, "db", "", "file that keeps the tasks (default $BOSSMAN_DB, else bossman.db in your data folder)")
	flags.StringVar(&f.answer, "answer-command", "", "program, with arguments split at blanks, that answers agents' questions (default $BOSSMAN_ANSWER_COMMAND)")
	flags.IntVar(&f.maxLine, "max-line", 16<<20, "longest message on standard input, in bytes")
	flags.StringVar(&f.logLevel, "log-level", "info", "what to log on standard error: debug, info, warn or error")
}

// stdio serves the client at standard input and output.
func (f *serveFlags) stdio(ctx context.Context) error {
	log, err := f.logger()
	if err != nil {
		return err
	}
	if f.maxLine < 1 {
		return &usageError{fmt.Errorf("--max-line %d: must be at least 1", f.maxLine)}
	}
	store, path, err := f.open(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if err := store.Close(); err != nil {
			log.Error("close task store", "error", err)
		}
	}()
	if term.IsTerminal(int(os.Stdin.Fd())) {
		greet(path)
	}
	return stdio.Serve(ctx, f.server(store, log), &stdio.Options{MaxLine: f.maxLine, Logger: log})
}

// greet tells a person at a terminal what waits for their input.
func greet(path string) {
	fmt.Fprintf(os.Stderr, `bossman %s: a task queue for coding agents, tasks in %s.
It waits for an MCP client on standard input. To try it by hand, type a line like

  {"jsonrpc":"2.0","id":1,"method":"ping"}

and end with Ctrl-D. 'bossman --help' says how to give it to your agents.
`, Version, path)
}

// server builds the MCP server over a store.
func (f *serveFlags) server(store queue.Store, log *slog.Logger) *server.Server {
	s := server.New("bossman", Version, &server.Options{
		FixedLists: true,
		Logger:     log,
	})
	opts := &tools.Options{Logger: log}
	if command := strings.Fields(setting(f.answer, "BOSSMAN_ANSWER_COMMAND")); len(command) > 0 {
		opts.Answerer = &tools.CommandAnswerer{Command: command, Env: os.Environ()}
	}
	tools.Register(s, store, opts)
	return s
}

// open opens the tasks and returns where they are.
func (f *serveFlags) open(ctx context.Context) (queue.Store, string, error) {
	path := setting(f.db, "BOSSMAN_DB")
	if path == "" {
		folder, err := dataFolder()
		if err != nil {
			return nil, "", err
		}
		path = filepath.Join(folder, "bossman.db")
	}
	store, err := sqlite.Open(ctx, path, &sqlite.Options{Program: Version})
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w (choose another file with --db)", path, err)
	}
	return store, path, nil
}

func (f *serveFlags) logger() (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.logLevel)); err != nil {
		return nil, &usageError{fmt.Errorf("--log-level %q: must be debug, info, warn or error", f.logLevel)}
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})), nil
}

// setting is a flag's value or else the environment's.
func setting(flag, variable string) string {
	if flag != "" {
		return flag
	}
	return os.Getenv(variable)
}

// dataFolder is where programs of this user keep data: XDG's folder where that
// is set, else what the system has.
func dataFolder() (string, error) {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "bossman"), nil
	}
	if dir := os.Getenv("LocalAppData"); runtime.GOOS == "windows" && dir != "" {
		return filepath.Join(dir, "bossman"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil || home == "" {
		return "", errors.New("cannot tell where your data folder is: set XDG_DATA_HOME, or name a file with --db")
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Application Support", "bossman"), nil
	}
	return filepath.Join(home, ".local", "share", "bossman"), nil
}
