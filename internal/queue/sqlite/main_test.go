package sqlite_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bossman-mcp/bossman/internal/queue/sqlite"
)

// TestMain lets the test binary play a child process when its first argument
// names one.
func TestMain(m *testing.M) {
	children := map[string]func(store *sqlite.Store) error{
		"child-crash":  crashChild,
		"child-hammer": hammerChild,
		"child-full":   fullChild,
		"child-later":  laterChild,
	}
	if len(os.Args) == 3 {
		if run, ok := children[os.Args[1]]; ok {
			if err := playChild(os.Args[2], run); err != nil {
				fmt.Println("error", err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	goleak.VerifyTestMain(m)
}

// playChild opens the store at path, says so and runs the child.
func playChild(path string, run func(*sqlite.Store) error) error {
	store, err := sqlite.Open(context.Background(), path, nil)
	if err != nil {
		return err
	}
	fmt.Println("open")
	if err := run(store); err != nil {
		return err
	}
	return store.Close()
}

// child is a process started by startChild.
type child struct {
	*exec.Cmd
	ready  chan struct{} // closed when it has printed enough, or ended
	output chan []byte   // all it printed, when it has ended
}

// startChild starts the test binary as the named child on the store at path.
// The child is ready when it has printed some lines.
func startChild(t *testing.T, name, path string, lines int) *child {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &child{
		Cmd:   exec.CommandContext(t.Context(), binary, name, path),
		ready: make(chan struct{}), output: make(chan []byte, 1),
	}
	c.Stderr = os.Stderr
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { // ends with the child, whose output the test waits for
		var all bytes.Buffer
		ready := sync.OnceFunc(func() { close(c.ready) })
		for reader := bufio.NewReader(stdout); ; lines-- {
			if lines <= 0 {
				ready()
			}
			line, err := reader.ReadBytes('\n')
			all.Write(line)
			if err != nil {
				break
			}
		}
		ready()
		c.output <- all.Bytes()
	}()
	return c
}

// end waits for the child and returns what it printed, and how it ended.
func (c *child) end() (string, error) {
	output := <-c.output
	return string(output), c.Wait()
}

// rawOpen opens the file without the store, to look at it or to be in the way.
func rawOpen(t *testing.T, path string) *sql.Conn {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		db.Close()
	})
	return conn
}

// rawExec runs a statement.
func rawExec(t *testing.T, conn *sql.Conn, query string) {
	t.Helper()
	if _, err := conn.ExecContext(t.Context(), query); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// checkIntegrity fails the test unless the file is sound.
func checkIntegrity(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var verdict string
	if err := db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("the file is damaged: %s, %v", verdict, err)
	}
}

// soon is far more than anything that does not hang needs.
const soon = 20 * time.Second
