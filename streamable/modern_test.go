package streamable_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/streamable"
)

func TestModernCallIsPlainJSON(t *testing.T) {
	s := open(t, newBench(), nil)
	res := s.callTool("echo", `{"x":1}`)
	res.wantText(t, `{\"x\":1}`)
	if res.header.Get("Content-Length") == "" || !strings.Contains(res.body, `"resultType":"complete"`) {
		t.Errorf("got %v %s, want a length and a result type", res.header, res.body)
	}
}

func TestModernCallThatSpeaksIsAStream(t *testing.T) {
	s := open(t, newBench(), nil)
	body := strings.Replace(modernBody("tools/call", `"name":"count","arguments":{}`), `"_meta":{`, `"_meta":{"progressToken":"p",`, 1)
	e := s.stream(http.MethodPost, body, modernHeaders("tools/call", "count")...)
	if got := e.res.Header.Get("X-Accel-Buffering"); got != "no" {
		t.Errorf("X-Accel-Buffering is %q", got)
	}
	for i := range 3 {
		event := e.take()
		if event.HasID || event.Retry != 0 {
			t.Errorf("got an id or a retry, which this revision does not have: %+v", event)
		}
		m := parse(t, string(event.Data))
		if m.Method != "notifications/progress" || !strings.Contains(string(m.Params), fmt.Sprintf(`"progress":%d`, i+1)) {
			t.Errorf("got %s, want progress %d", event.Data, i+1)
		}
	}
	if m := e.message(); string(m.ID) != "1" || !strings.Contains(string(m.Result), "counted") {
		t.Errorf("got %+v, want the result", m)
	}
	e.ended()
}

