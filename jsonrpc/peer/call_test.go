package peer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
)

// echo answers with its own params and the name of its side.
func echo(side string) handler {
	return answering(func(_ context.Context, r *peer.Request) (any, error) {
		var in number
		if err := json.Unmarshal(r.Params, &in); err != nil {
			return nil, jsonrpc.InvalidParams("n must be a number")
		}
		return number{in.N, side}, nil
	})
}

type number struct {
	N    int    `json:"n"`
	Side string `json:"side,omitzero"`
}

func TestCallDecodesTheResult(t *testing.T) {
	near, end := peer.Pipe()
	p, _ := run(t, near, handler{}, nil)
	run(t, end, echo("far"), nil)
	var got number
	if err := p.Call(t.Context(), "echo", number{N: 7}, &got); err != nil || got != (number{7, "far"}) {
		t.Errorf("into a struct: %+v, %v", got, err)
	}
	var raw jsontext.Value
	if err := p.Call(t.Context(), "echo", jsontext.Value(`{"n":8}`), &raw); err != nil || string(raw) != `{"n":8,"side":"far"}` {
		t.Errorf("into raw JSON: %s, %v", raw, err)
	}
	if err := p.Call(t.Context(), "echo", number{}, nil); err != nil {
		t.Errorf("into nothing: %v", err)
	}
}

func TestCallTellsErrorsOfTheOtherSideFromLocalOnes(t *testing.T) {
	type withID struct {
		ID jsonrpc.ID `json:"id"`
	}
	for _, tc := range []struct {
		name, answer string
		params       any
		remote       bool
	}{
		{"an error of the other side", `"error":{"code":-7,"message":"no","data":{"a":1}}`, nil, true},
		{"an answer that is no response", `"result":{},"error":{"code":-7,"message":"no"}`, nil, false},
		{"an error without code", `"error":{"message":"no"}`, nil, false},
		{"a result of another type", `"result":[]`, nil, false},
		{"a result with a bad id, which our own package refuses", `"result":{"id":1.5}`, nil, false},
		{"params that cannot be encoded", ``, make(chan int), false},
		{"params that fail with an error for the wire", ``, wireFailure{}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, far := connect(t, handler{}, nil)
			failed := make(chan error, 1)
			go func() {
				var result withID
				failed <- p.Call(t.Context(), "ask", tc.params, &result)
			}()
			if tc.answer != "" {
				far.want(request(`1`, "ask"))
				far.send(`{"jsonrpc":"2.0","id":1,` + tc.answer + `}`)
			}
			err := <-failed
			var e *jsonrpc.Error
			if err == nil || errors.As(err, &e) != tc.remote {
				t.Fatalf("error %v (%T), of the other side: %v", err, err, tc.remote)
			}
			if tc.remote && (e.Code != -7 || e.Message != "no" || string(e.Data) != `{"a":1}`) {
				t.Errorf("error %+v", e)
			}
			if !tc.remote && !strings.HasPrefix(err.Error(), "call ask: ") {
				t.Errorf("error %q does not say what failed", err)
			}
		})
	}
}

// wireFailure cannot be encoded, and says so with the wrong kind of error.
type wireFailure struct{}

func (wireFailure) AppendJSON(dst []byte) ([]byte, error) { return dst, jsonrpc.InvalidParams("no") }

func TestACallWhoseContextEndsIsCancelledAtTheOtherSide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, far := connect(t, handler{}, nil)
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { cancel(errors.New("the user left")) })
		start := time.Now()
		err := p.Call(ctx, "ask", nil, nil)
		if !errors.Is(err, context.Canceled) || time.Since(start) != time.Minute {
			t.Errorf("Call: %v after %v", err, time.Since(start))
		}
		far.want(request(`1`, "ask"))
		far.want(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"the user left"}}`)
		far.send(`{"jsonrpc":"2.0","id":1,"result":"late"}`) // dropped
		far.quiet()

		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if err := p.Call(ctx, "ask", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Call: %v", err)
		}
		far.want(request(`2`, "ask"))
		far.want(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"context deadline exceeded"}}`)
	})
}

func TestACallWhoseContextHasEndedSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for _, over := range []func() (*peer.Peer, *far){
			func() (*peer.Peer, *far) { return connect(t, handler{}, nil) },
			func() (*peer.Peer, *far) {
				p, far, _, _ := connectLines(t, handler{}, nil)
				return p, far
			},
		} {
			p, far := over()
			if err := p.Call(ctx, "ask", nil, nil); !errors.Is(err, context.Canceled) {
				t.Errorf("Call: %v", err)
			}
			if err := p.Notify(ctx, "note", nil); !errors.Is(err, context.Canceled) {
				t.Errorf("Notify: %v", err)
			}
			go func() {
				if err := p.Notify(context.Background(), "next", nil); err != nil {
					t.Error(err)
				}
			}()
			far.want(`{"jsonrpc":"2.0","method":"next"}`)
		}
	})
}

