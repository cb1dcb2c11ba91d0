package client

import (
	"context"
	"testing"
	"testing/synctest"
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

func TestAWaitForAnAnswerEndsInTime(t *testing.T) {
	for _, tc := range []struct {
		name string
		ctx  func(t *testing.T) context.Context
	}{
		{"of a caller who can give up", func(t *testing.T) context.Context { return t.Context() }},
		{"of a caller who cannot", func(*testing.T) context.Context { return context.Background() }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := new(conn)
				l := bound(tc.ctx(t), k, &lifecycle.Agreement{Stateless: true}, &CallOptions{Timeout: time.Minute, MaxTimeout: -1})
				defer k.alarm.stop()
				defer l.stop()
				answered, from := make(chan struct{}, 1), time.Now()
				if l.Await(answered) || time.Since(from) != time.Minute {
					t.Errorf("ended after %v, and not as late", time.Since(from))
				}
				if l.Await(answered) {
					t.Error("a call that is late waits again")
				}
				l.expire(&TimeoutError{After: time.Minute})
				if len(answered) > 0 {
					t.Error("a wait that is over was woken")
				}
			})
		})
	}
}
