package interop_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/internal/need"
)

// buildGoSDK builds the client in testdata/gosdk, a module of its own, so that the
// SDK stays out of ours. Its modules come from the proxy the first time. It works on
// a copy, whose go.mod and go.sum the go command may not change.
func buildGoSDK(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "gosdk"))); err != nil {
		t.Fatal(err)
	}
	if out, err := goCommand(t, dir, "mod", "download"); err != nil {
		need.Unavailable(t, "the modules of the Go SDK", err.Error()+": "+out)
	}
	client := filepath.Join(dir, "client")
	if out, err := goCommand(t, dir, "build", "-mod=readonly", "-o", client, "."); err != nil {
		t.Fatalf("build the client: %v\n%s", err, out)
	}
	return client
}

// goCommand runs the go command in a folder, for three minutes at most.
func goCommand(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.WaitDelay = dir, 5*time.Second
	cmd.Env = append(os.Environ(), "GOWORK=off")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestTheGoSDK(t *testing.T) {
	client := buildGoSDK(t)
	for _, tc := range []struct{ name, opens, agreed string }{
		{"automatic", "", "2026-07-28"},
		{"in 2025-11-25", "2025-11-25", "2025-11-25"},
		{"in 2025-06-18", "2025-06-18", "2025-06-18"},
		{"in 2025-03-26", "2025-03-26", "2025-03-26"},
		{"in 2024-11-05", "2024-11-05", "2024-11-05"},
	} {
		for _, kind := range []string{"stdio", "http", "sse"} {
			t.Run(tc.name+" over "+kind, func(t *testing.T) {
				target := program
				if kind != "stdio" {
					target = serveHTTP
				}
				want := tc.agreed + "\n" + told
				if got := output(t, exec.CommandContext(t.Context(), client, kind, target(t), apiKey, tc.opens)); got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			})
		}
	}
}
