package jsonrpc_test

import (
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/jsonrpc"
)

const modernCall = `{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2000-01-01","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},"name":"add","arguments":{"a":2,"b":40}}}`

func BenchmarkParse(b *testing.B) {
	for _, bc := range []struct{ name, text string }{
		{"call", modernCall},
		{"64KiB", `{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"echo","arguments":{"text":"` + strings.Repeat("all work and no play ", 3120) + `"}}}`},
		{"result", `{"jsonrpc":"2.0","id":17,"result":{"resultType":"complete","content":[{"type":"text","text":"42"}],"structuredContent":{"sum":42}}}`},
	} {
		b.Run(bc.name, func(b *testing.B) {
			text := []byte(bc.text)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := jsonrpc.Parse(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppendResult(b *testing.B) {
	type sum struct {
		Sum int `json:"sum"`
	}
	id := jsonrpc.IntID(17)
	for _, bc := range []struct {
		name   string
		result any
	}{
		{"raw", jsontext.Value(`{"sum":42}`)},
		{"appender", point{x: "42"}},
		{"struct", &sum{42}},
	} {
		b.Run(bc.name, func(b *testing.B) {
			var dst []byte
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if dst, err = jsonrpc.AppendResult(dst[:0], id, bc.result); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The allocations of a call are its id, its method, and no more.
func TestParseAllocatesOnlyIDAndMethod(t *testing.T) {
	if info, ok := debug.ReadBuildInfo(); !ok || slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("the race detector makes sync.Pool forget on purpose")
	}
	text := []byte(modernCall)
	got := testing.AllocsPerRun(200, func() {
		if _, err := jsonrpc.Parse(text); err != nil {
			t.Error(err)
		}
	})
	if got > 2 {
		t.Errorf("%v allocations, want 2", got)
	}
}
