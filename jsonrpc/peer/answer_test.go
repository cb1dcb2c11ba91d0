package peer_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
)

func TestASlowRequestDoesNotHoldAFastOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, far := connect(t, answering(func(ctx context.Context, r *peer.Request) (any, error) {
			if r.Method == "slow" {
				time.Sleep(time.Hour)
			}
			return r.Method, nil
		}), nil)
		start := time.Now()
		far.send(request(`1`, "slow"))
		far.send(request(`2`, "fast"))
		far.want(`{"jsonrpc":"2.0","id":2,"result":"fast"}`)
		if took := time.Since(start); took != 0 {
			t.Errorf("the fast one took %v", took)
		}
		time.Sleep(time.Hour)
		far.want(`{"jsonrpc":"2.0","id":1,"result":"slow"}`)
	})
}

func TestARequestCarriesWhatWasSent(t *testing.T) {
	got := make(chan *peer.Request, 1)
	p, far := connect(t, answering(func(_ context.Context, r *peer.Request) (any, error) {
		got <- r
		return jsontext.Value(`{"n": 1.00}`), nil
	}), nil)
	far.send(`{"jsonrpc":"2.0","id":"\u0061","method":"add","params":{"n": 1.00}}`)
	far.want(`{"jsonrpc":"2.0","id":"\u0061","result":{"n": 1.00}}`)
	if r := <-got; r.Method != "add" || string(r.Params) != `{"n": 1.00}` || r.Peer() != p {
		t.Errorf("request %+v", r)
	}
}

func TestNotificationsAreTakenInOrder(t *testing.T) {
	var got []string // by the reading goroutine only
	_, far := connect(t, handler{notice: func(_ context.Context, method string, params []byte) {
		got = append(got, method+string(params))
	}}, &peer.Options{InOrder: func(string) bool { return true }})
	for i := range 500 {
		far.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"note","params":{"n":%d}}`, i))
	}
	far.send(request(`1`, "last"))
	far.want(empty(`1`))
	for i, note := range got {
		if want := fmt.Sprintf(`note{"n":%d}`, i); note != want {
			t.Fatalf("notification %d is %s", i, note)
		}
	}
	if len(got) != 500 {
		t.Errorf("%d notifications", len(got))
	}
}

func TestRequestsInOrderAreAnsweredBeforeTheNextMessageIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ready atomic.Bool
		_, far := connect(t, answering(func(_ context.Context, r *peer.Request) (any, error) {
			if r.Method == "first" {
				time.Sleep(time.Second)
				ready.Store(true)
			}
			return ready.Load(), nil
		}), &peer.Options{InOrder: func(method string) bool { return method == "first" }})
		far.send(request(`1`, "first"))
		far.send(request(`2`, "second"))
		far.want(`{"jsonrpc":"2.0","id":1,"result":true}`)
		far.want(`{"jsonrpc":"2.0","id":2,"result":true}`)
	})
}

func TestASecondRequestWithAnIDInFlightIsRefusedR014(t *testing.T) {
	for _, tc := range []struct{ name, first, second string }{
		{"an integer", `1`, `1`},
		{"a string", `"a"`, `"a"`},
		{"a string with other escapes", `"a"`, `"\u0061"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			release := make(chan struct{})
			_, far := connect(t, answering(func(ctx context.Context, r *peer.Request) (any, error) {
				<-release
				return r.Method, ctx.Err()
			}), nil)
			far.send(request(tc.first, "first"))
			far.send(request(tc.second, "second"))
			far.wantError(tc.second, jsonrpc.CodeInvalidRequest)
			close(release)
			far.want(`{"jsonrpc":"2.0","id":` + tc.first + `,"result":"first"}`)
			far.send(request(tc.second, "third"))
			far.want(`{"jsonrpc":"2.0","id":` + tc.second + `,"result":"third"}`)
		})
	}
}

func TestIDsOfDifferentKindsDoNotMix(t *testing.T) {
	release := make(chan struct{})
	_, far := connect(t, answering(func(context.Context, *peer.Request) (any, error) {
		<-release
		return struct{}{}, nil
	}), nil)
	far.send(request(`1`, "a"))
	far.send(request(`"1"`, "a"))
	close(release)
	got := map[string]bool{far.next(): true, far.next(): true}
	if !got[empty(`1`)] || !got[empty(`"1"`)] {
		t.Errorf("got %v", got)
	}
}

