package server_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

// refusal adds a tool with the given schemas and returns why that panicked.
func refusal(s *server.Server, input, output string) (why string) {
	defer func() {
		if v := recover(); v != nil {
			why = fmt.Sprint(v)
		}
	}()
	var out jsontext.Value
	if output != "" {
		out = jsontext.Value(output)
	}
	s.AddTool(mcp.Tool{Name: "bad"}, server.Raw(jsontext.Value(input), out, func(context.Context, *mcp.Call, jsontext.Value) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{}, nil
	}))
	return ""
}

// stays wants that a server offers its good tool, and no other.
func stays(t *testing.T, s *server.Server) {
	t.Helper()
	ask := func(method, params string) string {
		result, err := handle(t, s, method, params)
		if err != nil {
			t.Fatal(err)
		}
		text, err := jsonrpc.AppendValue(nil, result)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if got := ask(mcp.MethodListTools, "{}"); strings.Contains(got, `"bad"`) || !strings.Contains(got, `"good"`) {
		t.Errorf("the list is %.200s", got)
	}
	if got := ask(mcp.MethodCallTool, `{"name":"good","arguments":{}}`); !strings.Contains(got, "fine") {
		t.Errorf("the good tool says %s", got)
	}
}

func withGoodTool() *server.Server {
	s := server.New("t", "1", quiet())
	server.Tool(s, "good", "", func(context.Context, struct{}) (string, error) { return "fine", nil })
	return s
}

func TestNoSchemaOfAToolIsFetched_R072(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	visited, done := false, make(chan struct{})
	go func() { // ends when the listener is closed, below
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			visited = true
			_ = conn.Close()
		}
	}()
	file := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(file, []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := withGoodTool()
	for _, address := range []string{"http://" + listener.Addr().String() + "/s", "https://" + listener.Addr().String() + "/s", "file://" + filepath.ToSlash(file)} {
		for _, form := range []string{
			`{"type":"object","$ref":%q}`, `{"type":"object","$dynamicRef":%q}`, `{"type":"object","$schema":%q}`,
			`{"type":"object","$id":%q,"properties":{"a":{"$ref":"t"}}}`, `{"type":"object","properties":{"a":{"items":{"$ref":%q}}}}`,
		} {
			text := fmt.Sprintf(form, address)
			for side, why := range map[string]string{"input": refusal(s, text, ""), "output": refusal(s, `{"type":"object"}`, text)} {
				if why == "" {
					t.Errorf("%s schema %s is accepted", side, text)
					s.RemoveTool("bad")
				}
			}
		}
	}
	stays(t, s)
	if err := listener.Close(); err != nil {
		t.Error(err)
	}
	if <-done; visited {
		t.Error("a connection was made")
	}
}

func TestCostlySchemasOfAToolAreRefused_R073(t *testing.T) {
	ladder := `{"type":"object","$ref":"#/$defs/d0","$defs":{`
	for i := range 30 {
		ladder += fmt.Sprintf(`"d%d":{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	ladder += `"d30":{}}}`
	var crowd strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&crowd, `"d%d":{},`, i)
	}
	for name, text := range map[string]string{
		"2^30 anyOf":                     ladder,
		"endless recursion":              `{"type":"object","$ref":"#"}`,
		"10 MB":                          `{"type":"object","description":"` + strings.Repeat("x", 10<<20) + `"}`,
		"10,000 $defs":                   `{"type":"object","$defs":{` + crowd.String() + `"last":{}}}`,
		"a pattern that explodes":        `{"type":"object","patternProperties":{"` + strings.Repeat("a{1000}", 1000) + `":{}}}`,
		"multipleOf of too many digits":  `{"type":"object","properties":{"a":{"multipleOf":1.0000000000000000000000000000001}}}`,
		"nesting without end":            strings.Repeat(`{"not":`, 5_000) + "{}" + strings.Repeat("}", 5_000),
		"a keyword that makes no sense":  `{"type":"object","required":"a"}`,
		"what is no schema in the first": `7`,
	} {
		t.Run(name, func(t *testing.T) {
			s := withGoodTool()
			took := time.Hour
			for range 3 { // others may have the processor at the first try
				start := time.Now()
				if refusal(s, text, "") == "" || refusal(s, `{"type":"object"}`, text) == "" {
					t.Fatal("it is accepted")
				}
				took = min(took, time.Since(start))
			}
			if took > 2*100*time.Millisecond*server.Slowdown {
				t.Errorf("took %v for two", took)
			}
			stays(t, s)
		})
	}
}
