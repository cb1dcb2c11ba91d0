package mcp_test

import (
	"bytes"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/mcp"
)

// FuzzContents holds that what can be read can be written, and that what was
// written reads and writes the same again.
func FuzzContents(f *testing.F) {
	for _, seed := range []string{
		`[]`, `null`, `[{"type":"text","text":"x"}]`, `[{"text":"x","\u0074ype":"text","_meta":{"a":1}}]`,
		`[{"type":"image","data":"YQ==","mimeType":"image/png","annotations":{"priority":0.1,"audience":["user"]}}]`,
		`[{"type":"audio","data":"","mimeType":""},{"type":"resource_link","uri":"a","name":"b","size":3,"icons":[{"src":"c"}]}]`,
		`[{"type":"resource","resource":{"uri":"a","blob":"YQ=="}},{"type":"resource","resource":{"uri":"a","text":"","blob":null}}]`,
		`[{"type":"tool_use","id":"1","name":"n","input":null}]`,
		`[{"type":"tool_result","toolUseId":"1","content":[{"type":"tool_result"}],"structuredContent":null,"isError":true}]`,
		`[{"type":"video","frames":[1e400,-0]},{}]`, `[{"type":null}]`, `{"type":"text"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var first, second mcp.Contents
		if json.Unmarshal(text, &first) != nil {
			return
		}
		written, err := json.Marshal(first)
		if err != nil {
			t.Fatalf("read but not written: %v", err)
		}
		if err := json.Unmarshal(written, &second); err != nil {
			t.Fatalf("written as %s but not read: %v", written, err)
		}
		again, err := json.Marshal(second)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(written, again) || len(first) != len(second) {
			t.Errorf("written as\n%s, then as\n%s", written, again)
		}
	})
}
