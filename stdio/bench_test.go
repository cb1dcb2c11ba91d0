package stdio_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/mcp/revision"
	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/stdio"
)

type pair struct {
	A float64 `json:"a" doc:"First number"`
	B float64 `json:"b" doc:"Second number"`
}

type sum struct {
	Result float64 `json:"result" doc:"The sum"`
}

func newServer() *server.Server {
	s := server.New("test", "1.0.0", nil)
	server.Tool(s, "add", "Add two numbers together", func(_ context.Context, in pair) (sum, error) {
		return sum{in.A + in.B}, nil
	})
	server.Tool(s, "echo", "Say it again", func(_ context.Context, in struct {
		Text string `json:"text"`
	}) (string, error) {
		return in.Text, nil
	})
	return s
}

// wire is a client in the same process: it sends a line and waits for one.
type wire struct {
	lines   chan []byte
	rest    []byte
	answers chan int
	last    []byte
}

func newWire() *wire { return &wire{lines: make(chan []byte), answers: make(chan int, 1)} }

func (w *wire) Read(p []byte) (int, error) {
	if len(w.rest) == 0 {
		line, ok := <-w.lines
		if !ok {
			return 0, io.EOF
		}
		w.rest = line
	}
	n := copy(p, w.rest)
	w.rest = w.rest[n:]
	return n, nil
}

func (w *wire) Write(p []byte) (int, error) {
	if bytes.HasSuffix(w.last, []byte("\n")) {
		w.last = w.last[:0]
	}
	w.last = append(w.last, p...)
	if n := bytes.Count(p, []byte("\n")); n > 0 { // a long line may come in pieces
		w.answers <- n
	}
	return len(p), nil
}

func (w *wire) call(line []byte) []byte {
	w.lines <- line
	<-w.answers
	return w.last
}

// calls are the same two calls in both eras.
func addCall(era string) []byte {
	if era == "stateless" {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},"name":"add","arguments":{"a":2,"b":40}}}`+"\n", revision.Newest().Name)
	}
	return []byte(`{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":40}}}` + "\n")
}

// serve starts a server and returns a wire to it on which both eras work.
func serve(tb testing.TB) *wire {
	w := newWire()
	done := make(chan error, 1)
	go func() { // ends when the wire is closed, below
		done <- stdio.Serve(context.Background(), newServer(), &stdio.Options{In: w, Out: w})
	}()
	tb.Cleanup(func() {
		close(w.lines)
		if err := <-done; err != nil {
			tb.Errorf("Serve: %v", err)
		}
	})
	w.call(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`+"\n", revision.NewestHandshake().Name))
	w.lines <- []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
	return w
}

func BenchmarkAdd(b *testing.B) {
	for _, era := range []string{"handshake", "stateless"} {
		b.Run(era, func(b *testing.B) {
			w := serve(b)
			line := addCall(era)
			if got := string(w.call(line)); !strings.Contains(got, `"structuredContent":{"result":42}`) {
				b.Fatal(got)
			}
			b.ReportAllocs()
			for b.Loop() {
				w.call(line)
			}
		})
	}
}

func BenchmarkEcho(b *testing.B) {
	for _, kib := range []int{1, 64, 1024} {
		b.Run(fmt.Sprintf("%dKiB", kib), func(b *testing.B) {
			w := serve(b)
			line := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"echo","arguments":{"text":%q}}}`+"\n", strings.Repeat("all work and no play", kib*1024/20))
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				w.call(line)
			}
		})
	}
}

// A call may cost this much, and no more; see `make microbench` for the time.
const (
	maxAllocs = 8
	maxBytes  = 1450
)

func TestOneAddCallIsCheap(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates too")
	}
	for _, era := range []string{"handshake", "stateless"} {
		t.Run(era, func(t *testing.T) {
			w := serve(t)
			line := addCall(era)
			cost := testing.Benchmark(func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					w.call(line)
				}
			})
			t.Logf("%d allocations, %d bytes a call", cost.AllocsPerOp(), cost.AllocedBytesPerOp())
			if cost.AllocsPerOp() > maxAllocs || cost.AllocedBytesPerOp() > maxBytes {
				t.Errorf("a call costs %d allocations and %d bytes; at most %d and %d are allowed",
					cost.AllocsPerOp(), cost.AllocedBytesPerOp(), maxAllocs, maxBytes)
			}
		})
	}
}
