package peer_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
)

// drain is what the tests of the end let requests take.
const drain = 300 * time.Millisecond

func TestTheEndOfInputEndsRunR016(t *testing.T) {
	for _, tc := range []struct {
		name, input string
		want        string // the output
	}{
		{"at the start", ``, ``},
		{"after a message", request(`1`, "ping") + "\n", empty(`1`) + "\n"},
		{"after a message without line break", request(`1`, "ping"), empty(`1`) + "\n"},
		{"in mid-message", `{"jsonrpc":"2.0","id":1,"meth`, `{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error: unterminated string at byte 29"}}` + "\n"},
		{"in a blank line", " \t\r", ``},
		{"during a call", request(`1`, "slow") + "\n", empty(`1`) + "\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var ends atomic.Int32
				var out strings.Builder
				start := time.Now()
				p := peer.New(peer.Lines(strings.NewReader(tc.input), &out, 0), answering(func(ctx context.Context, r *peer.Request) (any, error) {
					if r.Method == "slow" {
						time.Sleep(drain - 1)
					}
					return struct{}{}, ctx.Err()
				}), &peer.Options{Drain: drain, OnEnd: func() { ends.Add(1) }})
				if err := p.Run(t.Context()); err != nil {
					t.Errorf("Run: %v", err)
				}
				if out.String() != tc.want {
					t.Errorf("output %q, want %q", out.String(), tc.want)
				}
				if took := time.Since(start); took >= time.Second {
					t.Errorf("took %v", took)
				}
				if ends.Load() != 1 {
					t.Errorf("OnEnd was called %d times", ends.Load())
				}
			})
		})
	}
}

// endings are the ways in which a connection ends while it can still be written
// to.
var endings = []struct {
	name string
	end  func(in *io.PipeWriter, cancel func())
}{
	{"input", func(in *io.PipeWriter, _ func()) { _ = in.Close() }},
	{"context", func(_ *io.PipeWriter, cancel func()) { cancel() }},
}

// ending starts a peer with requests in flight, one for each method, ends it and
// returns its other end.
func ending(t *testing.T, end func(*io.PipeWriter, func()), h peer.Handler, opts peer.Options, methods ...string) *far {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	opts.Drain = drain
	_, r := runUntil(t, ctx, peer.Lines(inR, outW, 0), h, &opts)
	f := &far{t, peer.Lines(outR, inW, 0), r}
	for i, method := range methods {
		f.send(request(string(rune('1'+i)), method))
	}
	synctest.Wait()
	end(inW, cancel)
	return f
}

func TestRequestsInFlightAreAnsweredAfterTheEnd(t *testing.T) {
	for _, e := range endings {
		t.Run("of "+e.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				far := ending(t, e.end, answering(func(ctx context.Context, r *peer.Request) (any, error) {
					select {
					case <-time.After(drain / 2):
						return struct{}{}, nil
					case <-ctx.Done():
						return nil, ctx.Err()
					}
				}), peer.Options{}, "work")
				far.want(empty(`1`))
				if err := far.wait(t); err != nil || time.Since(start) != drain/2 {
					t.Errorf("Run: %v after %v", err, time.Since(start))
				}
			})
		})
	}
}

func TestRequestsThatOutliveTheDrainAreToldToStop(t *testing.T) {
	for _, e := range endings {
		t.Run("after the end of "+e.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				far := ending(t, e.end, answering(func(ctx context.Context, r *peer.Request) (any, error) {
					<-ctx.Done()
					return nil, jsonrpc.InternalError("shutting down")
				}), peer.Options{}, "work")
				far.wantError(`1`, jsonrpc.CodeInternalError)
				if err := far.wait(t); err != nil || time.Since(start) != drain {
					t.Errorf("Run: %v after %v", err, time.Since(start))
				}
			})
		})
	}
}