func TestTooManyRequestsInFlightAreRefused(t *testing.T) {
	release := make(chan struct{})
	_, far := connect(t, answering(func(context.Context, *peer.Request) (any, error) {
		<-release
		return struct{}{}, nil
	}), &peer.Options{MaxInFlight: 3})
	for i := range 3 {
		far.send(request(fmt.Sprint(i), "wait"))
	}
	far.send(request(`3`, "wait"))
	far.wantError(`3`, jsonrpc.CodeInternalError)
	close(release)
	for range 3 {
		far.next()
	}
	far.send(request(`4`, "wait"))
	far.want(empty(`4`))
}

func TestARequesterWhoWaitsForEachAnswerIsNeverRefused(t *testing.T) {
	_, far := connect(t, handler{}, &peer.Options{MaxInFlight: 1})
	for i := range 2000 {
		far.send(request(fmt.Sprint(i), "ping"))
		far.want(empty(fmt.Sprint(i)))
	}
}

func TestCancelledRequestsCountUntilTheirHandlerReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int32
		_, far := connect(t, answering(func(ctx context.Context, _ *peer.Request) (any, error) {
			most.Store(max(most.Load(), running.Add(1)))
			<-ctx.Done()
			time.Sleep(time.Second) // a handler that is slow to stop
			running.Add(-1)
			return nil, ctx.Err()
		}), &peer.Options{MaxInFlight: 10})
		go func() {
			for i := range 1000 {
				far.send(request(fmt.Sprint(i), "wait"))
				far.send(cancelled(fmt.Sprint(i)))
			}
		}()
		for i := 10; i < 1000; i++ {
			far.wantError(fmt.Sprint(i), jsonrpc.CodeInternalError)
		}
		if got := most.Load(); got != 10 {
			t.Errorf("%d handlers ran at once", got)
		}
		time.Sleep(2 * time.Second)
		far.send(request(`1000`, "wait")) // the room is free again
		far.quiet()
		far.send(cancelled(`1000`))
		time.Sleep(2 * time.Second)
	})
}

func TestARequesterWhoDoesNotReadIsNotServedForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most, all = 4, 40
		var started atomic.Int32
		big := jsontext.Value(`"` + strings.Repeat("x", 600<<10) + `"`)
		_, far, _, _ := connectLines(t, answering(func(context.Context, *peer.Request) (any, error) {
			started.Add(1)
			return big, nil
		}), &peer.Options{MaxInFlight: most})
		go func() {
			for i := range all {
				time.Sleep(time.Millisecond)
				if err := far.Send(context.Background(), []byte(request(fmt.Sprint(i), "big"))); err != nil {
					t.Errorf("send: %v", err)
				}
			}
		}()
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := started.Load(); got > 3*most {
			t.Errorf("%d requests were served to somebody who reads no answers", got)
		}
		for i := range all {
			if text, err := far.Receive(t.Context()); err != nil || len(text) < len(big) {
				t.Fatalf("answer %d: %.100s, %v", i, text, err)
			}
		}
	})
}

func TestResponsesThatNobodyWaitsForAreDroppedR014(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log journal
		_, far := connect(t, handler{}, &peer.Options{Logger: log.logger()})
		for _, text := range []string{
			`{"jsonrpc":"2.0","id":77,"result":{}}`,
			`{"jsonrpc":"2.0","id":"77","error":{"code":1,"message":"x"}}`,
			`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`,
			`{"jsonrpc":"2.0","error":{"code":1,"message":"x"}}`,
			`{"jsonrpc":"2.0","id":77,"result":{},"error":{"code":1,"message":"x"}}`,
			`{"jsonrpc":"2.0","result":{}}`,
			`{"jsonrpc":"1.0","id":77,"result":{}}`,
			`{"jsonrpc":"2.0","id":1.5,"result":{}}`,
			`{"jsonrpc":"2.0","id":77,"error":null}`,
		} {
			far.send(text)
			far.quiet()
		}
		far.send(request(`1`, "ping"))
		far.want(empty(`1`))
		if !log.contains("nobody waits for") {
			t.Error("not logged")
		}
	})
}

// secret is what must never be sent.
const secret = "password=hunter2 in /etc/secret.go"

