package peer_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
)

// lendable is a transport whose messages callers can receive for themselves. It
// fails the test when two do at once.
type lendable struct {
	t *testing.T
	peer.Transport
	lent  atomic.Bool
	loans atomic.Int32 // how often it was lent
	soon  atomic.Int32 // how often a caller received
	owner sync.Mutex   // of whoever receives
	ahead [][]byte
	along []byte // comes with the next message, at once
	fail  error  // what the next caller receives instead of a message
}

func (l *lendable) own() (release func()) {
	if !l.owner.TryLock() {
		l.t.Error("two receive at once")
		return func() {}
	}
	return l.owner.Unlock
}

// Send takes a message whatever became of its sender.
func (l *lendable) Send(ctx context.Context, message []byte) error {
	return l.Transport.Send(context.WithoutCancel(ctx), message)
}

func (l *lendable) Lend(on bool) bool {
	defer l.own()()
	l.lent.Store(on)
	if on {
		l.loans.Add(1)
	}
	return true
}

func (l *lendable) Ready() bool {
	defer l.own()()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if message, err := l.Transport.Receive(ctx); err == nil && message != nil {
		l.ahead = append(l.ahead, message)
	}
	return len(l.ahead) > 0
}

func (l *lendable) Receive(ctx context.Context) ([]byte, error) {
	defer l.own()()
	if l.lent.Load() {
		l.t.Error("the reader receives while it has lent the reading")
	}
	return l.next(ctx)
}

func (l *lendable) ReceiveSoon(ctx context.Context) ([]byte, error) {
	defer l.own()()
	if !l.lent.Load() {
		l.t.Error("a caller receives what was not lent")
	}
	l.soon.Add(1)
	if err := l.fail; err != nil {
		l.fail = nil
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Millisecond)
	defer cancel()
	message, err := l.next(ctx)
	if err != nil { // the end is for the reader to see
		return nil, os.ErrDeadlineExceeded
	}
	return message, nil
}

func (l *lendable) next(ctx context.Context) ([]byte, error) {
	if len(l.ahead) > 0 {
		message := l.ahead[0]
		l.ahead = l.ahead[1:]
		return message, nil
	}
	message, err := l.Transport.Receive(ctx)
	if err == nil && l.along != nil {
		l.ahead, l.along = append(l.ahead, l.along), nil
	}
	return message, err
}

// lent starts a peer whose reader has lent the reading.
func lent(t *testing.T, h peer.Handler, opts *peer.Options) (*peer.Peer, *far, *lendable) {
	t.Helper()
	near, end := peer.Pipe()
	l := &lendable{t: t, Transport: near}
	p, r := run(t, l, h, opts)
	f := &far{t, end, r}
	f.until(p, l.lent.Load)
	return p, f, l
}

// until makes lone calls, and answers them, until something is so.
func (f *far) until(p *peer.Peer, so func() bool) {
	f.t.Helper()
	for range 200 {
		if so() {
			return
		}
		done := f.call(p, f.t.Context(), "lone")
		f.answer(f.next())
		if err := <-done; err != nil {
			f.t.Fatal(err)
		}
		synctest.Wait()
	}
	f.t.Fatal("it never is")
}

// call makes a call, whose result must be its method.
func (f *far) call(p *peer.Peer, ctx context.Context, method string) <-chan error {
	done := make(chan error, 1)
	go func() { // ends with the call
		var result jsontext.Value
		err := p.Call(ctx, method, nil, &result)
		if want := `"` + method + `"`; err == nil && string(result) != want {
			err = fmt.Errorf("got %s, want %s", result, want)
		}
		done <- err
	}()
	return done
}

// answer answers a request with its method.
func (f *far) answer(request string) {
	f.t.Helper()
	f.send(answerTo(request))
}

func answerTo(request string) string {
	get := func(member string) []byte { return jsonscan.Get([]byte(request), member) }
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, get("id"), get("method"))
}

func TestLoneCallersReceiveTheirAnswersThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, far, l := lent(t, handler{}, nil)
		for i := range 100 {
			done := far.call(p, t.Context(), "next")
			far.answer(far.next())
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if got := l.soon.Load(); got != int32(i+1) {
				t.Fatalf("call %d: callers have received %d times", i, got)
			}
		}
	})
}

func TestCallsThatAreNotLoneOrNotQuickAreLeftToTheReader(t *testing.T) {
	for _, tc := range []struct {
		name  string
		pause time.Duration
		also  bool // another call is in flight
	}{
		{"not alone", 0, true},
		{"not quick", 10 * time.Millisecond, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, end := peer.Pipe()
				l := &lendable{t: t, Transport: near}
				p, r := run(t, l, handler{}, nil)
				far := &far{t, end, r}
				if tc.also {
					open := far.call(p, t.Context(), "open")
					first := far.next()
					defer func() {
						far.answer(first)
						<-open
					}()
				}
				for range 500 {
					done := far.call(p, t.Context(), "next")
					far.answer(far.next())
					if err := <-done; err != nil {
						t.Fatal(err)
					}
					time.Sleep(tc.pause)
				}
				if got := l.loans.Load(); got != 0 {
					t.Errorf("the reading was lent %d times", got)
				}
			})
		})
	}
}

func TestACallerThatReceivesGivesUpInTime(t *testing.T) {
	for _, tc := range []struct {
		name string
		end  func(ctx context.Context) (context.Context, context.CancelFunc)
		want error
		led  int32
	}{
		{"when it is cancelled", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second/2000, cancel)
			return ctx, cancel
		}, context.Canceled, 1},
		{"when its time is up", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second/2000)
		}, context.DeadlineExceeded, 1},
		{"when its time is up long afterwards", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		}, context.DeadlineExceeded, 1},
		{"when it was cancelled before", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			time.Sleep(time.Second / 2000)
			return ctx, cancel
		}, context.Canceled, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, far, l := lent(t, handler{}, nil)
				ctx, cancel := tc.end(t.Context())
				defer cancel()
				start := time.Now()
				done := far.call(p, ctx, "slow")
				request := far.next()
				if err := <-done; !errors.Is(err, tc.want) {
					t.Errorf("got %v, want %v", err, tc.want)
				}
				limit := time.Millisecond
				if tc.want == context.DeadlineExceeded {
					deadline, _ := ctx.Deadline()
					limit += deadline.Sub(start)
				}
				if took := time.Since(start); took > limit {
					t.Errorf("it took %v", took)
				}
				if l.soon.Load() != tc.led {
					t.Errorf("the caller received %d times", l.soon.Load())
				}
				if !strings.Contains(far.next(), peer.CancelMethod) {
					t.Error("the other side is not told")
				}
				far.answer(request) // too late
				done = far.call(p, t.Context(), "next")
				far.answer(far.next())
				if err := <-done; err != nil {
					t.Errorf("the next call: %v", err)
				}
			})
		})
	}
}

