package interop_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/internal/cli"
)

// asBossman makes the test binary the program itself, so that nothing has to be
// built.
const asBossman = "BOSSMAN_TEST_AS_PROGRAM"

const apiKey = "a-key-for-tests-only"

func TestMain(m *testing.M) {
	if os.Getenv(asBossman) != "" {
		os.Exit(cli.Main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// program returns a command line that serves a new queue on standard input and
// output: clients that start servers get it. It is a script, since not every
// client passes an environment on.
func program(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	script := filepath.Join(dir, "bossman")
	text := fmt.Sprintf("#!/bin/sh\n%s=1 GORACE=atexit_sleep_ms=0 exec %q --db %q --log-level error \"$@\"\n", asBossman, os.Args[0], filepath.Join(dir, "tasks.db"))
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return script
}

// serveHTTP starts bossman over HTTP, with an API key, and returns its address.
func serveHTTP(t *testing.T) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "serve", "--http", "127.0.0.1:0", "--db", filepath.Join(t.TempDir(), "tasks.db"))
	cmd.Env = append(os.Environ(), asBossman+"=1", "GORACE=atexit_sleep_ms=0", "BOSSMAN_API_KEYS=tester="+apiKey)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address := make(chan string, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		url := regexp.MustCompile(`url=(http://\S+)/mcp`)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if found := url.FindStringSubmatch(lines.Text()); found != nil {
				address <- found[1]
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		timer := time.AfterFunc(15*time.Second, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
		<-done
		if err := cmd.Wait(); err != nil {
			t.Errorf("bossman ended with %v", err)
		}
	})
	select {
	case url := <-address:
		return url
	case <-time.After(20 * time.Second):
		t.Fatal("bossman did not say where it serves")
		return ""
	}
}

// output runs a client to its end, within a minute and a half, and returns what
// it printed.
func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		if cmd.Process != nil {
			_ = cmd.Process.Kill()
		}
	})
	defer stop()
	cmd.WaitDelay = 2 * time.Second
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\nstdout: %s\nstderr: %s", filepath.Base(cmd.Path), err, out, stderr.String())
	}
	return string(out)
}

// mentions fails the test for each text that out lacks.
func mentions(t *testing.T, out string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(out, text) {
			t.Errorf("no %q in what the client printed:\n%s", text, out)
		}
	}
}
