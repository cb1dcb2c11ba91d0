package peer_test

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"os"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/jsonrpc/peer"
)

// osPipes connects two transports by pipes of the system.
func osPipes(b *testing.B) (near, end peer.Transport) {
	inR, inW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	return peer.Lines(inR, outW, 0), peer.Lines(outR, inW, 0)
}

func BenchmarkCall(b *testing.B) {
	for _, bc := range []struct {
		name  string
		over  func(*testing.B) (peer.Transport, peer.Transport)
		width int
	}{
		{"memory-1", func(*testing.B) (peer.Transport, peer.Transport) { return peer.Pipe() }, 1},
		{"memory-64", func(*testing.B) (peer.Transport, peer.Transport) { return peer.Pipe() }, 64},
		{"lines-1", osPipes, 1},
		{"lines-64", osPipes, 64},
	} {
		b.Run(bc.name, func(b *testing.B) {
			near, end := bc.over(b)
			result := jsontext.Value(`{"sum":42}`)
			server := peer.New(near, answering(func(context.Context, *peer.Request) (any, error) { return result, nil }), nil)
			client := peer.New(end, handler{}, nil)
			ctx, cancel := context.WithCancel(context.Background())
			var running sync.WaitGroup
			running.Go(func() { _ = server.Run(ctx) })
			running.Go(func() { _ = client.Run(ctx) })
			b.ReportAllocs()
			b.SetParallelism(bc.width)
			if bc.width == 1 {
				for b.Loop() {
					if err := client.Call(ctx, "add", result, nil); err != nil {
						b.Fatal(err)
					}
				}
			} else {
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if err := client.Call(ctx, "add", result, nil); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			cancel()
			running.Wait()
		})
	}
}

// BenchmarkServe is the server's share only: lines in, lines out.
func BenchmarkServe(b *testing.B) {
	const call = `{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2000-01-01","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},"name":"add","arguments":{"a":2,"b":40}}}` + "\n"
	in, inW := io.Pipe()
	outR, out := io.Pipe()
	result := jsontext.Value(`{"resultType":"complete","content":[{"type":"text","text":"42"}]}`)
	server := peer.New(peer.Lines(in, out, 0), answering(func(context.Context, *peer.Request) (any, error) { return result, nil }), &peer.Options{Logger: slog.New(slog.DiscardHandler)})
	done := make(chan error, 1)
	go func() { done <- server.Run(context.Background()) }()
	answers := bufio.NewReader(outR)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := io.WriteString(inW, call); err != nil {
			b.Fatal(err)
		}
		if _, err := answers.ReadSlice('\n'); err != nil {
			b.Fatal(err)
		}
	}
	_ = inW.Close()
	<-done
}