func TestTheEndOfTheConnectionFailsAllCallsR020(t *testing.T) {
	for _, tc := range []struct {
		name string
		end  func(p *peer.Peer, far *far, cancel func())
	}{
		{"when the other side closes", func(_ *peer.Peer, far *far, _ func()) { _ = far.Close() }},
		{"when this side closes", func(p *peer.Peer, _ *far, _ func()) { _ = p.Close() }},
		{"when the context of Run ends", func(_ *peer.Peer, _ *far, cancel func()) { cancel() }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				near, end := peer.Pipe()
				p, r := runUntil(t, ctx, near, handler{}, nil)
				far := &far{t, end, r}
				failed := make(chan error, 100)
				for range cap(failed) {
					go func() { failed <- p.Call(context.Background(), "ask", nil, nil) }()
				}
				for range cap(failed) {
					far.next()
				}
				start := time.Now()
				tc.end(p, far, cancel)
				for range cap(failed) {
					var e *jsonrpc.Error
					if err := <-failed; !errors.Is(err, peer.ErrClosed) || errors.As(err, &e) {
						t.Fatalf("Call: %v, want ErrClosed", err)
					}
				}
				if took := time.Since(start); took >= time.Second {
					t.Errorf("took %v", took)
				}
				if err := p.Call(t.Context(), "ask", nil, nil); !errors.Is(err, peer.ErrClosed) {
					t.Errorf("Call after the end: %v", err)
				}
			})
		})
	}
}

func TestAFailedConnectionSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("the cable was pulled")
		in, inW := io.Pipe()
		p := peer.New(peer.Lines(in, io.Discard, 0), handler{}, nil)
		ran := make(chan error, 1)
		go func() { ran <- p.Run(t.Context()) }()
		failed := make(chan error, 1)
		go func() { failed <- p.Call(t.Context(), "ask", nil, nil) }()
		synctest.Wait()
		_ = inW.CloseWithError(why)
		if err := <-failed; !errors.Is(err, why) || !errors.Is(err, peer.ErrClosed) {
			t.Errorf("Call: %v", err)
		}
		if err := <-ran; !errors.Is(err, why) {
			t.Errorf("Run: %v", err)
		}
	})
}

func TestBothSidesMayUseTheSameIDs(t *testing.T) {
	const each, calls = 8, 200
	a, b := peer.Pipe()
	left, _ := run(t, a, echo("left"), nil)
	right, _ := run(t, b, echo("right"), nil)
	var calling sync.WaitGroup
	for i := range each {
		for p, other := range map[*peer.Peer]string{left: "right", right: "left"} {
			calling.Go(func() {
				for n := range calls {
					want := number{i*calls + n, other}
					var got number
					if err := p.Call(t.Context(), "echo", number{N: want.N}, &got); err != nil || got != want {
						t.Errorf("got %+v, %v; want %+v", got, err, want)
						return
					}
				}
			})
		}
	}
	calling.Wait()
}

func TestAHandlerMayCallBack(t *testing.T) {
	a, b := peer.Pipe()
	run(t, a, answering(func(ctx context.Context, r *peer.Request) (any, error) {
		var got number
		err := r.Peer().Call(ctx, "echo", r.Params, &got)
		return got, err
	}), nil)
	p, _ := run(t, b, echo("caller"), nil)
	var got number
	if err := p.Call(t.Context(), "ask me back", number{N: 5}, &got); err != nil || got != (number{5, "caller"}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestManyGoroutinesGetTheirOwnAnswers(t *testing.T) {
	const goroutines = 64
	for _, tc := range []struct {
		name  string
		over  func() (peer.Transport, peer.Transport)
		calls int // of each
	}{
		{"in memory", peer.Pipe, 1000},
		{"over lines", func() (peer.Transport, peer.Transport) {
			inR, inW := io.Pipe()
			outR, outW := io.Pipe()
			return peer.Lines(inR, outW, 0), peer.Lines(outR, inW, 0)
		}, 200},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
				tc.calls /= 5 // each takes ten times as long
			}
			near, end := tc.over()
			p, _ := run(t, near, handler{}, nil)
			run(t, end, echo("far"), nil)
			ctx, cancel := context.WithCancel(t.Context()) // one that can end, as most do
			defer cancel()
			var calling sync.WaitGroup
			for g := range goroutines {
				calling.Go(func() {
					for i := range tc.calls {
						want := number{g*tc.calls + i, "far"}
						var got number
						if err := p.Call(ctx, "echo", number{N: want.N}, &got); err != nil || got != want {
							t.Errorf("got %+v, %v; want %+v", got, err, want)
							return
						}
					}
				})
			}
			calling.Wait()
		})
	}
}

