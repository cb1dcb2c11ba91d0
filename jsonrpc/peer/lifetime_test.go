package peer_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bossman-mcp/bossman/jsonrpc/peer"
)

type colour struct{}

func TestARequestsContextIsOneThatOthersCanBeMadeFrom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, end := peer.Pipe()
		ctx := context.WithValue(t.Context(), colour{}, "green")
		ended := make(chan error, 3)
		_, running := runUntil(t, ctx, near, answering(func(ctx context.Context, _ *peer.Request) (any, error) {
			if got := ctx.Value(colour{}); got != "green" {
				t.Errorf("the connection's value is %v", got)
			}
			if _, ok := ctx.Deadline(); ok || ctx.Err() != nil {
				t.Errorf("a new request has a deadline %v or an error: %v", ok, ctx.Err())
			}
			before := runtime.NumGoroutine()
			child, cancel := context.WithTimeout(ctx, time.Hour)
			defer cancel()
			stopped := context.AfterFunc(ctx, func() { t.Error("what was stopped ran") })
			called := make(chan struct{})
			context.AfterFunc(ctx, func() { close(called) })
			if grown := runtime.NumGoroutine() - before; grown > 0 {
				t.Errorf("following the context takes %d goroutines", grown)
			}
			if !stopped() || stopped() {
				t.Error("stop must report true once")
			}
			<-child.Done()
			<-called
			ended <- child.Err()
			ended <- context.Cause(child)
			late, cancelLate := context.WithCancel(ctx)
			defer cancelLate()
			<-late.Done()
			context.AfterFunc(ctx, func() { ended <- late.Err() })
			return nil, ctx.Err()
		}), nil)
		far := &far{t, end, running}
		far.send(request(`1`, "wait"))
		far.quiet()
		far.send(cancelled(`1`))
		for _, which := range []string{"a context made from it", "the cause of its end", "a context made too late"} {
			if err := <-ended; err != context.Canceled {
				t.Errorf("%s: %v", which, err)
			}
		}
	})
}
