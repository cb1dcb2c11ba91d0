package stdio_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/stdio"
)

// asChild makes the test binary a child that behaves as the variable says.
const asChild = "BOSSMAN_TEST_CHILD"

// behave is the life of such a child. Whatever else it does, it answers a line
// with the line itself.
func behave(how string) {
	echo := func(before func(n int)) {
		in := bufio.NewScanner(os.Stdin)
		in.Buffer(nil, 4<<20)
		for n := 0; in.Scan(); n++ {
			before(n)
			fmt.Println(in.Text())
		}
	}
	nothing := func(int) {}
	switch how {
	case "echo":
		echo(nothing)
	case "slow to end":
		echo(nothing)
		time.Sleep(300 * time.Millisecond)
	case "ignores the end of input":
		echo(nothing)
		time.Sleep(time.Hour)
	case "ignores everything":
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
		fmt.Println(`"ready"`)
		echo(nothing)
		time.Sleep(time.Hour)
	case "never reads":
		fmt.Println(`"ready"`)
		time.Sleep(time.Hour)
	case "floods stderr":
		junk := strings.Repeat("x", 1<<16) + "\n"
		for range 1600 { // 100 MB
			fmt.Fprint(os.Stderr, junk)
		}
		echo(func(int) { fmt.Fprint(os.Stderr, junk) })
	case "dies":
		fmt.Fprintln(os.Stderr, "first line")
		fmt.Fprintln(os.Stderr, "out of luck")
		os.Exit(3)
	case "dies in the middle of a message":
		fmt.Print(`{"jsonrpc":"2.0","id":`)
		os.Exit(0)
	case "endless line":
		for {
			if _, err := fmt.Print(strings.Repeat("y", 1<<16)); err != nil {
				return
			}
		}
	case "has a child":
		grandchild := exec.Command(os.Args[0])
		grandchild.Env = append(os.Environ(), asChild+"=ignores everything")
		grandchild.Stdout = os.Stdout // keeps the pipe open
		if err := grandchild.Start(); err != nil {
			fmt.Println(err)
		}
		fmt.Println(grandchild.Process.Pid)
		echo(nothing)
	}
}

func misbehaving(how string) *stdio.Cmd {
	cmd := stdio.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asChild+"="+how, "GORACE=atexit_sleep_ms=0") // the race detector lingers
	cmd.Logger = slog.New(slog.DiscardHandler)
	return cmd
}

func dial(t *testing.T, cmd *stdio.Cmd) peer.Transport {
	t.Helper()
	c, err := cmd.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func receive(t *testing.T, c peer.Transport) string {
	t.Helper()
	line, err := c.Receive(t.Context())
	if err != nil {
		t.Fatalf("Receive: %v", err)
	}
	return string(line)
}

func roundTrip(t *testing.T, c peer.Transport) {
	t.Helper()
	if err := c.Send(t.Context(), []byte(`{"jsonrpc":"2.0",`+"\n"+`"id":1}`)); err != nil {
		t.Fatal(err)
	}
	for { // some greet first
		if line := receive(t, c); line == `{"jsonrpc":"2.0", "id":1}` {
			return
		}
	}
}

// closed closes the connection and reports how long that took.
func closed(t *testing.T, c peer.Transport) time.Duration {
	t.Helper()
	start := time.Now()
	if err := c.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	return time.Since(start)
}

func TestCloseIsALadder(t *testing.T) { // R019
	for _, tc := range []struct {
		how   string
		speak bool
		most  time.Duration
	}{
		{"echo", true, time.Second},
		{"slow to end", true, time.Second},
		{"ignores the end of input", true, 1700 * time.Millisecond},
		{"ignores everything", true, 4 * time.Second},
		{"never reads", false, 4 * time.Second},
		{"endless line", false, 4 * time.Second},
	} {
		t.Run(tc.how, func(t *testing.T) {
			t.Parallel()
			c := dial(t, misbehaving(tc.how))
			if tc.speak {
				roundTrip(t, c)
			}
			if took := closed(t, c); took > tc.most {
				t.Errorf("Close took %v", took)
			}
			if _, err := c.Receive(t.Context()); !errors.Is(err, io.EOF) {
				t.Errorf("Receive after Close: %v", err)
			}
			if err := c.Send(t.Context(), []byte("{}")); err == nil {
				t.Error("Send after Close succeeded")
			}
		})
	}
}

func TestGrandchildrenEndToo(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("looks into /proc")
	}
	c := dial(t, misbehaving("has a child"))
	pid, err := strconv.Atoi(receive(t, c))
	if err != nil {
		t.Fatal(err)
	}
	closed(t, c)
	for range 100 {
		if state := procState(pid); state == "" || state == "Z" { // gone, or waiting for init to notice
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("grandchild %d is still running", pid)
}

func TestTheTailOfStderrIsInTheError(t *testing.T) {
	c := dial(t, misbehaving("dies"))
	_, err := c.Receive(t.Context())
	var exit *stdio.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("Receive: %v", err)
	}
	if !strings.Contains(exit.State, "3") || !strings.HasSuffix(exit.Stderr, "out of luck") {
		t.Errorf("%+v", exit)
	}
	if !strings.Contains(err.Error(), "out of luck") {
		t.Error(err)
	}
}

func TestADeathInTheMiddleOfAMessage(t *testing.T) { // R020
	c := dial(t, misbehaving("dies in the middle of a message"))
	line := receive(t, c)
	if line != `{"jsonrpc":"2.0","id":` {
		t.Errorf("got %q", line)
	}
	var exit *stdio.ExitError
	if _, err := c.Receive(t.Context()); !errors.As(err, &exit) {
		t.Errorf("Receive: %v", err)
	}
}

func TestAStuckChildBlocksNobody(t *testing.T) { // R021
	c := dial(t, misbehaving("never reads"))
	receive(t, c)
	message := []byte(strings.Repeat(" ", 256<<10))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	var err error
	for range 20 { // the pipe and the queue fill up
		if err = c.Send(ctx, message); err != nil {
			break
		}
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Send to a child that does not read: %v", err)
	}
	if took := closed(t, c); took > 4*time.Second {
		t.Errorf("Close took %v", took)
	}
}

func TestAFloodOnStderrDeadlocksNothing(t *testing.T) { // R022
	var seen counter
	cmd := misbehaving("floods stderr")
	cmd.Stderr = &seen
	c := dial(t, cmd)
	for range 10 {
		roundTrip(t, c)
	}
	closed(t, c)
	if seen.bytes() < 100<<20 {
		t.Errorf("only %d bytes of standard error were passed on", seen.bytes())
	}
}

type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n += len(p)
	return len(p), nil
}

