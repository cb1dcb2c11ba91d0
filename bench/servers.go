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
	if len(servers) == 0 {
		return nil, fmt.Errorf("no server of that name")
	}
	return servers, nil
}