// What a caller receives that is not its answer, or that it cannot wait for, goes
// the way it would have gone without it.
func TestWhatComesInsteadOfTheAnswerIsForTheReader(t *testing.T) {
	for _, tc := range []struct {
		name string
		come func(f *far, l *lendable, request string)
		want string // heard by the handler
	}{
		{"a notification", func(f *far, _ *lendable, request string) {
			f.send(`{"jsonrpc":"2.0","method":"word"}`)
			f.answer(request)
		}, "word"},
		{"a notification behind it", func(f *far, _ *lendable, request string) {
			f.answer(request)
			f.send(`{"jsonrpc":"2.0","method":"word"}`)
		}, "word"},
		{"a request", func(f *far, _ *lendable, request string) {
			f.send(`{"jsonrpc":"2.0","id":"q","method":"question"}`)
			f.want(`{"jsonrpc":"2.0","id":"q","result":{}}`)
			f.answer(request)
		}, "question"},
		{"a batch", func(f *far, _ *lendable, request string) {
			f.send(`[{"jsonrpc":"2.0","method":"word"},` + answerTo(request) + `]`)
		}, "word"},
		{"something that is no message", func(f *far, _ *lendable, request string) {
			f.send(`{"jsonrpc":"2.0","id":"q"}`)
			f.wantError(`"q"`, jsonrpc.CodeInvalidRequest)
			f.answer(request)
		}, ""},
		{"an answer that nobody waits for", func(f *far, _ *lendable, request string) {
			f.send(`{"jsonrpc":"2.0","id":77777,"result":{}}`)
			f.answer(request)
		}, ""},
		{"nothing for a while", func(f *far, _ *lendable, request string) {
			time.Sleep(time.Minute)
			f.answer(request)
		}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var heard string
				p, far, l := lent(t, handler{
					answer: func(_ context.Context, r *peer.Request) (any, error) {
						heard = r.Method
						return struct{}{}, nil
					},
					notice: func(_ context.Context, method string, _ []byte) { heard = method },
				}, &peer.Options{Batches: func() bool { return true }})
				done := far.call(p, t.Context(), "slow")
				tc.come(far, l, far.next())
				if err := <-done; err != nil {
					t.Error(err)
				}
				start := time.Now()
				synctest.Wait()
				if heard != tc.want || time.Since(start) > 0 {
					t.Errorf("heard %q after %v, want %q", heard, time.Since(start), tc.want)
				}
				if l.soon.Load() != 1 {
					t.Errorf("callers have received %d times, want 1", l.soon.Load())
				}
				far.until(p, l.lent.Load)
			})
		})
	}
}

func TestAMessageThatIsTooLongIsReportedOnceWhoeverReceivesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, far, l := lent(t, handler{}, nil)
		l.fail = fmt.Errorf("%w: far", peer.ErrTooLong)
		done := far.call(p, t.Context(), "next")
		request := far.next()
		far.wantError("", jsonrpc.CodeInvalidRequest)
		far.answer(request)
		if err := <-done; err != nil {
			t.Error(err)
		}
		far.quiet()
	})
}

func TestACallerReceivesForOthersAndLeavesTheRestToTheReader(t *testing.T) {
	for _, order := range []string{"first", "second"} {
		t.Run("the answer to the "+order+" comes first", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, far, l := lent(t, handler{}, nil)
				first := far.call(p, t.Context(), "first")
				one := far.next()
				synctest.Wait() // it receives
				second := far.call(p, t.Context(), "second")
				two := far.next()
				synctest.Wait()
				if order == "second" {
					one, two = two, one
				}
				far.answer(one)
				synctest.Wait()
				far.answer(two)
				start := time.Now()
				if err := errors.Join(<-first, <-second); err != nil || time.Since(start) > 0 {
					t.Errorf("%v after %v", err, time.Since(start))
				}
				if l.soon.Load() != 1 {
					t.Errorf("callers have received %d times, want 1", l.soon.Load())
				}
			})
		})
	}
}

func TestTheReaderTakesWhatIsAtHandBeforeItLends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, end := peer.Pipe()
		l := &lendable{t: t, Transport: near}
		heard := 0
		p, r := run(t, l, handler{notice: func(context.Context, string, []byte) { heard++ }}, nil)
		far := &far{t, end, r}
		for i := range 200 {
			done := far.call(p, t.Context(), "next")
			request := far.next()
			l.along = []byte(`{"jsonrpc":"2.0","method":"word"}`)
			far.answer(request)
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if synctest.Wait(); heard != i+1 {
				t.Fatalf("heard %d of %d notifications", heard, i+1)
			}
		}
	})
}