func TestAHandlerThatIgnoresItsContextIsLeftBehind(t *testing.T) {
	for _, e := range endings {
		t.Run("after the end of "+e.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log journal
				start := time.Now()
				far := ending(t, e.end, answering(func(context.Context, *peer.Request) (any, error) {
					time.Sleep(time.Hour)
					return struct{}{}, nil
				}), peer.Options{Logger: log.logger()}, "work", "work")
				if err := far.wait(t); err != nil || time.Since(start) != drain+400*time.Millisecond {
					t.Errorf("Run: %v after %v", err, time.Since(start))
				}
				if !log.contains("count=2") {
					t.Error("not logged")
				}
				if text, err := far.Receive(t.Context()); err == nil {
					t.Errorf("got %s", text)
				}
				time.Sleep(time.Hour) // for the bubble
			})
		})
	}
}

func TestAHandlerInOrderIsWaitedForLikeOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		far := ending(t, func(_ *io.PipeWriter, cancel func()) { cancel() }, answering(func(context.Context, *peer.Request) (any, error) {
			time.Sleep(drain / 2)
			return struct{}{}, nil
		}), peer.Options{InOrder: func(string) bool { return true }}, "first")
		far.want(empty(`1`))
		if err := far.wait(t); err != nil || time.Since(start) != drain/2 {
			t.Errorf("Run: %v after %v", err, time.Since(start))
		}
	})
}

func TestNothingNewIsTakenAfterTheEndOfTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := ending(t, func(_ *io.PipeWriter, cancel func()) { cancel() }, handler{
			answer: func(ctx context.Context, r *peer.Request) (any, error) {
				if r.Method != "work" {
					t.Errorf("%s was served", r.Method)
				}
				<-ctx.Done()
				return struct{}{}, nil
			},
			notice: func(_ context.Context, method string, _ []byte) { t.Errorf("%s was noticed", method) },
		}, peer.Options{Batches: always}, "work", "work")
		synctest.Wait()
		start := time.Now()
		far.send(request(`3`, "late"))
		far.wantError(`3`, jsonrpc.CodeInternalError)
		far.send(`[` + request(`3`, "late") + `]`)
		far.wantError(``, jsonrpc.CodeInternalError)
		far.send(`{"jsonrpc":"2.0","method":"late"}`)
		far.send(cancelled(`1`)) // but what is there can still be cancelled
		far.send(cancelled(`2`))
		if err := far.wait(t); err != nil || time.Since(start) != 0 {
			t.Errorf("Run: %v after %v", err, time.Since(start))
		}
	})
}

func TestOnEndFinishesRequestsThatWereLeftOpen(t *testing.T) {
	for _, e := range endings {
		t.Run("after the end of "+e.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				requests := make(chan *peer.Request, 1)
				start := time.Now()
				far := ending(t, e.end, answering(func(_ context.Context, r *peer.Request) (any, error) {
					requests <- r
					return peer.Open, nil
				}), peer.Options{OnEnd: func() { (<-requests).Finish(context.Background(), "over", nil) }}, "listen")
				far.want(`{"jsonrpc":"2.0","id":1,"result":"over"}`)
				if err := far.wait(t); err != nil || time.Since(start) != 0 {
					t.Errorf("Run: %v after %v", err, time.Since(start))
				}
			})
		})
	}
}

func TestOpenRequestsEndWithTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open context.Context
		var left *peer.Request
		far := ending(t, endings[0].end, answering(func(ctx context.Context, r *peer.Request) (any, error) {
			open, left = ctx, r
			return peer.Open, nil
		}), peer.Options{}, "listen")
		start := time.Now()
		if err := far.wait(t); err != nil || time.Since(start) != 0 {
			t.Errorf("Run: %v after %v", err, time.Since(start))
		}
		if open.Err() == nil {
			t.Error("the context lives on")
		}
		left.Finish(t.Context(), "late", nil) // must not block or panic
	})
}

