package mcp_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/mcp"
)

func toolResult() *mcp.CallToolResult {
	return &mcp.CallToolResult{
		ResultType:        mcp.ResultComplete,
		Content:           mcp.Contents{mcp.Text(`{"sum":42,"note":"the sum of two numbers"}`)},
		StructuredContent: jsontext.Value(`{"sum":42,"note":"the sum of two numbers"}`),
	}
}

func TestToolResultIsWrittenWithoutAllocations(t *testing.T) {
	var buf bytes.Buffer
	enc := jsontext.NewEncoder(&buf)
	result := toolResult()
	allocs := testing.AllocsPerRun(100, func() {
		buf.Reset()
		if err := json.MarshalEncode(enc, result); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 {
		t.Errorf("writing a tool's result allocates %v times, want none", allocs)
	}
}

func BenchmarkWriteToolResult(b *testing.B) {
	enc := jsontext.NewEncoder(io.Discard)
	result := toolResult()
	b.ReportAllocs()
	for b.Loop() {
		if err := json.MarshalEncode(enc, result); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadToolResult(b *testing.B) {
	text, err := json.Marshal(toolResult())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		var result mcp.CallToolResult
		if err := json.Unmarshal(text, &result); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadCallToolParams(b *testing.B) {
	text := []byte(`{"_meta":{"io.modelcontextprotocol/clientCapabilities":{}},"name":"add","arguments":{"a":1,"b":2}}`)
	b.ReportAllocs()
	for b.Loop() {
		var params mcp.CallToolParams
		if err := json.Unmarshal(text, &params); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWriteToolList(b *testing.B) {
	list := &mcp.ListToolsResult{}
	for range 50 {
		list.Tools = append(list.Tools, mcp.Tool{
			Name: "add", Description: "Add two numbers together",
			InputSchema: jsontext.Value(`{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}`),
		})
	}
	enc := jsontext.NewEncoder(io.Discard)
	b.ReportAllocs()
	for b.Loop() {
		if err := json.MarshalEncode(enc, list); err != nil {
			b.Fatal(err)
		}
	}
}