func TestAnswersMayComeInAnyOrderAndWithOtherEscapes(t *testing.T) {
	p, far := connect(t, handler{}, nil)
	results := make(chan string, 2)
	for _, method := range []string{"a", "b"} {
		go func() {
			var got string
			err := p.Call(t.Context(), method, nil, &got)
			results <- fmt.Sprint(method, got, err)
		}()
	}
	ids := map[string]string{}
	for range 2 {
		m, err := jsonrpc.Parse([]byte(far.next()))
		if err != nil {
			t.Fatal(err)
		}
		ids[m.Method] = m.ID.String()
	}
	far.send(`{"jsonrpc":"2.0","id":` + ids["b"] + `,"result":"B"}`)
	far.send(`{"jsonrpc":"2.0","id":"` + ids["a"] + `","result":"not this one"}`)
	far.send(`{"jsonrpc":"2.0","id":` + ids["a"] + `,"result":"A"}`)
	got := map[string]bool{<-results: true, <-results: true}
	if !got["aA<nil>"] || !got["bB<nil>"] {
		t.Errorf("got %v", got)
	}
}

// numbered are params that carry the id of their own request.
type numbered struct {
	ID jsonrpc.ID `json:"subscription"`
}

func (n *numbered) Number(id jsonrpc.ID) { n.ID = id }

func TestParamsMayCarryTheIDOfTheirRequest(t *testing.T) {
	p, far := connect(t, handler{}, nil)
	for i := 1; i <= 2; i++ {
		answered := make(chan error, 1)
		go func() { answered <- p.Call(t.Context(), "listen", &numbered{}, nil) }()
		far.want(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"listen","params":{"subscription":%d}}`, i, i))
		far.send(empty(fmt.Sprint(i)))
		if err := <-answered; err != nil {
			t.Error(err)
		}
	}
}

func TestACallSaysWhetherItWasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over, cancel := context.WithCancel(t.Context())
		cancel()
		p, far := connect(t, handler{}, nil)
		for why, err := range map[string]error{
			"the context has ended":        p.Call(over, "ask", nil, nil),
			"the params cannot be encoded": p.Call(t.Context(), "ask", make(chan int), nil),
		} {
			if !errors.Is(err, peer.ErrNotSent) {
				t.Errorf("%s: %v", why, err)
			}
		}
		if err := p.Call(over, "ask", nil, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("Call: %v", err)
		}
		far.quiet()

		failed := make(chan error, 1)
		call := func() { failed <- p.Call(context.Background(), "ask", nil, nil) }
		go call()
		far.want(request(`4`, "ask"))
		far.send(`{"jsonrpc":"2.0","id":4,"error":{"code":1,"message":"no"}}`)
		if err := <-failed; err == nil || errors.Is(err, peer.ErrNotSent) {
			t.Errorf("answered with an error: %v", err)
		}
		go call()
		far.want(request(`5`, "ask"))
		_ = far.Close()
		if err := <-failed; !errors.Is(err, peer.ErrClosed) || errors.Is(err, peer.ErrNotSent) {
			t.Errorf("the other side went away: %v", err)
		}
		if err := p.Call(t.Context(), "ask", nil, nil); !errors.Is(err, peer.ErrClosed) || !errors.Is(err, peer.ErrNotSent) {
			t.Errorf("the other side has gone: %v", err)
		}
	})
}

func TestNotifyReportsParamsThatCannotBeEncoded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, far := connect(t, handler{}, nil)
		for _, params := range []any{make(chan int), broken{}} {
			if err := p.Notify(t.Context(), "note", params); err == nil || !strings.HasPrefix(err.Error(), "notify note: ") {
				t.Errorf("Notify: %v", err)
			}
		}
		far.quiet()
		if err := p.Notify(t.Context(), "note", number{N: 1}); err != nil {
			t.Error(err)
		}
		far.want(`{"jsonrpc":"2.0","method":"note","params":{"n":1}}`)
	})
}