func TestABatchWithAnOpenRequestDoesNotHoldTheEndUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, far, in, _ := connectLines(t, answering(func(_ context.Context, r *peer.Request) (any, error) {
			if r.Method == "listen" {
				return peer.Open, nil
			}
			return struct{}{}, nil
		}), &peer.Options{Batches: always})
		far.send(`[` + request(`1`, "listen") + `,` + request(`2`, "ping") + `]`)
		synctest.Wait()
		_ = in.Close()
		if err := far.wait(t); err != nil || time.Since(start) != 0 {
			t.Errorf("Run: %v after %v", err, time.Since(start))
		}
	})
}

func TestAClientThatStoppedReadingDoesNotHoldTheEndUp(t *testing.T) {
	for _, methods := range [][]string{{"ping"}, {"listen"}, {"listen", "ping", "ping"}} {
		t.Run("with "+strings.Join(methods, ", ")+" in flight", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				requests := make(chan *peer.Request, 1)
				start := time.Now()
				far := ending(t, endings[0].end, answering(func(_ context.Context, r *peer.Request) (any, error) {
					if r.Method == "listen" {
						requests <- r
						return peer.Open, nil
					}
					return struct{}{}, nil
				}), peer.Options{OnEnd: func() {
					select {
					case r := <-requests:
						r.Finish(context.Background(), "over", nil)
					default:
					}
				}}, methods...)
				if err := far.wait(t); err != nil || time.Since(start) >= time.Second {
					t.Errorf("Run: %v after %v", err, time.Since(start))
				}
			})
		})
	}
}

func TestCloseDoesNotWaitForRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, far := connect(t, answering(func(ctx context.Context, _ *peer.Request) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}), &peer.Options{Drain: time.Hour})
		far.send(request(`1`, "work"))
		synctest.Wait()
		start := time.Now()
		for range 2 {
			if err := p.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		}
		if err := far.wait(t); err != nil || time.Since(start) != 0 {
			t.Errorf("Run: %v after %v", err, time.Since(start))
		}
		if err := p.Notify(t.Context(), "note", nil); !errors.Is(err, peer.ErrClosed) {
			t.Errorf("Notify: %v", err)
		}
	})
}

func TestCloseEndsRunWhileARequestIsAnsweredInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, far := connect(t, answering(func(ctx context.Context, _ *peer.Request) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}), &peer.Options{InOrder: func(string) bool { return true }})
		far.send(request(`1`, "first"))
		synctest.Wait()
		start := time.Now()
		_ = p.Close()
		if err := far.wait(t); err != nil || time.Since(start) != 0 {
			t.Errorf("Run: %v after %v", err, time.Since(start))
		}
	})
}

func TestCloseFailsCallsOfAPeerThatNeverRan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, _ := peer.Pipe()
		p := peer.New(near, handler{}, nil)
		failed := make(chan error, 1)
		go func() { failed <- p.Call(context.Background(), "ask", nil, nil) }()
		synctest.Wait()
		_ = p.Close()
		if err := <-failed; !errors.Is(err, peer.ErrClosed) {
			t.Errorf("Call: %v", err)
		}
	})
}

func TestClosingTheTransportEndsRunWithoutAnError(t *testing.T) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	defer outR.Close()
	defer inW.Close()
	tr := peer.Lines(inR, outW, 0)
	_, r := run(t, tr, handler{}, nil)
	if err := tr.Close(); err != nil {
		t.Error(err)
	}
	if err := r.wait(t); err != nil {
		t.Errorf("Run: %v", err)
	}
}

// A read that cannot be interrupted, such as that of a terminal, is left behind.
func TestAReadThatCannotBeInterruptedDoesNotHoldRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, inW := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		_, r := runUntil(t, ctx, peer.Lines(struct{ io.Reader }{in}, io.Discard, 0), handler{
			notice: func(context.Context, string, []byte) { t.Error("a message was taken after Run returned") },
		}, nil)
		synctest.Wait()
		cancel()
		if err := r.wait(t); err != nil || time.Since(start) >= time.Second {
			t.Errorf("Run: %v after %v", err, time.Since(start))
		}
		if _, err := io.WriteString(inW, `{"jsonrpc":"2.0","method":"note"}`+"\n"); err != nil {
			t.Error(err)
		}
		_ = inW.Close()
	})
}
