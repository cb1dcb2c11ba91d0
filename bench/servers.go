package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/bench/contest"
)

// goServers returns the contestants written in Go: commands are packages to build.
func goServers() []contest.Server {
	return []contest.Server{
		{
			Name: contest.Floor, Command: []string{"./floor"},
			Version: "reads a line, or a request by net/http, and writes a canned answer",
		},
		{
			Name: contest.Ours, Command: []string{"./ours"}, Client: []string{"./clients/ours"},
			Version: "this repository",
		},
		{
			Name: contest.GoSDK, Command: []string{"./peers/gosdk"}, Client: []string{"./clients/gosdk"},
			Version: moduleVersion("github.com/modelcontextprotocol/go-sdk"),
		},
		{
			Name: "mcpgo", Command: []string{"./peers/mcpgo"}, Client: []string{"./clients/mcpgo"},
			Version: moduleVersion("github.com/mark3labs/mcp-go"),
		},
	}
}

// typeScript returns the contestant that runs on Node. Its versions are those of its
// package.json.
func typeScript() contest.Server {
	return contest.Server{
		Name: "typescript", Command: []string{"node", "server.mjs"}, Dir: filepath.Join("peers", "typescript"),
		Version: npmVersions(filepath.Join("peers", "typescript", "package.json")),
	}
}

// moduleVersion is a module with the version that go.mod names.
func moduleVersion(module string) string {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return module
	}
	for line := range strings.Lines(string(mod)) {
		if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == module {
			return module + " " + fields[1]
		}
	}
	return module
}

// npmVersions lists the dependencies in a package.json.
func npmVersions(path string) string {
	var manifest struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	text, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(text, &manifest) != nil {
		return ""
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(manifest.Dependencies)) {
		list = append(list, name+" "+manifest.Dependencies[name])
	}
	return strings.Join(list, ", ")
}

// build builds the wanted contestants into dir, and the server that clients call,
// which is ours. It must run in the folder of this module.
func build(ctx context.Context, dir string, wanted func(string) bool) (servers []contest.Server, against contest.Server, err error) {
	for _, s := range goServers() {
		if !wanted(s.Name) && s.Name != contest.Ours {
			continue
		}
		program := filepath.Join(dir, s.Name)
		if err := buildGo(ctx, program, s.Command); err != nil {
			return nil, against, err
		}
		if s.Client != nil {
			if err := buildGo(ctx, program+"-client", s.Client); err != nil {
				return nil, against, err
			}
		}
		if s.Name == contest.Ours {
			against = s
		}
		if wanted(s.Name) {
			servers = append(servers, s)
		}
	}
	if ts := typeScript(); wanted(ts.Name) {
		if err := installTypeScript(ctx, ts.Dir); err != nil {
			fmt.Fprintf(os.Stderr, "without %s: %v\n", ts.Name, err)
		} else {
			servers = append(servers, ts)
		}
	}
	if len(servers) == 0 {
		return nil, against, errors.New("no server of that name")
	}
	return servers, against, nil
}

// buildGo builds the package that a command names, and makes the command start the
// program.
func buildGo(ctx context.Context, program string, command []string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", program, command[0])
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build %s: %w", command[0], err)
	}
	command[0] = program
	return nil
}

// installTypeScript installs the packages that package.json names beside it, where
// git ignores them, unless they are there.
func installTypeScript(ctx context.Context, dir string) error {
	if _, err := exec.LookPath("node"); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", ".package-lock.json")); err == nil {
		return nil
	}
	cmd := exec.CommandContext(ctx, "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--no-package-lock")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("install npm packages: %w\n%s", err, out)
	}
	return nil
}
