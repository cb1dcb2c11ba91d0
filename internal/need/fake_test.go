package need_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/bossman-mcp/bossman/internal/need"
)

// TestMain lets the test binary play other programs, by the name it is called by:
// the tests put such names on PATH or start them.
func TestMain(m *testing.M) {
	switch strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") {
	case "npm":
		os.Exit(playNPM())
	case "installer":
		os.Exit(play(func(t testing.TB) string { return need.NPM(t, "pretend@1.0.0") }))
	case "postgresuser":
		os.Exit(play(need.Postgres))
	}
	goleak.VerifyTestMain(m)
}

// playNPM notes its arguments, then installs nothing, or fails.
func playNPM() int {
	log, err := os.OpenFile(os.Getenv("PLAY_NPM_LOG"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Fprintln(log, strings.Join(os.Args[1:], " "))
	if os.Getenv("PLAY_NPM_FAILS") != "" {
		fmt.Println("the registry is out of reach")
		return 1
	}
	if err := os.Mkdir("node_modules", 0o755); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// play prints what f returned and then lives until its input ends.
func play(f func(testing.TB) string) int {
	var got string
	end := endOf(func(t testing.TB) { got = f(t) })
	if end.how != "returned" {
		fmt.Println(end)
		return 1
	}
	fmt.Println(got)
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// as returns the path of the test binary under a name that TestMain plays. The
// folder holds nothing else.
func as(t *testing.T, name string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("not run on Windows: a symbolic link needs a privilege there")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// fakeTB is a test that notes how it ended.
type fakeTB struct {
	testing.TB // nil: a method that is not overridden here panics
	end        ending
}

// ending is how a fake test ended: returned, skipped or failed, and its words.
type ending struct{ how, words string }

func (e ending) String() string { return e.how + ": " + e.words }

// endOf runs f as a test.
func endOf(f func(testing.TB)) ending {
	t := &fakeTB{end: ending{how: "returned"}}
	done := make(chan struct{})
	// The next statement waits for it; Goexit ends it early, as in a real test.
	go func() {
		defer close(done)
		f(t)
	}()
	<-done
	return t.end
}

func (*fakeTB) Helper()                  {}
func (*fakeTB) Name() string             { return "TestPretend" }
func (*fakeTB) Context() context.Context { return context.Background() }

func (t *fakeTB) Fatalf(format string, args ...any) { t.finish("failed", format, args) }
func (t *fakeTB) Skipf(format string, args ...any)  { t.finish("skipped", format, args) }

func (t *fakeTB) finish(how, format string, args []any) {
	t.end = ending{how, fmt.Sprintf(format, args...)}
	runtime.Goexit()
}

// output runs the command and fails the test with its output when it fails.
func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("run %s: %v\n%s", cmd, err, out)
	}
	return strings.TrimSpace(string(out))
}
