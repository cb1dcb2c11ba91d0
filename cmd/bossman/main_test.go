package main_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/bossman-mcp/bossman/internal/cli"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/skills"
	"github.com/bossman-mcp/bossman/stdio"
)

// TestMain puts programs on the path, all of them this test binary under another
// name: bossman, so that tests drive a whole process and the race detector sees
// it, oracle, which answers questions, teacher, which offers skills, and exitcode,
// for scripts.
func TestMain(m *testing.M) {
	testscript.Main(leakFree{m}, map[string]func(){
		"bossman":  func() { os.Exit(cli.Main(os.Args[1:])) },
		"oracle":   func() { os.Exit(oracle(os.Args[1:])) },
		"teacher":  func() { os.Exit(teacher(os.Args[1:])) },
		"exitcode": func() { os.Exit(exitcode(os.Args[1:])) },
	})
}

// leakFree runs the tests and then looks for goroutines that they left.
type leakFree struct{ m *testing.M }

func (l leakFree) Run() int {
	code := l.m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}

// exitcode runs a command and succeeds if it ends with the code that comes first.
func exitcode(args []string) int {
	cmd := exec.Command(args[1], args[2:]...)
	if err := cmd.Run(); cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if got := fmt.Sprint(cmd.ProcessState.ExitCode()); got != args[0] {
		fmt.Fprintf(os.Stderr, "%v ended with %s, want %s\n", args[1:], got, args[0])
		return 1
	}
	return 0
}

// teacher offers the skills of a folder. With a second argument it says of every
// digest that it is another.
func teacher(args []string) int {
	s := server.New("teacher", "1", nil)
	if err := skills.Serve(s, os.DirFS(args[0]), nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if len(args) > 1 {
		s.Use(func(next mcp.Handler) mcp.Handler {
			return mcp.HandlerFunc(func(ctx context.Context, c *mcp.Call) (any, error) {
				result, err := next.Handle(ctx, c)
				if list, ok := result.(*skills.ListResult); ok {
					for _, skill := range list.Skills {
						for i := range skill.Files {
							skill.Files[i].Digest = skills.Digest(nil)
						}
					}
				}
				return result, err
			})
		})
	}
	if err := stdio.Serve(context.Background(), s, nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// gateVariable names the file that the oracle waits for.
const gateVariable = "BOSSMAN_TEST_GATE"

// oracle is the program that the tests let bossman ask. Its first argument says
// how it behaves.
func oracle(args []string) int {
	question, err := io.ReadAll(os.Stdin)
	if err != nil || len(args) == 0 {
		return 1
	}
	switch args[0] {
	case "say": // the rest of the arguments, the question and the chat
		fmt.Printf("%s|%s|%s\n", strings.Join(args[1:], "|"), question, os.Getenv("BOSSMAN_CHAT_ID"))
	case "gate": // nothing until the gate is there
		for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(2 * time.Millisecond) {
			if _, err := os.Stat(os.Getenv(gateVariable)); err == nil {
				fmt.Println("the gate is open")
				return 0
			}
		}
		return 1
	case "fail":
		fmt.Println("half an answer")
		fmt.Fprintln(os.Stderr, "oracle: secret trouble at line 7")
		return 3
	case "long":
		fmt.Print(strings.Repeat("long ", 1<<18))
	case "bytes":
		fmt.Print("no \xff text")
	case "silent":
	}
	return 0
}
