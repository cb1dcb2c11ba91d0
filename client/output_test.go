package client_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/schema"
)

type jsontextValue = jsontext.Value

// promising plays a server whose one tool has an output schema.
func promising(play func(*fake, func(jsonrpc.Message)), output, result string) *script {
	return &script{serve: func(f *fake, _ int) {
		play(f, func(m jsonrpc.Message) {
			if m.Method == mcp.MethodListTools {
				f.reply(m, fmt.Sprintf(`{"resultType":"complete","tools":[{"name":"t","inputSchema":{"type":"object"},"outputSchema":%s}]}`, output))
				return
			}
			f.reply(m, result)
		})
	}}
}

func TestStructuredResultsAreHeldToTheirSchema(t *testing.T) {
	const object = `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`
	both(t, func(t *testing.T, _ string, play func(*fake, func(jsonrpc.Message))) {
		for _, tc := range []struct {
			name, output, result string
			ok, invalid, called  bool
		}{
			{"it fits", object, `{"content":[],"structuredContent":{"n":1}}`, true, false, true},
			{"it does not fit", object, `{"content":[],"structuredContent":{"n":"1"}}`, false, true, true},
			{"it is missing", object, `{"content":[]}`, false, false, true},
			{"a failure promises nothing", object, `{"content":[],"isError":true}`, true, false, true},
			{"a reference to the network", `{"$ref":"http://127.0.0.1:1/x"}`, `{"content":[],"structuredContent":{}}`, false, false, false},
			{"a reference to a file", `{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}`, `{"content":[],"structuredContent":{}}`, false, false, false},
			{"a dialect that nobody knows", `{"$schema":"https://example.org/none"}`, `{"content":[],"structuredContent":{}}`, false, false, false},
			{"a schema that is none", `{"type":7}`, `{"content":[],"structuredContent":{}}`, false, false, false},
		} {
			t.Run(tc.name, func(t *testing.T) {
				s := promising(play, tc.output, tc.result)
				c := connect(t, s, nil)
				if _, err := c.CallTool(t.Context(), "t", nil, nil); err != nil {
					t.Errorf("before the tools were listed: %v", err)
				}
				if _, err := client.Collect(c.Tools(t.Context())); err != nil {
					t.Fatal(err)
				}
				before := len(s.requests(mcp.MethodCallTool))
				_, err := c.CallTool(t.Context(), "t", nil, nil)
				var wrong *client.OutputError
				var ours *client.LocalError
				var invalid *schema.Invalid
				if (err == nil) != tc.ok || err != nil && (!errors.As(err, &wrong) || !errors.As(err, &ours) || tc.called && errors.As(err, &invalid) != tc.invalid || (wrong.Result != nil) != tc.called) {
					t.Errorf("got %v", err)
				}
				if called := len(s.requests(mcp.MethodCallTool)) > before; called != tc.called {
					t.Errorf("called: %v", called)
				}
				lax := connect(t, promising(play, tc.output, tc.result), &client.Options{Unchecked: true})
				if _, err := client.Collect(lax.Tools(t.Context())); err != nil {
					t.Fatal(err)
				}
				if _, err := lax.CallTool(t.Context(), "t", nil, nil); err != nil {
					t.Errorf("unchecked: %v", err)
				}
			})
		}
	})
}

// mirroring is a transport that takes headers, as HTTP does.
type mirroring struct {
	peer.Transport
	mu      sync.Mutex
	headers map[string]map[string]string
}

func (m *mirroring) SetToolHeaders(tool string, headers map[string]string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.headers[tool] = headers
}

const annotated = `{"resultType":"complete","tools":[
	{"name":"plain","inputSchema":{"type":"object"}},
	{"name":"good","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"a/b":{"type":"object","properties":{"~":{"type":"integer","x-mcp-header":"Deep"}}}}}},
	{"name":"empty","inputSchema":{"type":"object","properties":{"r":{"type":"string","x-mcp-header":""}}}},
	{"name":"number","inputSchema":{"type":"object","properties":{"r":{"type":"number","x-mcp-header":"R"}}}},
	{"name":"space","inputSchema":{"type":"object","properties":{"r":{"type":"string","x-mcp-header":"R R"}}}},
	{"name":"twice","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"R"},"b":{"type":"string","x-mcp-header":"r"}}}},
	{"name":"array","inputSchema":{"type":"object","properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"R"}}}}}]}`

func TestToolsWithBadHeadersAreLeftOutOverHTTP(t *testing.T) {
	s := &script{serve: func(f *fake, _ int) {
		f.modern(func(m jsonrpc.Message) { f.reply(m, annotated) })
	}}
	plain := connect(t, s, nil)
	if tools, err := client.Collect(plain.Tools(t.Context())); err != nil || len(tools) != 7 {
		t.Errorf("without headers: %d tools, %v", len(tools), err)
	}
	over := &mirroring{headers: make(map[string]map[string]string)}
	c := connect(t, dialFunc(func(ctx context.Context) (tr peer.Transport, err error) {
		over.Transport, err = s.Dial(ctx)
		return over, err
	}), nil)
	tools, err := client.Collect(c.Tools(t.Context()))
	if err != nil || len(tools) != 2 || tools[0].Name != "plain" || tools[1].Name != "good" {
		t.Errorf("with headers: %v, %v", tools, err)
	}
	if got, want := over.headers["good"], map[string]string{"/region": "Region", "/a~1b/~0": "Deep"}; !maps.Equal(got, want) {
		t.Errorf("headers %v, want %v", got, want)
	}
	if got, known := over.headers["plain"]; !known || len(got) != 0 {
		t.Errorf("a tool without headers has %v", got)
	}
}

func TestAHeaderMismatchIsMendedByListingTheTools(t *testing.T) {
	over := &mirroring{headers: make(map[string]map[string]string)}
	s := &script{serve: func(f *fake, _ int) {
		f.modern(func(m jsonrpc.Message) {
			over.mu.Lock()
			_, known := over.headers["good"]
			over.mu.Unlock()
			switch {
			case m.Method == mcp.MethodListTools:
				f.reply(m, annotated)
			case !known || strings.Contains(string(jsonscan.Get(m.Params, "name")), "never"):
				f.refuse(m, mcp.CodeHeaderMismatch, "")
			default:
				f.reply(m, text("done"))
			}
		})
	}}
	c := connect(t, dialFunc(func(ctx context.Context) (tr peer.Transport, err error) {
		over.Transport, err = s.Dial(ctx)
		return over, err
	}), nil)
	if _, err := c.CallTool(t.Context(), "good", map[string]any{"region": "x"}, nil); err != nil {
		t.Error(err)
	}
	var theirs *jsonrpc.Error
	if _, err := c.CallTool(t.Context(), "never", nil, nil); !errors.As(err, &theirs) || theirs.Code != mcp.CodeHeaderMismatch {
		t.Errorf("got %v", err)
	}
	if got := len(s.requests(mcp.MethodListTools)); got != 2 {
		t.Errorf("listed %d times", got)
	}
}
