package stdio_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/stdio"
)

// asServer makes the test binary a server, so that tests can watch a process.
const asServer = "BOSSMAN_TEST_STDIO_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		s := newServer()
		s.AddTool(mcp.Tool{Name: "chatter"}, server.Func(func(context.Context, struct{}) (string, error) {
			fmt.Println("this must not get between the messages")
			return "said", nil
		}))
		s.AddTool(mcp.Tool{Name: "wait"}, server.Func(func(ctx context.Context, in struct {
			Ms int `json:"ms"`
		}) (string, error) {
			select {
			case <-time.After(time.Duration(in.Ms) * time.Millisecond):
				return "waited", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}))
		if err := stdio.Serve(context.Background(), s, nil); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if how := os.Getenv(asChild); how != "" {
		behave(how)
		return
	}
	goleak.VerifyTestMain(m)
}

// child is a server in a process of its own.
type child struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *strings.Builder
}

func start(t *testing.T) *child {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asServer+"=1", "GORACE=atexit_sleep_ms=0") // the race detector lingers
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr := &strings.Builder{}
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return &child{t, cmd, in, bufio.NewReader(out), stderr}
}

// modern writes a request that describes itself.
func (c *child) modern(id int, method, params string) {
	c.t.Helper()
	meta := fmt.Sprintf(`"_meta":{%q:%q,%q:{}}`, mcp.MetaProtocolVersion, revision.Newest().Name, mcp.MetaClientCapabilities)
	if params != "" {
		params = "," + params
	}
	c.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s%s}}`+"\n", id, method, meta, params))
}

func (c *child) write(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, text); err != nil {
		c.t.Fatal(err)
	}
}

// line reads one message; anything else on the output is a failure.
func (c *child) line() string {
	c.t.Helper()
	text, err := c.out.ReadString('\n')
	if err != nil {
		c.t.Fatalf("read: %v; stderr: %s", err, c.stderr)
	}
	if err := jsonscan.Check([]byte(text), 100); err != nil || jsonscan.Get([]byte(text), "jsonrpc") == nil {
		c.t.Fatalf("no message on the output: %q", text)
	}
	return strings.TrimSuffix(text, "\n")
}

// end waits for the process, which must exit with code 0 within two seconds
// (one of our own, one for a busy machine), and returns what it still printed.
func (c *child) end() string {
	c.t.Helper()
	start := time.Now()
	timer := time.AfterFunc(10*time.Second, func() { _ = c.cmd.Process.Kill() })
	defer timer.Stop()
	rest, _ := io.ReadAll(c.out)
	if err := c.cmd.Wait(); err != nil {
		c.t.Errorf("the server ended with %v; stderr: %s", err, c.stderr)
	}
	if took := time.Since(start); took > 2*time.Second {
		c.t.Errorf("the server took %v to end", took)
	}
	return string(rest)
}

func TestWhatAHandlerPrintsIsNoMessage(t *testing.T) { // R016
	c := start(t)
	for id := range 3 {
		c.modern(id, "tools/call", `"name":"chatter"`)
		if got := c.line(); !strings.Contains(got, `"said"`) {
			t.Error(got)
		}
	}
	_ = c.in.Close()
	if rest := c.end(); rest != "" {
		t.Errorf("left on the output: %q", rest)
	}
	if !strings.Contains(c.stderr.String(), "this must not get between the messages") {
		t.Error("what the handler printed is not on standard error")
	}
}

func TestEndOfInputEndsTheServer(t *testing.T) { // R016
	for _, tc := range []struct {
		name string
		do   func(c *child)
		want string // on the output afterwards
	}{
		{"at the start", func(*child) {}, ""},
		{"in the middle of a message", func(c *child) { c.write(`{"jsonrpc":"2.0","id":1,"me`) }, `"code":-32700`},
		{"after a message without a line break", func(c *child) { c.write(`{"jsonrpc":"2.0","id":1,"method":"ping"}`) }, `"id":1,"result":{}`},
		{"during a short call", func(c *child) { c.modern(1, "tools/call", `"name":"wait","arguments":{"ms":100}`) }, `"waited"`},
		{"during a long call", func(c *child) { c.modern(1, "tools/call", `"name":"wait","arguments":{"ms":60000}`) }, ""},
		{"during a subscription", func(c *child) {
			c.modern(7, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`)
			if got := c.line(); !strings.Contains(got, "acknowledged") {
				c.t.Error(got)
			}
		}, `"id":7,"result":{`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := start(t)
			tc.do(c)
			_ = c.in.Close()
			if rest := c.end(); !strings.Contains(rest, tc.want) {
				t.Errorf("left on the output: %q, want %q", rest, tc.want)
			}
		})
	}
}

func TestSignalsEndTheServer(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such signals")
	}
	for _, sig := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		t.Run(sig.String(), func(t *testing.T) {
			c := start(t)
			c.modern(1, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`)
			c.line()
			c.modern(2, "tools/call", `"name":"wait","arguments":{"ms":200}`)
			c.modern(3, "tools/call", `"name":"add","arguments":{"a":1,"b":2}`)
			if got := c.line(); !strings.Contains(got, `"id":3`) {
				t.Error(got)
			}
			if err := c.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			rest := c.end()
			if !strings.Contains(rest, `"id":1,"result":{`) || !strings.Contains(rest, `"waited"`) {
				t.Errorf("left on the output: %q", rest)
			}
		})
	}
}

