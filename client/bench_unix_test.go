//go:build unix

package client_test

import (
	"net/http/httptest"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/stdio"
	"github.com/bossman-mcp/bossman/streamable"
)

// cpu returns the processor time that this process has used, or the children it
// has waited for.
func cpu(b *testing.B, who int) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(who, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkChild calls a server in a process of its own, and tells what each side
// of the pipe costs.
func BenchmarkChild(b *testing.B) {
	for _, era := range []string{"handshake", "stateless"} {
		b.Run(era, func(b *testing.B) {
			theirs := cpu(b, syscall.RUSAGE_CHILDREN)
			c, err := client.Connect(b.Context(), stdio.Command(os.Args[0], asServer), &client.Options{Revision: era, Logger: quiet})
			if err != nil {
				b.Fatal(err)
			}
			ours := cpu(b, syscall.RUSAGE_SELF)
			arguments := &pair{2, 40}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.CallTool(b.Context(), "add", arguments, nil); err != nil {
					b.Fatal(err)
				}
			}
			ours = cpu(b, syscall.RUSAGE_SELF) - ours
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
			if err := c.Close(); err != nil {
				b.Fatal(err)
			}
			theirs = cpu(b, syscall.RUSAGE_CHILDREN) - theirs
			b.ReportMetric(float64(ours.Microseconds())/float64(b.N), "client-µs/op")
			b.ReportMetric(float64(theirs.Microseconds())/float64(b.N), "server-µs/op")
		})
	}
}

func BenchmarkHTTP(b *testing.B) {
	srv := httptest.NewServer(streamable.Handler(newAdder(), nil))
	defer srv.Close()
	for _, era := range []string{"handshake", "stateless"} {
		b.Run(era, func(b *testing.B) {
			c := connect(b, streamable.Dial(srv.URL, nil), &client.Options{Revision: era})
			arguments := &pair{2, 40}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.CallTool(b.Context(), "add", arguments, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
		})
	}
}
