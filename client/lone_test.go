package client_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/stdio"
)

// A client that makes one call after the other comes to receive the answers where
// it calls. Whatever it does then goes as it always does.
func TestLoneCallsOfAChildGoOnWhateverComesBetween(t *testing.T) {
	for _, era := range []string{"handshake", "stateless"} {
		t.Run(era, func(t *testing.T) {
			lost := make(chan error, 10)
			c := connect(t, stdio.Command(os.Args[0], asServer, andWait), &client.Options{Revision: era, OnLost: func(err error) { lost <- err }})
			add := func(n int) {
				if got, err := client.Call[sum](t.Context(), c, "add", pair{float64(n), 40}); err != nil || got.Result != float64(n+40) {
					t.Errorf("%d: %v, %v", n, got, err)
				}
			}
			alone := func() {
				for n := range 200 {
					add(n)
				}
			}
			alone()
			var crowd sync.WaitGroup
			for n := range 64 {
				crowd.Go(func() { add(n) }) // awaited below
			}
			crowd.Wait()
			alone()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			if _, err := c.CallTool(ctx, "wait", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a call that takes too long: %v", err)
			}
			alone()
			_, err := c.CallTool(t.Context(), "die", nil, nil)
			var exit *stdio.ExitError
			if !errors.As(err, &exit) || !strings.Contains(exit.Stderr, "farewell") {
				t.Errorf("a call that ends the server: %v", err)
			}
			if err := <-lost; !errors.As(err, &exit) {
				t.Errorf("lost by %v", err)
			}
			alone()
		})
	}
}