func TestWhatIsSaidWhileNobodyCallsIsHeardSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := make(chan time.Time, 1)
		p, far, l := lent(t, handler{notice: func(context.Context, string, []byte) { heard <- time.Now() }}, nil)
		done := far.call(p, t.Context(), "next")
		far.answer(far.next())
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if !l.lent.Load() {
			t.Fatal("the reading is not lent")
		}
		start := time.Now()
		far.send(`{"jsonrpc":"2.0","method":"word"}`)
		if late := (<-heard).Sub(start); late > 4*time.Millisecond {
			t.Errorf("it was heard after %v", late)
		}
		if l.lent.Load() {
			t.Error("the reading is still lent")
		}
	})
}

func TestTheEndComesThoughCallersReceive(t *testing.T) {
	for _, tc := range []struct {
		name string
		end  func(p *peer.Peer, f *far)
		call bool // while a caller receives
		took time.Duration
	}{
		{"closed while a caller receives", func(p *peer.Peer, _ *far) { _ = p.Close() }, true, time.Millisecond},
		{"closed while nobody does", func(p *peer.Peer, _ *far) { _ = p.Close() }, false, 0},
		{"lost while a caller receives", func(_ *peer.Peer, f *far) { _ = f.Close() }, true, time.Millisecond},
		{"lost while nobody does", func(_ *peer.Peer, f *far) { _ = f.Close() }, false, 4 * time.Millisecond},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, far, l := lent(t, handler{}, nil)
				var done <-chan error
				if tc.call {
					done = far.call(p, t.Context(), "last")
					far.next()
					synctest.Wait()
					if l.soon.Load() != 1 {
						t.Fatal("no caller receives")
					}
				}
				start := time.Now()
				tc.end(p, far)
				if tc.call {
					if err := <-done; !errors.Is(err, peer.ErrClosed) {
						t.Errorf("the call: %v", err)
					}
				}
				if err := far.wait(t); err != nil {
					t.Errorf("Run: %v", err)
				}
				if took := time.Since(start); took > tc.took {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

func TestRunEndsWithItsContextThoughTheReadingIsLent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		near, end := peer.Pipe()
		l := &lendable{t: t, Transport: near}
		p, r := runUntil(t, ctx, l, handler{}, nil)
		far := &far{t, end, r}
		far.until(p, l.lent.Load)
		start := time.Now()
		cancel()
		if err := far.wait(t); err != nil || time.Since(start) > 0 {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

// Many callers come and go, so that the reading changes hands in every way; what the
// far side says meanwhile is heard, and every call gets its own answer.
func TestTheReadingChangesHandsWithoutLoss(t *testing.T) {
	near, end := peer.Pipe()
	l := &lendable{t: t, Transport: near}
	var heard atomic.Int32
	p, r := run(t, l, handler{notice: func(context.Context, string, []byte) { heard.Add(1) }}, nil)
	far := &far{t, end, r}
	said := int32(0)
	var echo sync.WaitGroup
	echo.Go(func() { // ends when the connection is closed
		for i := 0; ; i++ {
			request, err := end.Receive(context.Background())
			if err != nil {
				return
			}
			if i%61 == 0 {
				said++
				_ = end.Send(context.Background(), []byte(`{"jsonrpc":"2.0","method":"word"}`))
			}
			if jsonscan.Get(request, "id") != nil {
				_ = end.Send(context.Background(), []byte(answerTo(string(request))))
			}
		}
	})
	for round := range 10 {
		for range 300 {
			if err := <-far.call(p, t.Context(), "lone"); err != nil {
				t.Fatal(err)
			}
		}
		var crowd sync.WaitGroup
		for i := range 64 {
			crowd.Go(func() { // awaited below
				if err := <-far.call(p, t.Context(), fmt.Sprintf("one of %d and %d", round, i)); err != nil {
					t.Error(err)
				}
			})
		}
		crowd.Wait()
	}
	_ = end.Close()
	echo.Wait()
	if err := far.wait(t); err != nil {
		t.Error(err)
	}
	if got := heard.Load(); got != said {
		t.Errorf("heard %d of %d notifications", got, said)
	}
	if l.soon.Load() == 0 {
		t.Error("no caller ever received")
	}
}
