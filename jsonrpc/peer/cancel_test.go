package peer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
)

func TestACancelledRequestEndsItsContextAndIsNeverAnswered(t *testing.T) {
	for _, tc := range []struct {
		name   string
		result any
		err    error
	}{
		{"whose handler returns the context's error", nil, context.Canceled},
		{"whose handler returns a result all the same", "done", nil},
		{"whose handler returns an error for the wire", nil, jsonrpc.InvalidParams("no")},
		{"whose handler leaves it open", peer.Open, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				returned := false
				_, far := connect(t, answering(func(ctx context.Context, r *peer.Request) (any, error) {
					if r.Method == "ping" {
						return struct{}{}, nil
					}
					<-ctx.Done()
					if err := r.Notify(context.Background(), "progress", nil); !errors.Is(err, context.Canceled) {
						t.Errorf("Notify after the cancellation: %v", err)
					}
					time.Sleep(time.Millisecond)
					returned = true
					return tc.result, tc.err
				}), nil)
				far.send(request(`1`, "wait"))
				far.quiet()
				far.send(cancelled(`1`))
				time.Sleep(time.Second)
				far.quiet()
				if !returned {
					t.Error("the context did not end")
				}
				far.send(request(`1`, "ping")) // the id is free again
				far.want(empty(`1`))
			})
		})
	}
}

func TestACancellationOvertakesAThousandRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var gone, answered atomic.Int32
		_, far := connect(t, answering(func(ctx context.Context, r *peer.Request) (any, error) {
			select {
			case <-ctx.Done():
				gone.Add(1)
			case <-release:
				answered.Add(1)
			}
			return struct{}{}, nil
		}), nil)
		for i := range 1000 {
			far.send(request(fmt.Sprint(i), "wait"))
		}
		far.send(cancelled(`500`))
		far.quiet()
		if gone.Load() != 1 || answered.Load() != 0 {
			t.Fatalf("%d cancelled, %d answered", gone.Load(), answered.Load())
		}
		close(release)
		for range 999 {
			if text := far.next(); text == empty(`500`) {
				t.Error("the cancelled request was answered")
			}
		}
		far.quiet()
	})
}

func TestCancellationsOfAnythingElseAreIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		_, far := connect(t, handler{
			answer: func(ctx context.Context, r *peer.Request) (any, error) {
				if r.Method == "wait" {
					<-release
				}
				return struct{}{}, ctx.Err()
			},
			notice: func(context.Context, string, []byte) { t.Error("a cancellation reached the handler") },
		}, nil)
		far.send(request(`2`, "ping"))
		far.want(empty(`2`))
		far.send(request(`1`, "wait"))
		for _, params := range []string{
			`{"requestId":99}`, `{"requestId":2}`, `{"requestId":"1"}`, `{"requestId":1.0}`, `{"requestId":null}`, `{"requestId":{}}`,
			`{"requestId":[1]}`, `{"requestId":true}`, `{"RequestId":1}`, `{"id":1}`, `{}`, `null`, `{"requestId":"` + strings.Repeat("1", 2000) + `"}`,
		} {
			far.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":` + params + `}`)
			far.quiet()
		}
		far.send(`{"jsonrpc":"2.0","method":"notifications/cancelled"}`)
		far.quiet()
		close(release)
		far.want(empty(`1`))
	})
}

func TestACancellationMayWriteTheIDWithOtherEscapes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gone atomic.Int32
		_, far := connect(t, answering(func(ctx context.Context, _ *peer.Request) (any, error) {
			<-ctx.Done()
			gone.Add(1)
			return nil, nil
		}), nil)
		far.send(request(`"a\/é"`, "wait"))
		far.send(cancelled(`"\u0061/\u00E9"`))
		far.quiet()
		if gone.Load() != 1 {
			t.Error("not cancelled")
		}
	})
}

// A request that is cancelled while it finishes is answered once or not at all,
// and a batch is answered once and leaves nobody waiting.
func TestCancellationAndAnswerRaceR040(t *testing.T) {
	const rounds = 10_000
	answers := make([]int, rounds)
	release := make(chan struct{}, 1)
	_, far := connect(t, answering(func(_ context.Context, r *peer.Request) (any, error) {
		if r.Method == "race" {
			<-release
		}
		return struct{}{}, nil
	}), &peer.Options{Batches: func() bool { return true }})
	var receiving sync.WaitGroup
	receiving.Go(func() {
		for {
			text := far.next()
			if text == empty(`"last"`) {
				return
			}
			messages := []string{text}
			if strings.HasPrefix(text, "[") {
				messages = strings.Split(strings.Trim(text, "[]"), "},{")
			}
			for _, message := range messages {
				var i int
				if _, err := fmt.Sscanf(strings.TrimPrefix(message, "{"), `"jsonrpc":"2.0","id":%d,`, &i); err == nil && i < rounds {
					answers[i]++
				}
			}
		}
	})
	for i := range rounds {
		id := fmt.Sprint(i)
		if i%2 == 0 {
			far.send(request(id, "race"))
		} else {
			far.send(`[` + request(id, "race") + `,` + request(fmt.Sprint(rounds+i), "ping") + `]`)
		}
		release <- struct{}{}
		far.send(cancelled(id))
	}
	far.send(request(`"last"`, "ping"))
	receiving.Wait()
	none, one := 0, 0
	for i, n := range answers {
		switch n {
		case 0:
			none++
		case 1:
			one++
		default:
			t.Fatalf("request %d was answered %d times", i, n)
		}
	}
	t.Logf("answered %d, cancelled %d", one, none)
}

