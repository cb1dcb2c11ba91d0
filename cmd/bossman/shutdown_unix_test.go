//go:build unix

package main_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/mcp/revision"
)

// gatekeeper is a program that answers when a pipe is opened and closed again,
// and notes each time that it was started.
type gatekeeper struct {
	t             *testing.T
	program, pipe string
	started       string
	hold          *os.File
}

func newGatekeeper(t *testing.T) *gatekeeper {
	t.Helper()
	dir := t.TempDir()
	g := &gatekeeper{t: t, program: filepath.Join(dir, "oracle.sh"), pipe: filepath.Join(dir, "pipe"), started: filepath.Join(dir, "started")}
	if err := syscall.Mkfifo(g.pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	hold, err := os.OpenFile(g.pipe, os.O_RDWR, 0) // with a writer there, readers wait
	if err != nil {
		t.Fatal(err)
	}
	g.hold = hold
	t.Cleanup(func() { _ = hold.Close() })
	script := "#!/bin/sh\necho >>'" + g.started + "'\ncat '" + g.pipe + "'\necho at last\n"
	if err := os.WriteFile(g.program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return g
}

// await waits until the program was started so many times.
func (g *gatekeeper) await(times int) {
	g.t.Helper()
	for until := time.Now().Add(3 * patience); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if text, _ := os.ReadFile(g.started); len(text) == times {
			return
		}
	}
	g.t.Fatal("the calls do not run")
}

// release lets all go on, those too that open the pipe only now, until done is
// closed.
func (g *gatekeeper) release(done <-chan struct{}) {
	_ = g.hold.Close()
	for {
		select {
		case <-done:
			return
		case <-time.After(10 * time.Millisecond):
			if w, err := os.OpenFile(g.pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
				_ = w.Close()
			}
		}
	}
}

var servesAt = regexp.MustCompile(`url=http://(\S+)/mcp`)

// serve starts bossman over HTTP and returns its address.
func serve(t *testing.T, args ...string) (*process, string) {
	t.Helper()
	args = append([]string{"serve", "--http", "127.0.0.1:0", "--log-level", "info", "--db", filepath.Join(t.TempDir(), "tasks.db")}, args...)
	p := launch(t, command(t, program(t), args...))
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		if m := servesAt.FindStringSubmatch(p.stderr.String()); m != nil {
			return p, m[1]
		}
	}
	t.Fatalf("bossman does not serve: %s", p.stderr)
	return nil, ""
}

// post sends a request of the newest revision on a connection of its own.
func post(t *testing.T, address, id, method, params string) (*http.Response, error) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(3 * patience))
	body := modern(id, method, params)
	_, err = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
		"MCP-Protocol-Version: %s\r\nMcp-Method: %s\r\nContent-Length: %d\r\n\r\n%s", revision.Newest().Name, method, len(body), body)
	if err != nil {
		return nil, err
	}
	return http.ReadResponse(bufio.NewReader(conn), nil)
}

// R041: told to stop, once and again, with calls in flight and streams open,
// bossman finishes the calls, closes each stream with its result, refuses what is
// new, and ends well.
func TestR041ToldToStopWhileBusy(t *testing.T) {
	const calls, streams = 100, 1_000
	oracle := newGatekeeper(t)
	p, address := serve(t, "--answer-command", oracle.program)
	open := make([]*bufio.Reader, streams)
	for i := range open {
		res, err := post(t, address, fmt.Sprint(i), "subscriptions/listen", `"notifications":{"toolsListChanged":true}`)
		if err != nil || res.StatusCode != 200 {
			t.Fatalf("stream %d: %v %v", i, res, err)
		}
		open[i] = bufio.NewReader(res.Body)
		for line := ""; !strings.HasPrefix(line, "data:"); {
			if line, err = open[i].ReadString('\n'); err != nil {
				t.Fatalf("stream %d is not acknowledged: %v", i, err)
			}
		}
	}
	var inFlight sync.WaitGroup
	for i := range calls {
		inFlight.Go(func() {
			res, err := post(t, address, fmt.Sprint(i), "askQuestion", `"question":"when?"`)
			if err != nil {
				t.Errorf("call %d: %v", i, err)
				return
			}
			if text, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(text), "at last") || !strings.Contains(string(text), fmt.Sprintf(`"id":%d,`, i)) {
				t.Errorf("call %d: %d %s %v", i, res.StatusCode, text, err)
			}
		})
	}
	oracle.await(calls)

	told := time.Now()
	p.signal(syscall.SIGTERM)
	for i, stream := range open {
		rest, err := io.ReadAll(stream)
		if err != nil || strings.Count(string(rest), "data:") != 1 || !strings.Contains(string(rest), fmt.Sprintf(`"id":%d,"result":`, i)) || !strings.Contains(string(rest), `"complete"`) {
			t.Fatalf("stream %d ended with %s, %v", i, rest, err)
		}
	}
	t.Logf("all streams were closed after %v", time.Since(told))
	p.signal(syscall.SIGTERM) // which changes nothing
	for method, params := range map[string]string{"tools/list": "", "subscriptions/listen": `"notifications":{}`, "askQuestion": `"question":"now?"`} {
		if res, err := post(t, address, "1", method, params); err != nil || res.StatusCode != 503 || res.Header.Get("Retry-After") == "" {
			t.Errorf("a new %s while it drains: %v %v", method, res, err)
		}
	}
	done := make(chan struct{})
	var gate sync.WaitGroup
	gate.Go(func() { oracle.release(done) })
	inFlight.Wait()
	close(done)
	gate.Wait()
	t.Logf("all calls were answered after %v", time.Since(told))
	p.end()
	if conn, err := net.Dial("tcp", address); err == nil {
		_ = conn.Close()
		t.Error("somebody still listens")
	}
}

// signal sends a signal to the process, and to none that it has started.
func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}
