package client

import (
	"context"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/internal/lifecycle"
)

// Transports make contexts from that of a call, and may still hold them when the
// call is over.
func TestContextsMadeFromACallEndWithIt(t *testing.T) {
	for _, tc := range []struct {
		name string
		end  func(l *limit, cancel context.CancelFunc)
		want error
	}{
		{"when the call is over", func(l *limit, _ context.CancelFunc) { l.stop() }, context.Canceled},
		{"when the caller gives up", func(_ *limit, cancel context.CancelFunc) { cancel() }, context.Canceled},
		{"when the time is up", func(l *limit, _ context.CancelFunc) { l.ring() }, context.DeadlineExceeded},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			l := bound(ctx, &conn{}, &lifecycle.Agreement{Stateless: true}, &CallOptions{Timeout: time.Minute, MaxTimeout: -1})
			defer l.stop()
			if l.Err() != nil {
				t.Fatalf("a new call ended with %v", l.Err())
			}
			child, cancelChild := context.WithCancel(l)
			defer cancelChild()
			tc.end(l, cancel)
			<-child.Done()
			if child.Err() != tc.want || l.Err() != tc.want {
				t.Errorf("got %v and %v, want %v", child.Err(), l.Err(), tc.want)
			}
		})
	}
}
