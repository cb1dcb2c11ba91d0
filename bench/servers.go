package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/bossman-mcp/bossman/bench/contest"
)

// goServers are the contestants written in Go, by the package of each.
var goServers = []contest.Server{
	{Name: contest.Floor, Command: []string{"./floor"}},
	{Name: contest.Ours, Command: []string{"./ours"}},
	{Name: contest.GoSDK, Command: []string{"./peers/gosdk"}},
	{Name: "mcpgo", Command: []string{"./peers/mcpgo"}},
}

// typescript is the contestant that runs on Node.
var typescript = contest.Server{Name: "typescript", Command: []string{"node", "server.mjs"}, Dir: "peers/typescript"}

// build builds the wanted contestants into dir. It must run in the folder of this
// module.
func build(ctx context.Context, dir string, wanted func(string) bool) ([]contest.Server, error) {
	var servers []contest.Server
	for _, s := range goServers {
		if !wanted(s.Name) {
			continue
		}
		program := filepath.Join(dir, s.Name)
		cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", program, s.Command[0])
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("build %s: %w", s.Name, err)
		}
		s.Command = []string{program}
		servers = append(servers, s)
	}
	if wanted(typescript.Name) {
		if err := installTypeScript(ctx); err != nil {
			fmt.Fprintf(os.Stderr, "without %s: %v\n", typescript.Name, err)
		} else {
			servers = append(servers, typescript)
		}
	}
	if len(servers) == 0 {
		return nil, fmt.Errorf("no server of that name")
	}
	return servers, nil
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
