package conformance_test

import (
	"bufio"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// build builds a program of this folder.
func build(t *testing.T, dir string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), filepath.Base(dir))
	if out, err := exec.Command("go", "build", "-o", program, dir).CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", dir, err, out)
	}
	return program
}

// serve starts the server and returns its address.
func serve(t *testing.T, program string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	cmd := exec.Command(program, "-http", addr)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 1)
	go func() {
		var text strings.Builder
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			fmt.Fprintln(&text, lines.Text())
		}
		said <- text.String()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		words := <-said
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Errorf("the server ended with %v and said:\n%s", err, words)
		}
	})
	for range 200 {
		if conn, err := net.Dial("tcp", addr); err == nil {
			_ = conn.Close()
			return "http://" + strings.Replace(addr, "127.0.0.1", "localhost", 1) + "/mcp"
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the server does not listen")
	return ""
}

func TestTheClientRefusesScenariosItDoesNotKnow(t *testing.T) {
	cmd := exec.Command(build(t, "./client"), "http://localhost:1/mcp")
	cmd.Env = []string{"MCP_CONFORMANCE_SCENARIO=no-such-scenario"}
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "no-such-scenario") {
		t.Errorf("got %v: %s", err, out)
	}
}