func TestErrorsThatAreNotMeantForTheWireSayNothing(t *testing.T) {
	for _, tc := range []struct {
		name string
		err  error
		want string // code and message
	}{
		{"a plain error", errors.New(secret), `"code":-32603,"message":"Internal error: the request failed"`},
		{"a context's error", context.DeadlineExceeded, `"code":-32603,"message":"Internal error: the request failed"`},
		{"an error for the wire", &jsonrpc.Error{Code: -7, Message: "no", Data: jsontext.Value(`[1]`)}, `"code":-7,"message":"no","data":[1]`},
		{"a wrapped error for the wire", fmt.Errorf("%s: %w", secret, jsonrpc.MethodNotFound("x")), `"code":-32601,"message":"Method not found: x"`},
		{"an error for the wire that is nil", (*jsonrpc.Error)(nil), `"code":-32603,"message":"Internal error: the request failed"`},
		{"an error with data that is no JSON", &jsonrpc.Error{Code: -7, Message: "no", Data: jsontext.Value(`}`)}, `"code":-7,"message":"no"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, far := connect(t, answering(func(context.Context, *peer.Request) (any, error) {
				return secret, tc.err
			}), nil)
			far.send(request(`1`, "fail"))
			far.want(`{"jsonrpc":"2.0","id":1,"error":{` + tc.want + `}}`)
		})
	}
}

// bomb panics when it is encoded.
type bomb struct{}

func (bomb) AppendJSON([]byte) ([]byte, error) { panic(secret) }

// broken fails when it is encoded, after it wrote something.
type broken struct{}

func (broken) AppendJSON(dst []byte) ([]byte, error) {
	return append(dst, secret...), errors.New(secret)
}

func TestResultsThatCannotBeEncodedAreInternalErrors(t *testing.T) {
	for _, tc := range []struct {
		name   string
		result any
	}{
		{"a channel", make(chan int)},
		{"a number that JSON lacks", map[string]float64{secret: math.Inf(1)}},
		{"text that is no UTF-8", secret + "\xff"},
		{"a result whose method fails", broken{}},
		{"a result whose method panics", bomb{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var log journal
			_, far := connect(t, answering(func(_ context.Context, r *peer.Request) (any, error) {
				if r.Method == "good" {
					return "good", nil
				}
				return tc.result, nil
			}), &peer.Options{Logger: log.logger()})
			far.send(request(`1`, "bad"))
			far.want(`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error: the result could not be encoded"}}`)
			far.send(request(`2`, "good"))
			far.want(`{"jsonrpc":"2.0","id":2,"result":"good"}`)
			if !log.contains("method=bad") {
				t.Error("not logged")
			}
		})
	}
}

func TestAPanicCostsOneRequestR017(t *testing.T) {
	before := runtime.NumGoroutine()
	var log journal
	_, far := connect(t, handler{
		answer: func(_ context.Context, r *peer.Request) (any, error) {
			switch r.Method {
			case "panic":
				panic(secret)
			case "nil":
				var none *peer.Request
				return none.Method, nil
			case "goexit":
				runtime.Goexit()
			}
			return struct{}{}, nil
		},
		notice: func(context.Context, string, []byte) { panic(secret) },
	}, &peer.Options{Logger: log.logger()})
	const rounds, atOnce = 16, 64 // more than 1,000 panics
	for round := range rounds {
		var sending sync.WaitGroup
		sending.Go(func() {
			for i := range atOnce {
				id := fmt.Sprint(round*atOnce + i)
				far.send(request(id, []string{"panic", "nil", "goexit", "good"}[i%4]))
				far.send(`{"jsonrpc":"2.0","method":"note"}`)
			}
		})
		failed, good := 0, 0
		for range atOnce {
			m, err := jsonrpc.Parse([]byte(far.next()))
			switch {
			case err != nil:
				t.Fatal(err)
			case m.Error == nil:
				good++
			case m.Error.Code == jsonrpc.CodeInternalError && m.Error.Message == "Internal error: the handler failed":
				failed++
			default:
				t.Fatalf("error %v", m.Error)
			}
		}
		if sending.Wait(); failed != 3*atOnce/4 || good != atOnce/4 {
			t.Fatalf("%d failed, %d did not", failed, good)
		}
	}
	if !log.contains("answer_test.go") {
		t.Error("the stack is not logged")
	}
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before+3; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}