func TestModernDescriptionIsChecked(t *testing.T) { // R038
	s := open(t, newBench(), nil)
	const version, capabilities = `"io.modelcontextprotocol/protocolVersion":"` + newest + `"`, `"io.modelcontextprotocol/clientCapabilities":{}`
	request := func(meta string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`
	}
	tests := []struct {
		name, meta, version string
		code                int
	}{
		{"no _meta", ``, newest, -32602},
		{"an empty _meta", `"_meta":{}`, newest, -32602},
		{"_meta of the wrong type", `"_meta":[]`, newest, -32602},
		{"no version in _meta", `"_meta":{` + capabilities + `}`, newest, -32602},
		{"a version of the wrong type", `"_meta":{"io.modelcontextprotocol/protocolVersion":5,` + capabilities + `}`, newest, -32602},
		{"no capabilities", `"_meta":{` + version + `}`, newest, -32602},
		{"capabilities of the wrong type", `"_meta":{` + version + `,"io.modelcontextprotocol/clientCapabilities":[]}`, newest, -32602},
		{"an unknown version", `"_meta":{"io.modelcontextprotocol/protocolVersion":"v999.0.0",` + capabilities + `}`, "v999.0.0", mcp.CodeUnsupportedVersion},
		{"an older version that needs a session", `"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25",` + capabilities + `}`, "2025-11-25", mcp.CodeUnsupportedVersion},
		{"header and body disagree", `"_meta":{"io.modelcontextprotocol/protocolVersion":"v999.0.0",` + capabilities + `}`, newest, mcp.CodeHeaderMismatch},
		{"no header", `"_meta":{` + version + `,` + capabilities + `}`, "", mcp.CodeHeaderMismatch},
		{"all as it should be", `"_meta":{` + version + `,` + capabilities + `}`, newest, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := s.post(request(tt.meta), "MCP-Protocol-Version: "+tt.version, "Mcp-Method: tools/list")
			if tt.code == 0 {
				res.wantText(t, "tools")
				return
			}
			res.wantError(t, 400, tt.code, "1")
			if tt.code == mcp.CodeUnsupportedVersion && !strings.Contains(res.body, `"supported":["`+newest+`"],"requested":"`+tt.version+`"`) {
				t.Errorf("got %s, want what is supported and what was requested", res.body)
			}
		})
	}
	t.Run("a capability is missing", func(t *testing.T) {
		body := strings.Replace(modernBody("tools/call", `"name":"ask","arguments":{}`), `{"elicitation":{}}`, `{}`, 1)
		res := s.post(body, modernHeaders("tools/call", "ask")...)
		res.wantError(t, 400, mcp.CodeMissingCapability, "1")
		if !strings.Contains(res.body, `"requiredCapabilities":{"elicitation":{`) {
			t.Errorf("got %s, want the capability", res.body)
		}
	})
}

func TestModernMessagesOfOtherKinds(t *testing.T) { // R039
	s := open(t, newBench(), nil)
	for _, method := range []string{"no/such", "initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"} {
		s.post(modernBody(method, ""), modernHeaders(method, "")...).wantError(t, 404, -32601, "1")
	}
	version := "MCP-Protocol-Version: " + newest
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		for _, headers := range [][]string{nil, {version}, {version, "Mcp-Session-Id: x"}} {
			if res := s.do(method, "", headers...); res.status != 405 || res.header.Get("Allow") != "POST" {
				t.Errorf("%s %v: got %d, Allow %q; want 405 and POST", method, headers, res.status, res.header.Get("Allow"))
			}
		}
	}
	for _, method := range []string{http.MethodPut, http.MethodPatch, http.MethodHead, http.MethodOptions, "TRACE"} {
		if res := s.do(method, ""); res.status != 405 || res.header.Get("Allow") == "" {
			t.Errorf("%s: got %d, Allow %q; want 405", method, res.status, res.header.Get("Allow"))
		}
	}
	s.post(`{"jsonrpc":"2.0","id":7,"result":{}}`, version).wantError(t, 400, -32600, "")
	s.post(`[{"jsonrpc":"2.0","id":7,"method":"ping"}]`, version).wantError(t, 400, -32600, "")
	if res := s.post(`{"jsonrpc":"2.0","method":"notifications/whatever"}`, version); res.status != 202 || res.body != "" {
		t.Errorf("a notification: got %d %q, want 202 and nothing", res.status, res.body)
	}
	s.post(`{"jsonrpc":"2.0","id":1,"method":"server/discover"}`).wantError(t, 400, mcp.CodeHeaderMismatch, "1")
}

func TestModernErrorsOfHandlers(t *testing.T) {
	s := open(t, newBench(), nil)
	s.callTool("fail", "{}").wantText(t, `"isError":true`)
	s.callTool("nobody", "{}").wantError(t, 400, -32602, "1")
	s.callTool("panic", "{}").wantError(t, 200, -32603, "1")
	if body := s.callTool("panic", "{}").body; strings.Contains(body, "oh no") || strings.Contains(body, ".go") {
		t.Errorf("the panic leaked: %s", body)
	}
}

func TestManyPanicsAtOnce(t *testing.T) { // R017
	s := open(t, newBench(), nil)
	c := s.join(lastSession)
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 10 {
				s.callTool("panic", "{}").wantError(t, 200, -32603, "1")
				id := worker*100 + i
				c.call(id, "panic", "{}").wantError(t, 200, -32603, fmt.Sprint(id))
			}
		})
	}
	wg.Wait()
	s.callTool("hello", "{}").wantText(t, "hello")
}

func TestModernHangUpIsCancellation(t *testing.T) { // R040
	b := newBench()
	s := open(t, b, nil)
	for _, tool := range []string{"wait", "speak"} {
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		go func() { // ends with its context
			res, err := s.client.Do(s.request(ctx, http.MethodPost, modernBody("tools/call", `"name":"`+tool+`","arguments":{}`), modernHeaders("tools/call", tool)...))
			if err == nil {
				res.Body.Close()
			}
			failed <- err
		}()
		b.running(t)
		cancel()
		if err := receive(t, b.ended); err != context.Canceled {
			t.Errorf("%s: the context ended with %v", tool, err)
		}
		receive(t, failed)
	}
}

func TestModernQuestionsAreRounds(t *testing.T) {
	s := open(t, newBench(), nil)
	res := s.callTool("ask", "{}")
	if res.status != 200 || !strings.Contains(res.body, `"resultType":"input_required"`) || !strings.Contains(res.body, `"elicitation/create"`) {
		t.Fatalf("got %d %s, want a question", res.status, res.body)
	}
	s.post(modernBody("tools/call", `"name":"ask","arguments":{},"inputResponses":{"name":{"action":"decline"}}`), modernHeaders("tools/call", "ask")...).
		wantText(t, "the user said decline")
}

func TestLateWordsAreNotSent(t *testing.T) {
	late := make(chan func() error, 1)
	s := open(t, mcp.HandlerFunc(func(ctx context.Context, c *mcp.Call) (any, error) {
		if c.Method == mcp.MethodCallTool {
			late <- func() error { return c.Notify(ctx, "notifications/message", nil) }
		}
		return struct{}{}, nil
	}), nil)
	s.callTool("x", "{}").wantText(t, "complete")
	if err := receive(t, late)(); err == nil {
		t.Error("a notification was taken after the result")
	}
	c := s.join(lastSession)
	c.call(1, "x", "{}").wantText(t, `"result"`)
	if err := receive(t, late)(); err == nil {
		t.Error("a notification was taken after the result, in a session")
	}
}

// A client may drop the write side's deadline of the server by not reading; the
// next request on the connection must not suffer from the last one's deadline.
func TestDeadlinesDoNotOutliveTheirRequest(t *testing.T) {
	s := open(t, newBench(), &streamable.Options{WriteTimeout: 500 * time.Millisecond, BodyTimeout: 500 * time.Millisecond})
	s.callTool("hello", "{}").wantText(t, "hello")
	time.Sleep(700 * time.Millisecond)
	s.callTool("hello", "{}").wantText(t, "hello")
	e := s.stream(http.MethodPost, listenBody, modernHeaders("subscriptions/listen", "")...)
	e.take()
	time.Sleep(700 * time.Millisecond)
	e.quiet() // it is still open
}
