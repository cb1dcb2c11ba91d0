package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/bossman-mcp/bossman/bench/contest"
)

// goServers are the contestants written in Go: commands are packages to build.
var goServers = []contest.Server{
	{Name: contest.Floor, Command: []string{"./floor"}},
	{Name: contest.Ours, Command: []string{"./ours"}, Client: []string{"./clients/ours"}},
	{Name: contest.GoSDK, Command: []string{"./peers/gosdk"}, Client: []string{"./clients/gosdk"}},
	{Name: "mcpgo", Command: []string{"./peers/mcpgo"}, Client: []string{"./clients/mcpgo"}},
}

// typescript is the contestant that runs on Node.
var typescript = contest.Server{Name: "typescript", Command: []string{"node", "server.mjs"}, Dir: "peers/typescript"}

// build builds the wanted contestants into dir, and the server that clients call,
// which is ours. It must run in the folder of this module.
func build(ctx context.Context, dir string, wanted func(string) bool) (servers []contest.Server, against contest.Server, err error) {
	for _, s := range goServers {
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
	if wanted(typescript.Name) {
		if err := installTypeScript(ctx); err != nil {
			fmt.Fprintf(os.Stderr, "without %s: %v\n", typescript.Name, err)
		} else {
			servers = append(servers, typescript)
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
func installTypeScript(ctx context.Context) error {
	if _, err := exec.LookPath("node"); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(typescript.Dir, "node_modules", ".package-lock.json")); err == nil {
		return nil
	}
	cmd := exec.CommandContext(ctx, "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--no-package-lock")
	cmd.Dir = typescript.Dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("install npm packages: %w\n%s", err, out)
	}
	return nil
}