func (c *counter) bytes() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

func TestAnEndlessLineIsCut(t *testing.T) { // R018
	cmd := misbehaving("endless line")
	cmd.MaxLine = 1 << 20
	c := dial(t, cmd)
	time.AfterFunc(300*time.Millisecond, func() { _ = c.Close() })
	if _, err := c.Receive(t.Context()); err == nil {
		t.Error("an endless line was received")
	}
}

func TestProgramsThatCannotStartSaySo(t *testing.T) {
	_, err := stdio.Command("no-such-program-anywhere", "x").Dial(t.Context())
	if err == nil || !strings.Contains(err.Error(), `start server "no-such-program-anywhere x"`) {
		t.Errorf("Dial: %v", err)
	}
	cmd := misbehaving("echo")
	cmd.Dir = filepath.Join(t.TempDir(), "absent")
	if _, err := cmd.Dial(t.Context()); err == nil {
		t.Error("a folder that is not there was entered")
	}
}

func TestTheEnvironmentIsAList(t *testing.T) {
	t.Setenv("BOSSMAN_TEST_SECRET", "hidden")
	cmd := stdio.Command("/usr/bin/env")
	cmd.Env = []string{"ONLY=this"}
	c, err := cmd.Dial(t.Context())
	if err != nil {
		t.Skip("no env program here")
	}
	defer func() { _ = c.Close() }()
	if got := receive(t, c); got != "ONLY=this" {
		t.Errorf("the child's environment starts with %s", got)
	}
}

func TestFiftyChildrenLeaveNothingBehind(t *testing.T) { // R025
	if runtime.GOOS != "linux" {
		t.Skip("looks into /proc")
	}
	before, files := children(t), openFiles(t)
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			for range 10 {
				c := dial(t, misbehaving("echo"))
				roundTrip(t, c)
				closed(t, c)
			}
		})
	}
	wg.Wait()
	noneLeft(t, before)
	if after := openFiles(t); after > files+2 {
		t.Errorf("%d files were open before, %d are now", files, after)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// children returns the processes whose parent is this one.
func children(t *testing.T) map[int]bool {
	t.Helper()
	found := make(map[int]bool)
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		data, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(data), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) {
			found[pid] = true
		}
	}
	return found
}

func noneLeft(t *testing.T, before map[int]bool) {
	t.Helper()
	for pid := range children(t) {
		if !before[pid] {
			t.Errorf("child %d is still there (%s)", pid, procState(pid))
		}
	}
}

// procState returns a process's state letter, empty when it is gone.
func procState(pid int) string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	return rest[:1]
}
