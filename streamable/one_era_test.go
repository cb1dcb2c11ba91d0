package streamable_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/streamable"
)

// An endpoint of the newest revision alone treats older traffic as the spec asks
// for: 405 for GET and DELETE, session ids ignored, and its versions named to
// those who know no other way in than initialize.
func TestAnEndpointOfTheStatelessEraAlone(t *testing.T) {
	s := open(t, newBench(), &streamable.Options{Revision: "stateless"})
	s.callTool("hello", "{}").wantText(t, "resultType")
	s.post(modernBody("tools/call", `"name":"hello","arguments":{}`), modernHeaders("tools/call", "hello", "Mcp-Session-Id: x")...).wantText(t, "resultType")
	init := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + lastSession + `","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	for _, test := range []struct {
		name string
		code int
		with []string
	}{
		{"without headers", mcp.CodeHeaderMismatch, nil},
		{"with the header of its version", mcp.CodeUnsupportedVersion, []string{"MCP-Protocol-Version: " + lastSession}},
	} {
		res := s.post(init, test.with...)
		res.wantError(t, 400, test.code, "1")
		if !strings.Contains(res.body, newest) {
			t.Errorf("%s: the refusal does not say what is spoken: %s", test.name, res.body)
		}
	}
	s.post(ping(1)).wantError(t, 400, mcp.CodeHeaderMismatch, "1")
	s.post("["+ping(1)+"]").wantError(t, 400, -32600, "")
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		if res := s.do(method, "", "Mcp-Session-Id: x", "Last-Event-ID: 1"); res.status != http.StatusMethodNotAllowed {
			t.Errorf("%s: got %d", method, res.status)
		}
	}
	pair := *s
	pair.url = s.srv.URL + "/sse"
	if res := pair.do(http.MethodGet, ""); res.status != http.StatusNotFound || !strings.Contains(res.body, newest) {
		t.Errorf("the pair of endpoints: got %d, %s", res.status, res.body)
	}
}

// An endpoint of the handshake era alone must not look as if it spoke the other:
// clients fall back on any error that is none of the newest revision's.
func TestAnEndpointOfTheHandshakeEraAlone(t *testing.T) {
	s := open(t, newBench(), &streamable.Options{Revision: "handshake"})
	s.post(modernBody("server/discover", ""), modernHeaders("server/discover", "")...).wantError(t, 400, -32600, "1")
	c := s.join(lastSession)
	c.call(2, "hello", "{}").wantText(t, "hello")
	c.post(ping(3), "MCP-Protocol-Version: "+newest).wantError(t, 400, -32600, "3")
	c.do(http.MethodDelete)
}

func TestAnEndpointAnswersWithARevisionOfItsOwn(t *testing.T) {
	s := open(t, newBench(), &streamable.Options{Revision: "2024-11-05,2025-03-26"})
	for asked, want := range map[string]string{"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", lastSession: "2025-03-26"} {
		s.post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+asked+`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`).
			wantText(t, `"protocolVersion":"`+want+`"`)
	}
	s.post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, "MCP-Protocol-Version: 2025-06-18").wantError(t, 400, -32600, "1")
}

func TestAnUnknownRevisionIsAMistakeAtSetup(t *testing.T) {
	defer func() {
		if v := recover(); v == nil || !strings.Contains(v.(string), newest) {
			t.Errorf("got %v, want a panic that names the revisions", v)
		}
	}()
	streamable.Handler(newBench(), &streamable.Options{Revision: "2.0"})
}