// gated is a transport on which notifications wait at a gate.
type gated struct {
	peer.Transport
	arrived, open chan struct{}
}

func (g gated) Send(ctx context.Context, message []byte) error {
	if strings.Contains(string(message), `"progress"`) {
		close(g.arrived)
		<-g.open
	}
	return g.Transport.Send(ctx, message)
}

func TestAnAnswerWaitsForANotificationUnderWay(t *testing.T) {
	near, end := peer.Pipe()
	gate := gated{near, make(chan struct{}), make(chan struct{})}
	_, r := run(t, gate, answering(func(_ context.Context, r *peer.Request) (any, error) {
		go func() { // a handler that forgets a goroutine
			if err := r.Notify(context.Background(), "progress", nil); err != nil {
				t.Errorf("Notify: %v", err)
			}
		}()
		<-gate.arrived
		return struct{}{}, nil
	}), nil)
	far := &far{t, end, r}
	far.send(request(`1`, "work"))
	<-gate.arrived
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond) // real time: a lock is not seen by synctest
	defer cancel()
	if text, err := far.Receive(ctx); err == nil {
		t.Errorf("got %s before the notification", text)
	}
	close(gate.open)
	far.want(`{"jsonrpc":"2.0","method":"progress"}`)
	far.want(empty(`1`))
}

func TestNoNotificationFollowsTheAnswer(t *testing.T) {
	for range 200 {
		var notifying sync.WaitGroup
		_, far := connect(t, answering(func(ctx context.Context, r *peer.Request) (any, error) {
			notifying.Go(func() {
				for r.Notify(context.Background(), "progress", nil) == nil {
				}
			})
			return struct{}{}, nil
		}), nil)
		far.send(request(`1`, "work"))
		for far.next() != empty(`1`) {
		}
		notifying.Wait()
		_ = far.Close()
		if text, err := far.Receive(t.Context()); err == nil {
			t.Fatalf("after the answer came %s", text)
		}
	}
}

func TestAnOpenRequestIsFinishedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := make(chan *peer.Request, 1)
		var ended context.Context
		_, far := connect(t, answering(func(ctx context.Context, r *peer.Request) (any, error) {
			ended = ctx
			requests <- r
			return peer.Open, nil
		}), nil)
		far.send(request(`1`, "listen"))
		r := <-requests
		far.quiet()
		if ended.Err() != nil {
			t.Fatal("the context ended with the handler")
		}
		if err := r.Notify(t.Context(), "event", nil); err != nil {
			t.Fatal(err)
		}
		far.want(`{"jsonrpc":"2.0","method":"event"}`)
		far.send(request(`1`, "again"))
		far.wantError(`1`, jsonrpc.CodeInvalidRequest)

		r.Finish(t.Context(), "first", nil)
		r.Finish(t.Context(), "second", nil)
		far.want(`{"jsonrpc":"2.0","id":1,"result":"first"}`)
		far.quiet()
		if ended.Err() == nil {
			t.Error("the context outlives the answer")
		}
		if err := r.Notify(t.Context(), "event", nil); !errors.Is(err, context.Canceled) {
			t.Errorf("Notify after the answer: %v", err)
		}
		far.send(cancelled(`1`))
		far.quiet()
	})
}

func TestAnOpenRequestCanBeCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := make(chan *peer.Request, 1)
		var ended context.Context
		_, far := connect(t, answering(func(ctx context.Context, r *peer.Request) (any, error) {
			ended = ctx
			requests <- r
			return peer.Open, nil
		}), nil)
		far.send(request(`1`, "listen"))
		r := <-requests
		far.send(cancelled(`1`))
		far.quiet()
		if ended.Err() == nil {
			t.Error("the context lives on")
		}
		r.Finish(t.Context(), "late", nil)
		far.quiet()
	})
}

func TestOpenRequestsCountAsInFlight(t *testing.T) {
	requests := make(chan *peer.Request, 10)
	_, far := connect(t, answering(func(_ context.Context, r *peer.Request) (any, error) {
		requests <- r
		return peer.Open, nil
	}), &peer.Options{MaxInFlight: 2, InOrder: func(string) bool { return true }})
	for _, id := range []string{`1`, `2`} {
		far.send(request(id, "listen"))
	}
	far.send(request(`3`, "listen"))
	far.wantError(`3`, jsonrpc.CodeInternalError)
	(<-requests).Finish(t.Context(), nil, nil)
	far.want(`{"jsonrpc":"2.0","id":1,"result":null}`)
	far.send(cancelled(`2`))
	far.send(request(`4`, "listen"))
	far.send(request(`5`, "listen"))
	far.send(request(`6`, "listen"))
	far.wantError(`6`, jsonrpc.CodeInternalError)
}

func TestARequestMayBeFinishedWhileItsHandlerRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, far := connect(t, answering(func(ctx context.Context, r *peer.Request) (any, error) {
			r.Finish(ctx, "early", nil)
			return "late", nil
		}), &peer.Options{MaxInFlight: 1})
		for range 3 {
			far.send(request(`1`, "work"))
			far.want(`{"jsonrpc":"2.0","id":1,"result":"early"}`)
			far.quiet()
		}
	})
}
