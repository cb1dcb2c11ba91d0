package client_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

// offering is a server with a good tool and one with the given schema, of what goes
// in and of what comes out.
func offering(schema string) *script {
	tools := fmt.Sprintf(`{"name":"good","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}},`+
		`{"name":"bad","inputSchema":%s,"outputSchema":%[1]s}`, schema)
	return &script{serve: func(f *fake, _ int) {
		f.modern(func(m jsonrpc.Message) {
			if m.Method == mcp.MethodListTools {
				f.reply(m, `{"resultType":"complete","tools":[`+tools+`]}`)
				return
			}
			f.reply(m, `{"content":[],"structuredContent":{}}`)
		})
	}}
}

// dropped wants that a tool with one of the schemas is neither listed nor called,
// that finding out takes no longer than most, and that the good tool works.
func dropped(t *testing.T, schemas []string, most time.Duration) {
	t.Helper()
	for _, text := range schemas {
		took := time.Hour
		for range 3 { // others may have the processor at the first try
			s := offering(text)
			if took = min(took, refused(t, s, text)); took <= most {
				break
			}
		}
		if took > most {
			t.Errorf("%.80s: took %v", text, took)
		}
	}
}

// refused returns how long it takes to list the good tool of an offer, and not the
// bad one.
func refused(t *testing.T, s *script, text string) time.Duration {
	t.Helper()
	c := connect(t, s, nil)
	start := time.Now()
	tools, err := client.Collect(c.Tools(t.Context()))
	took := time.Since(start)
	if err != nil || len(tools) != 1 || tools[0].Name != "good" {
		t.Fatalf("%.80s: %d tools are listed, %v; want the good one", text, len(tools), err)
	}
	var wrong *client.OutputError
	if _, err := c.CallTool(t.Context(), "bad", nil, nil); !errors.As(err, &wrong) || wrong.Result != nil {
		t.Errorf("%.80s: got %v, want the schema to be refused", text, err)
	}
	if _, err := c.CallTool(t.Context(), "good", nil, nil); err != nil {
		t.Errorf("the good tool: %v", err)
	}
	for _, m := range s.requests(mcp.MethodCallTool) {
		if name := jsonscan.Unquote(jsonscan.Get(m.Params, "name")); name != "good" {
			t.Errorf("%s was called", name)
		}
	}
	return took
}

func TestNoSchemaOfAServerIsFetched_R072(t *testing.T) {
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
	var schemas []string
	for _, address := range []string{"http://" + listener.Addr().String() + "/s", "https://" + listener.Addr().String() + "/s", "file://" + filepath.ToSlash(file)} {
		for _, form := range []string{
			`{"$ref":%q}`, `{"$dynamicRef":%q}`, `{"$schema":%q}`, `{"$id":%q,"properties":{"a":{"$ref":"t"}}}`,
			`{"type":"object","properties":{"a":{"anyOf":[{"$ref":%q}]}}}`,
		} {
			schemas = append(schemas, fmt.Sprintf(form, address))
		}
	}
	dropped(t, schemas, time.Minute)
	if err := listener.Close(); err != nil {
		t.Error(err)
	}
	if <-done; visited {
		t.Error("a connection was made")
	}
}

func TestCostlySchemasCostOnlyTheirTool_R073(t *testing.T) {
	ladder := `{"$ref":"#/$defs/d0","$defs":{`
	for i := range 30 {
		ladder += fmt.Sprintf(`"d%d":{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	var crowd strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&crowd, `"d%d":{},`, i)
	}
	schemas := []string{
		ladder + `"d30":{}}}`,
		`{"$ref":"#"}`,
		`{"anyOf":[{"not":{"$ref":"#"}}]}`,
		`{"description":"` + strings.Repeat("x", 2<<20) + `"}`, // twice in the list, which as a whole has a limit too
		`{"$defs":{` + crowd.String() + `"last":{}}}`,
		`{"patternProperties":{"` + strings.Repeat("a{1000}", 1000) + `":{}}}`,
		`{"properties":{"a":{"multipleOf":1.0000000000000000000000000000001}}}`,
		strings.Repeat(`{"not":`, 400) + "{}" + strings.Repeat("}", 400),
	}
	dropped(t, schemas, 100*time.Millisecond*slowdown)
}
