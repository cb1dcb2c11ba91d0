package main_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// openTerminal returns a terminal: the side of a person and the side of a
// program.
func openTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	t.Cleanup(func() { _ = person.Close() })
	raw, err := person.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var number int
	failed := raw.Control(func(fd uintptr) {
		if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err == nil {
			number, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
	})
	if err := errors.Join(err, failed); err != nil {
		t.Skipf("this terminal cannot be used: %v", err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("this terminal cannot be used: %v", err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return person, program
}

// A person who starts bossman by hand reads what it is and what to type, and can
// type it.
func TestGreetingAtATerminal(t *testing.T) {
	person, side := openTerminal(t)
	db := filepath.Join(t.TempDir(), "tasks.db")
	cmd := command(t, program(t), "--db", db)
	stderr, answers := new(buffer), new(buffer)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = side, answers, stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	eventually(t, func() bool { return strings.Contains(stderr.String(), "--help") })
	for _, want := range []string{"bossman 0.1.0: a task queue", db, "MCP client", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Ctrl-D"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("the greeting does not say %q: %s", want, stderr)
		}
	}
	if _, err := io.WriteString(person, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return answers.String() != "" })
	if got := answers.String(); got != `{"jsonrpc":"2.0","id":1,"result":{}}`+"\n" {
		t.Errorf("the line that the greeting proposes got %q", got)
	}
	if _, err := io.WriteString(person, "\x04"); err != nil { // Ctrl-D
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // the test waits for it below
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("bossman ended with %v: %s", err, stderr)
		}
	case <-time.After(patience):
		_ = cmd.Process.Kill()
		t.Errorf("Ctrl-D did not end bossman: %v", <-ended)
	}
}

// eventually waits until something is so.
func eventually(t *testing.T, is func() bool) {
	t.Helper()
	for until := time.Now().Add(patience); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("it did not happen")
		}
	}
}
