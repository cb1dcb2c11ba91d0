package client_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

// offering is a server with a good tool and one for each of the given schemas, as
// the schema of what goes in and of what comes out.
func offering(schemas []string) *script {
	tools := `{"name":"good","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}`
	for i, text := range schemas {
		tools += fmt.Sprintf(`,{"name":"bad%d","inputSchema":%s,"outputSchema":%s}`, i, text, text)
	}
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

// dropped wants that none of the bad tools is called, each within the time, and
// that the good one is.
func dropped(t *testing.T, s *script, schemas []string, most time.Duration) {
	t.Helper()
	best := make([]time.Duration, len(schemas))
	for try := range 3 { // others may have the processor at the first try
		c := connect(t, s, nil)
		if _, err := client.Collect(c.Tools(t.Context())); err != nil {
			t.Fatal(err)
		}
		for i, text := range schemas {
			start := time.Now()
			_, err := c.CallTool(t.Context(), fmt.Sprint("bad", i), nil, nil)
			if took := time.Since(start); try == 0 || took < best[i] {
				best[i] = took
			}
			var wrong *client.OutputError
			if !errors.As(err, &wrong) || wrong.Result != nil {
				t.Errorf("%.80s: got %v, want the schema to be refused", text, err)
			}
		}
		if _, err := c.CallTool(t.Context(), "good", nil, nil); err != nil {
			t.Errorf("the good tool: %v", err)
		}
		if slices.Max(best) <= most {
			break
		}
	}
	for i, took := range best {
		if took > most {
			t.Errorf("%.80s: took %v", schemas[i], took)
		}
	}
	for _, m := range s.requests(mcp.MethodCallTool) {
		if name := jsonscan.Unquote(jsonscan.Get(m.Params, "name")); name != "good" {
			t.Errorf("%s was called", name)
		}
	}
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
	dropped(t, offering(schemas), schemas, time.Minute)
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
	dropped(t, offering(schemas), schemas, 100*time.Millisecond*slowdown)
}
