package main

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/bench/contest"
	"github.com/bossman-mcp/bossman/internal/need"
)

// glance is just enough to see that everything works.
func glance(against contest.Server) contest.Conditions {
	return contest.Conditions{Window: time.Millisecond, Least: 1, Idle: 20, Starts: 1, Steps: 100, Against: against}
}

// enough are the cells that show all of the contract. The others differ in size.
var enough = regexp.MustCompile(`/(add-1|echo-64k|list-500|slow-200|progress|cold-start|idle-.*)$`)

// checkContract runs a server through cells. Each checks every answer.
func checkContract(t *testing.T, s, against contest.Server) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("processes are measured on Linux only")
	}
	cells := contest.Cells()
	if s.Name != contest.Ours {
		cells = contest.Select(cells, enough)
	}
	c := contest.Contest{Servers: []contest.Server{s}, Cells: cells, Rounds: 1, On: glance(against)}
	outcome := c.Run(t.Context())
	for _, failure := range outcome.Failures(s.Name) {
		t.Error(failure)
	}
	for _, cell := range cells {
		takesPart := s.Client != nil || !strings.HasPrefix(cell.Name, "client/")
		if v := outcome.Value(cell.Name, s.Name, cell.Headline); takesPart && v.N != 1 {
			t.Errorf("%s: there is no %s", cell.Name, cell.Headline)
		}
	}
}

func TestEveryServerInGoKeepsTheContract(t *testing.T) {
	notTypeScript := func(name string) bool { return name != "typescript" }
	servers, against, err := build(t.Context(), t.TempDir(), notTypeScript)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range servers {
		t.Run(s.Name, func(t *testing.T) { checkContract(t, s, against) })
	}
}

func TestTheTypeScriptServerKeepsTheContract(t *testing.T) {
	s := typeScript()
	packages := need.NPM(t, pins(t, filepath.Join(s.Dir, "package.json"))...)
	script, err := os.ReadFile(filepath.Join(s.Dir, "server.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	s.Dir = t.TempDir() // Node looks for packages beside the script
	if err := os.WriteFile(filepath.Join(s.Dir, "server.mjs"), script, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(packages, "node_modules"), filepath.Join(s.Dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	s.Command[0] = need.Node(t)
	checkContract(t, s, contest.Server{})
}

// pins are the dependencies of a package.json as need.NPM wants them.
func pins(t *testing.T, path string) []string {
	t.Helper()
	var manifest struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	var pinned []string
	for _, name := range slices.Sorted(maps.Keys(manifest.Dependencies)) {
		pinned = append(pinned, name+"@"+manifest.Dependencies[name])
	}
	return pinned
}

func TestOnlyWantedServersAreBuilt(t *testing.T) {
	dir := t.TempDir()
	servers, against, err := build(t.Context(), dir, wanted("floor"))
	if err != nil {
		t.Fatal(err)
	}
	if len(servers) != 1 || servers[0].Name != contest.Floor || against.Name != contest.Ours {
		t.Errorf("built %v, and %v for clients to call", servers, against)
	}
	if _, _, err := build(context.Background(), dir, wanted("flor")); err == nil {
		t.Error("a server that does not exist is no error")
	}
}
