package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/fleet"
	"github.com/bossman-mcp/bossman/internal/spelling"
)

// defaultConfig is where clients keep the servers of a project.
const defaultConfig = ".mcp.json"

// servers reads the configuration file.
func (t *target) servers() (*fleet.Config, string, error) {
	path := setting(t.config, "BOSSMAN_CONFIG")
	if path == "" {
		path = defaultConfig
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, path, &usageError{fmt.Errorf("%w (name another file with --config)", err)}
	}
	config, err := fleet.Parse(text, os.LookupEnv)
	if err != nil {
		return nil, path, &usageError{fmt.Errorf("%s: %w", path, err)}
	}
	return config, path, nil
}

// find returns the server of the configuration file that is meant.
func (t *target) find() (*fleet.ServerConfig, error) {
	config, path, err := t.servers()
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(config.Servers))
	server, ok := config.Servers[t.server]
	if !ok {
		text := fmt.Sprintf("%s has no server %q", path, t.server)
		if near, ok := spelling.Nearest(t.server, names); ok {
			text += fmt.Sprintf("; did you mean %q?", near)
		} else if len(names) > 0 {
			text += "; it has " + strings.Join(names, ", ")
		}
		return nil, &usageError{errors.New(text)}
	}
	if server.Disabled {
		return nil, &usageError{fmt.Errorf("server %q is disabled in %s", t.server, path)}
	}
	return &server, nil
}

// configured finds the way to a server of the configuration file.
func (t *target) configured() (client.Dialer, error) {
	server, err := t.find()
	if err != nil {
		return nil, err
	}
	t.allows = server.Allows
	if server.Timeout > 0 {
		t.timeout = server.Timeout
	}
	opts := &fleet.Options{Env: childEnvironment(), Logger: t.logger()}
	if server.URL != "" && server.Err == nil {
		opts.HTTP = t.overHTTP(server)
	}
	if t.verbose {
		opts.Stderr = func(string) io.Writer { return os.Stderr }
	}
	return server.Dialer(t.server, opts)
}

// childEnvironment is what servers from a configuration file get of ours: enough
// to find programs and folders, and no secrets.
func childEnvironment() []string {
	var env []string
	for _, name := range []string{
		"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LC_ALL", "TMPDIR", "TZ",
		"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR",
		"APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PROCESSOR_ARCHITECTURE", "PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE",
	} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// completeServers proposes the names of servers.
func (t *target) completeServers(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	config, _, err := t.servers()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return slices.Sorted(maps.Keys(config.Servers)), cobra.ShellCompDirectiveNoFileComp
}
