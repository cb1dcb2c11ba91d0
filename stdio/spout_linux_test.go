package stdio_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/stdio"
)

// lender is the child as package peer sees it.
type lender interface {
	peer.Transport
	Lend(on bool) bool
	ReceiveSoon(ctx context.Context) ([]byte, error)
	Ready() bool
}

// lend starts a child and lets callers receive from it.
func lend(t *testing.T, how string) lender {
	t.Helper()
	if runtime.GOMAXPROCS(0) == 1 {
		runtime.GOMAXPROCS(2) // with one processor nothing is lent
		t.Cleanup(func() { runtime.GOMAXPROCS(1) })
	}
	c := dial(t, misbehaving(how)).(lender)
	if how == "echo" {
		roundTrip(t, c)
	}
	if !c.Lend(true) {
		t.Fatal("it cannot be lent")
	}
	return c
}

// soon receives what is about to come, after as many tries as a busy machine needs.
func soon(t *testing.T, c lender) string {
	t.Helper()
	for range 5000 {
		line, err := c.ReceiveSoon(t.Context())
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			if err != nil {
				t.Fatalf("ReceiveSoon: %v", err)
			}
			return string(line)
		}
	}
	t.Fatal("it never comes")
	return ""
}

func send(t *testing.T, c peer.Transport, text string) {
	t.Helper()
	if err := c.Send(t.Context(), []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func TestAChildsOutputCanBeLentAndTakenBack(t *testing.T) {
	c := lend(t, "echo")
	long := strings.Repeat("x", 1<<20)
	for range 10 {
		for _, text := range []string{"one", long, "two"} {
			send(t, c, text)
			if got := soon(t, c); got != text {
				t.Fatalf("lent: got %d bytes, want %d", len(got), len(text))
			}
			if c.Ready() {
				t.Fatal("there is more than was sent")
			}
		}
		send(t, c, long)
		line, err := c.ReceiveSoon(t.Context()) // all of it, or a part that it keeps
		if !c.Lend(false) {
			t.Fatal("it cannot be taken back")
		}
		got := string(line)
		if err != nil {
			got = receive(t, c)
		}
		if got != long {
			t.Fatalf("taken back: got %d bytes, want %d", len(got), len(long))
		}
		roundTrip(t, c)
		if !c.Lend(true) {
			t.Fatal("it cannot be lent again")
		}
	}
}

func TestWhoeverReceivesFromALentChildWaitsForAMomentOnly(t *testing.T) {
	c := lend(t, "echo")
	quickest := time.Hour
	for tries := 0; tries < 500 && quickest > 3*time.Millisecond; tries++ { // a busy machine may add to it
		start := time.Now()
		if line, err := c.ReceiveSoon(t.Context()); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("got %q, %v", line, err)
		}
		quickest = min(quickest, time.Since(start))
	}
	if quickest < time.Millisecond || quickest > 3*time.Millisecond {
		t.Errorf("it waited for %v", quickest)
	}
}

func TestWithOneProcessorNothingIsLent(t *testing.T) {
	c := dial(t, misbehaving("echo")).(lender)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if c.Lend(true) {
		t.Error("a caller would keep others from running")
	}
	roundTrip(t, c)
}

func TestAChildThatEndsWhileItIsLentIsExplainedToTheReader(t *testing.T) {
	c := lend(t, "dies")
	for range 3 {
		if line, err := c.ReceiveSoon(t.Context()); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("got %q, %v", line, err)
		}
	}
	c.Lend(false)
	var exit *stdio.ExitError
	if _, err := c.Receive(t.Context()); !errors.As(err, &exit) || !strings.Contains(exit.Stderr, "out of luck") {
		t.Errorf("got %v", err)
	}
}

func TestALentChildCanBeClosed(t *testing.T) {
	before := descriptors(t)
	c := lend(t, "echo")
	done := make(chan struct{})
	go func() { // ends with the connection
		defer close(done)
		for {
			if _, err := c.ReceiveSoon(context.Background()); !errors.Is(err, os.ErrDeadlineExceeded) {
				return
			}
		}
	}()
	if took := closed(t, c); took > 900*time.Millisecond {
		t.Errorf("closing took %v", took)
	}
	<-done
	if c.Lend(true) {
		t.Error("what is closed was lent")
	}
	c.Lend(false)
	if _, err := c.Receive(t.Context()); err == nil {
		t.Error("something came from what is closed")
	}
	if after := descriptors(t); len(after) > len(before) {
		t.Errorf("descriptors before: %v, after: %v", before, after)
	}
}

func TestLendingLeavesNoDescriptorsBehindNorToChildren(t *testing.T) {
	others := descriptors(t)
	c := lend(t, "echo")
	before := descriptors(t)
	for range 50 {
		if !c.Lend(false) || !c.Lend(true) {
			t.Fatal("it cannot be lent")
		}
	}
	after := descriptors(t)
	if len(after) != len(before) {
		t.Errorf("descriptors before: %v, after: %v", before, after)
	}
	for _, fd := range after {
		if slices.Contains(others, fd) {
			continue
		}
		info, err := os.ReadFile("/proc/self/fdinfo/" + fd)
		if err != nil {
			t.Fatal(err)
		}
		_, flags, _ := strings.Cut(string(info), "flags:")
		if flags, _, _ = strings.Cut(strings.TrimSpace(flags), "\n"); !strings.HasPrefix(flags, "02") { // O_CLOEXEC
			t.Errorf("descriptor %s goes to children: flags %s", fd, flags)
		}
	}
}

// descriptors lists those that this process has open.
func descriptors(t *testing.T) (names []string) {
	t.Helper()
	entries, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, err := os.Readlink(e); err == nil { // not the one by which they are listed
			names = append(names, filepath.Base(e))
		}
	}
	return names
}
