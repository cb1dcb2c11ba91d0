package client_test

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"testing"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/internal/lifecycle"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/mcp"
)

// piped dials a handler over channels, where moving bytes costs next to nothing.
type piped struct{ handler mcp.Handler }

func (d piped) Dial(context.Context) (peer.Transport, error) {
	near, far := peer.Pipe()
	go func() { _ = lifecycle.Serve(context.Background(), far, d.handler, nil) }() // ends with the connection
	return near, nil
}

func BenchmarkCallTool(b *testing.B) {
	for _, era := range []string{"handshake", "stateless"} {
		for _, d := range []client.Dialer{piped{newAdder()}, &inMemory{handler: newAdder()}} {
			name := fmt.Sprintf("%s/%T", era, d)
			b.Run(name, func(b *testing.B) {
				c := connect(b, d, &client.Options{Revision: era})
				ctx := b.Context()
				arguments := &pair{2, 40}
				b.ReportAllocs()
				for b.Loop() {
					if _, err := c.CallTool(ctx, "add", arguments, nil); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
			})
		}
	}
}

func BenchmarkCallToolFromManyGoroutines(b *testing.B) {
	for _, era := range []string{"handshake", "stateless"} {
		b.Run(era, func(b *testing.B) {
			c := connect(b, piped{newAdder()}, &client.Options{Revision: era})
			arguments := &pair{2, 40}
			b.ReportAllocs()
			b.SetParallelism(32)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := c.CallTool(b.Context(), "add", arguments, nil); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
		})
	}
}

func BenchmarkTools(b *testing.B) {
	c := connect(b, piped{newEverything()}, nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.Collect(c.Tools(b.Context())); err != nil {
			b.Fatal(err)
		}
	}
}

// instant is a transport that answers what it is sent by itself: what is left is
// what the client costs.
type instant struct {
	answers chan []byte
	done    chan struct{}
	once    sync.Once
}

func (d *instant) Dial(context.Context) (peer.Transport, error) {
	return &instant{answers: make(chan []byte, 16), done: make(chan struct{})}, nil
}

func (d *instant) Send(_ context.Context, message []byte) error {
	id := jsonscan.Get(message, "id")
	if id == nil {
		return nil
	}
	result := `{"resultType":"complete","content":[{"type":"text","text":"{\"result\":42}"}],"structuredContent":{"result":42},"isError":false}`
	switch jsonscan.Unquote(jsonscan.Get(message, "method")) {
	case mcp.MethodDiscover:
		result = discovery()
	case mcp.MethodInitialize:
		result = introduction()
	}
	answer := append(append(append([]byte(`{"jsonrpc":"2.0","id":`), id...), `,"result":`...), result...)
	d.answers <- append(answer, '}')
	return nil
}

func (d *instant) Receive(context.Context) ([]byte, error) {
	select {
	case answer := <-d.answers:
		return answer, nil
	case <-d.done:
		return nil, io.EOF
	}
}

func (d *instant) Close() error {
	d.once.Do(func() { close(d.done) })
	return nil
}

// prompt is an instant transport whose answers callers receive themselves, so that a
// call stays on its goroutine.
type prompt struct{ *instant }

func (prompt) Dial(ctx context.Context) (peer.Transport, error) {
	d, err := new(instant).Dial(ctx)
	return prompt{d.(*instant)}, err
}

func (p prompt) Lend(bool) bool                                  { return true }
func (p prompt) Ready() bool                                     { return len(p.answers) > 0 }
func (p prompt) ReceiveSoon(ctx context.Context) ([]byte, error) { return p.Receive(ctx) }

// A call may cost the client this much, and no more.
const (
	maxAllocs = 10
	maxBytes  = 700
)

func TestOneCallIsCheap(t *testing.T) {
	if info, ok := debug.ReadBuildInfo(); !ok || slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("the race detector allocates too")
	}
	for _, era := range []string{"handshake", "stateless"} {
		c := connect(t, &instant{}, &client.Options{Revision: era})
		arguments := &pair{2, 40}
		allocs, bytes := costOf(func() {
			if _, err := c.CallTool(t.Context(), "add", arguments, nil); err != nil {
				t.Error(err)
			}
		})
		t.Logf("%s: %d allocations, %d bytes a call", era, allocs, bytes)
		if allocs > maxAllocs || bytes > maxBytes {
			t.Errorf("%s: a call costs %d allocations and %d bytes; at most %d and %d are allowed",
				era, allocs, bytes, maxAllocs, maxBytes)
		}
	}
}

// costOf counts the allocations and bytes of one call, once pools are filled.
func costOf(call func()) (allocs, bytes uint64) {
	const calls = 2000
	for range calls {
		call()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range calls {
		call()
	}
	runtime.ReadMemStats(&after)
	return (after.Mallocs - before.Mallocs) / calls, (after.TotalAlloc - before.TotalAlloc) / calls
}

func BenchmarkClientAlone(b *testing.B) {
	for _, era := range []string{"handshake", "stateless"} {
		b.Run(era, func(b *testing.B) {
			aloneCalls(b, connect(b, &instant{}, &client.Options{Revision: era}))
		})
		b.Run(era+", where it is called", func(b *testing.B) {
			aloneCalls(b, connect(b, prompt{}, &client.Options{Revision: era}))
		})
	}
}

func aloneCalls(b *testing.B, c *client.Client) {
	arguments := &pair{2, 40}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.CallTool(b.Context(), "add", arguments, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}
