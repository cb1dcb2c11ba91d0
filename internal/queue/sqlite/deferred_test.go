package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/deferred"
	"github.com/bossman-mcp/bossman/deferred/storetest"
	"github.com/bossman-mcp/bossman/internal/queue/sqlite"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/stdio"
)

var _ deferred.Store = (*sqlite.Deferred)(nil)

func TestDeferred(t *testing.T) {
	root := t.TempDir()
	storetest.Run(t, func(t *testing.T) deferred.Store {
		return openFile(t, filepath.Join(root, strings.ReplaceAll(t.Name(), "/", " "), "queue.db")).Deferred()
	})
}

func TestSweepsOfNothingWriteNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queue.db")
	d := openFile(t, path).Deferred()
	if err := d.Create(t.Context(), "A", []byte("a"), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	lock := rawOpen(t, path)
	rawExec(t, lock, "BEGIN IMMEDIATE")
	if n, err := d.Sweep(t.Context(), time.Now()); n != 0 || err != nil {
		t.Errorf("swept %d, %v", n, err)
	}
	rawExec(t, lock, "ROLLBACK")
}

// laterChild serves a tool that answers later, and never ends.
func laterChild(store *sqlite.Store) error {
	s := server.New("later", "1.0.0", nil)
	d := deferred.New(s, &deferred.Options{Store: store.Deferred()})
	s.AddTool(mcp.Tool{Name: "wait"}, d.Required(server.Func(func(ctx context.Context, _ struct{}) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	})))
	return stdio.Serve(context.Background(), s, nil)
}

// laterProcess is a laterChild that is spoken to.
type laterProcess struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startLater(t *testing.T, path string) *laterProcess {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &laterProcess{Cmd: exec.CommandContext(t.Context(), binary, "child-later", path)}
	p.Stderr = os.Stderr
	stdin, err1 := p.StdinPipe()
	stdout, err2 := p.StdoutPipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	p.in, p.out = stdin, bufio.NewReader(stdout)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := p.out.ReadString('\n'); line != "open\n" {
		t.Fatalf("the child said %q, %v", line, err)
	}
	return p
}

// ask sends a request and returns the state that answers it.
func (p *laterProcess) ask(method, params string) (*mcp.Deferred, error) {
	const request = `{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s,"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}` + "\n"
	if _, err := fmt.Fprintf(p.in, request, method, params, revision.Newest().Name); err != nil {
		return nil, err
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		return nil, err
	}
	var answer struct {
		Result *mcp.Deferred `json:"result"`
	}
	if err := json.Unmarshal([]byte(line), &answer); err != nil || answer.Result == nil {
		return nil, fmt.Errorf("the child answered %s (%v)", line, err)
	}
	return answer.Result, nil
}

// TestR077HandlesSurviveSIGKILL kills a server up to five milliseconds after it
// has sent a handle. The next one on the same file knows the handle.
func TestR077HandlesSurviveSIGKILL(t *testing.T) {
	rounds := 250 // of two, side by side
	if testing.Short() {
		rounds = 25
	}
	for n := range 2 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			killLater(t, rounds)
		})
	}
}

func killLater(t *testing.T, rounds int) {
	path := filepath.Join(t.TempDir(), "queue.db")
	var last string
	for round := range rounds {
		p := startLater(t, path)
		if last != "" {
			state, err := p.ask(mcp.MethodGetDeferred, `"taskId":"`+last+`"`)
			if err != nil || state.ID != last || state.Status != mcp.DeferredWorking && state.Status != mcp.DeferredFailed {
				t.Fatalf("round %d: the handle resolves to %+v, %v", round, state, err)
			}
		}
		handle, err := p.ask(mcp.MethodCallTool, `"name":"wait","arguments":{}`)
		if err != nil || handle.ResultType != mcp.ResultTask {
			t.Fatalf("round %d: got %+v, %v", round, handle, err)
		}
		last = handle.ID
		time.Sleep(rand.N(5 * time.Millisecond))
		if err := p.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = p.Wait() // it was killed
	}
	checkIntegrity(t, path)
}