func TestAClientThatStopsReadingDoesNotKillTheServer(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no SIGPIPE")
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asServer+"=1", "GORACE=atexit_sleep_ms=0") // the race detector lingers
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	_ = r.Close() // nobody reads the answers
	for range 3 {
		if _, err := io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
}

func TestLongLinesAreRefusedAndSkipped(t *testing.T) {
	in := strings.NewReader(strings.Repeat("x", 5000) + "\n" + `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n")
	var out strings.Builder
	if err := stdio.Serve(t.Context(), newServer(), &stdio.Options{In: in, Out: &out, MaxLine: 1000}); err != nil {
		t.Fatal(err)
	}
	want := `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request: message too long: a line may have 1000 bytes"}}` + "\n" +
		`{"jsonrpc":"2.0","id":1,"result":{}}` + "\n"
	if out.String() != want {
		t.Errorf("got %s", out.String())
	}
}

func TestTwoProcessesShareASecret(t *testing.T) {
	s := server.New("asker", "1", nil)
	s.AddTool(mcp.Tool{Name: "ask"}, server.CallFunc(func(_ context.Context, c *mcp.Call, _ struct{}) (string, error) {
		if err := c.Keep("kept"); err != nil {
			return "", err
		}
		if _, err := c.Roots("where"); err != nil {
			return "", err
		}
		return string(c.State()), nil
	}))
	round := func(extra string) string {
		meta := fmt.Sprintf(`"_meta":{%q:%q,%q:{"roots":{}}}`, mcp.MetaProtocolVersion, revision.Newest().Name, mcp.MetaClientCapabilities)
		in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + meta + `,"name":"ask"` + extra + `}}` + "\n")
		var out strings.Builder
		if err := stdio.Serve(t.Context(), s, &stdio.Options{In: in, Out: &out, StateSecret: []byte("shared")}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	state := jsonscan.Get(jsonscan.Get(jsontext.Value(round("")), "result"), "requestState")
	if got := round(`,"requestState":` + string(state) + `,"inputResponses":{"where":{"roots":[]}}`); !strings.Contains(got, `"text":"\"kept\""`) {
		t.Error(got)
	}
}

func TestAnUnknownRevisionIsRefused(t *testing.T) {
	err := stdio.Serve(t.Context(), server.New("s", "1", nil), &stdio.Options{In: strings.NewReader(""), Out: io.Discard, Revision: "2.0"})
	if err == nil || !strings.Contains(err.Error(), "2.0") {
		t.Errorf("got %v", err)
	}
}
