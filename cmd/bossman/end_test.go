package main_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// R016: the end of the input is the end of the process, with code 0.
func TestR016EndOfInput(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   func(p *process)
		want string // what still comes; empty: nothing
	}{
		{"at the start", func(*process) {}, ""},
		{"after blank lines", func(p *process) { p.send("\n \n\r") }, ""},
		{"in the middle of a message", func(p *process) { _ = p.write(`{"jsonrpc":"2.0","id":1,"me`) }, `"code":-32700`},
		{"in the middle of a character", func(p *process) { _ = p.write(`{"jsonrpc":"2.0","id":"` + "\xe2\x82") }, `"code":-32700`},
		{"after a message without a line break", func(p *process) { _ = p.write(`{"jsonrpc":"2.0","id":1,"method":"ping"}`) }, `"id":1,"result":{}`},
		{"after a call that is under way", func(p *process) { p.send(modern("1", "tools/call", creation)) }, `shadow`},
		{"during a call that does not end", func(p *process) { p.send(question("1")) }, ""},
		{"during many that do not end", func(p *process) {
			for _, id := range []string{"1", "2", "3", "4", "5", "6", "7", "8"} {
				p.send(question(id))
			}
		}, ""},
		{"during a subscription", func(p *process) {
			p.send(modern("7", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`))
			if m := p.receive(); m.Method != "notifications/subscriptions/acknowledged" {
				p.t.Error(m.text)
			}
		}, `"id":7,"result":{`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p, _ := gated(t)
			p.alive()
			tc.do(p)
			rest := p.end()
			if tc.want == "" && rest != "" && !strings.Contains(rest, "Failed to answer question") || !strings.Contains(rest, tc.want) {
				t.Errorf("came at the end: %q, want %q", shorten(rest), tc.want)
			}
			for message := range strings.Lines(rest) {
				decode(t, strings.TrimSuffix(message, "\n"))
			}
		})
	}
}

func TestSignalsEndBossman(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such signals")
	}
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			db := filepath.Join(t.TempDir(), "tasks.db")
			p := startOn(t, db)
			p.create("to be kept")
			if err := p.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			for range p.lines { // the output ends while the input is still open
			}
			if took := time.Since(begin); took > slack(time.Second) {
				t.Errorf("bossman took %v to end", took)
			}
			p.end()
			again := startOn(t, db)
			if n := again.tasks(); n != 1 {
				t.Errorf("afterwards there are %d tasks", n)
			}
			again.end()
		})
	}
}

// A client that goes away without reading does not make bossman fail.
func TestClientThatDoesNotRead(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := command(t, program(t), "--db", filepath.Join(t.TempDir(), "tasks.db"))
	cmd.Stdout = w
	stderr := new(buffer)
	cmd.Stderr = stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	_ = r.Close()
	for range 10 {
		if _, err := in.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("bossman ended with %v: %s", err, stderr)
	}
}
