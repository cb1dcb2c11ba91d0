package deferred_test

import (
	"context"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/deferred"
	"github.com/bossman-mcp/bossman/mcp"
)

// BenchmarkCall begins work and waits for its end, without a transport.
func BenchmarkCall(b *testing.B) {
	f := newFixture(b, &deferred.Options{Store: deferred.NewMemory(1<<30, 1<<40), MaxWaiting: 1 << 30})
	caller := &mcp.Client{Capabilities: declared}
	params := jsontext.Value(`{"name":"add","arguments":{"a":1,"b":2}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.s.Handle(b.Context(), &mcp.Call{Method: mcp.MethodCallTool, Params: params, Client: caller}); err != nil {
			b.Fatal(err)
		}
	}
	if err := f.d.Settle(b.Context()); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkGet reads a result that is there.
func BenchmarkGet(b *testing.B) {
	f := newFixture(b, nil)
	caller := &mcp.Client{Capabilities: declared}
	ctx := context.Background()
	handle, err := f.s.Handle(ctx, &mcp.Call{Method: mcp.MethodCallTool, Params: jsontext.Value(`{"name":"add","arguments":{"a":1,"b":2}}`), Client: caller})
	if err != nil {
		b.Fatal(err)
	}
	if err := f.d.Settle(ctx); err != nil {
		b.Fatal(err)
	}
	params := jsontext.Value(`{"taskId":"` + handle.(*mcp.Deferred).ID + `"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.s.Handle(ctx, &mcp.Call{Method: mcp.MethodGetDeferred, Params: params, Client: caller}); err != nil {
			b.Fatal(err)
		}
	}
}
