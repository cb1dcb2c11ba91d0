package peer_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
)

// train makes the peer know that requests of a method are short.
func (f *far) train(method string) {
	f.t.Helper()
	for i := range 10 {
		id := fmt.Sprintf(`"train %d"`, i)
		f.send(request(id, method))
		f.want(empty(id))
	}
}

// onTheReader reports whether the caller's goroutine is the one that reads.
func onTheReader() bool {
	stack := make([]byte, 16<<10)
	return bytes.Contains(stack[:runtime.Stack(stack, false)], []byte("answerHere"))
}

func TestShortRequestsAreAnsweredByTheGoroutineThatReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var there []bool
		_, far := connect(t, answering(func(_ context.Context, r *peer.Request) (any, error) {
			there = append(there, onTheReader())
			if r.Method == "slow" {
				time.Sleep(100 * time.Microsecond)
			}
			return struct{}{}, nil
		}), nil)
		for _, method := range []string{"short", "slow"} {
			there = nil
			far.train(method)
			if there[0] {
				t.Errorf("%s: a request of a kind that nobody knows holds up the reading", method)
			}
			if last := there[len(there)-1]; last != (method == "short") {
				t.Errorf("%s: known requests are answered by the reader: %v", method, last)
			}
		}
	})
}

func TestALongRequestMayTakeLonger(t *testing.T) {
	for _, tc := range []struct {
		name string
		size int
		took time.Duration
		here bool
	}{
		{"a small one must be short", 100, 60 * time.Microsecond, false},
		{"a long one may take what reading it takes", 64 << 10, 100 * time.Microsecond, true},
		{"but not much more", 64 << 10, 200 * time.Microsecond, false},
		{"nor any time because it is very long", 1 << 20, 300 * time.Microsecond, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				here := false
				_, far := connect(t, answering(func(context.Context, *peer.Request) (any, error) {
					here = onTheReader()
					time.Sleep(tc.took)
					return struct{}{}, nil
				}), nil)
				params := `{"text":"` + strings.Repeat("x", tc.size) + `"}`
				for i := range 10 {
					far.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"work","params":%s}`, i, params))
					far.want(empty(fmt.Sprint(i)))
				}
				if here != tc.here {
					t.Errorf("the reader answers it: %v", here)
				}
			})
		})
	}
}

func TestARequestThatTurnsSlowHoldsUpNobody(t *testing.T) {
	for _, tc := range []struct {
		name    string
		wait    func(ctx context.Context, r *peer.Request)
		instead string        // what comes first from the peer
		within  time.Duration // until others are answered
	}{
		{"when it sleeps", func(ctx context.Context, _ *peer.Request) { <-ctx.Done() }, "", 2 * time.Millisecond},
		{"when it asks the other side, without delay", func(ctx context.Context, r *peer.Request) {
			_ = r.Peer().Call(ctx, "question", nil, nil)
		}, `{"jsonrpc":"2.0","id":1,"method":"question"}`, 0},
		{"when it says something first, without delay", func(ctx context.Context, r *peer.Request) {
			_ = r.Notify(ctx, "word", nil)
			<-ctx.Done()
		}, `{"jsonrpc":"2.0","method":"word"}`, 0},
		{"when it ends its goroutine, without delay", func(context.Context, *peer.Request) { runtime.Goexit() },
			`{"jsonrpc":"2.0","id":"slow","error":{"code":-32603,"message":"Internal error: the handler failed"}}`, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				turned := false
				ended := make(chan struct{})
				_, far := connect(t, answering(func(ctx context.Context, r *peer.Request) (any, error) {
					if r.Method == "work" && turned {
						if !onTheReader() {
							t.Error("the reader does not answer what it believes to be short")
						}
						defer close(ended)
						tc.wait(ctx, r)
					}
					return struct{}{}, nil
				}), nil)
				far.train("work")
				turned = true
				start := time.Now()
				far.send(request(`"slow"`, "work"))
				if tc.instead != "" {
					far.want(tc.instead)
				}
				far.send(request(`"quick"`, "ping"))
				far.want(empty(`"quick"`))
				if took := time.Since(start); took > tc.within {
					t.Errorf("another request waited for %v", took)
				}
				far.send(cancelled(`"slow"`))
				<-ended
				turned = false
				far.send(request(`"again"`, "work"))
				if got := far.next(); strings.Contains(got, "cancelled") { // it gives up its question
					far.want(empty(`"again"`))
				} else if got != empty(`"again"`) {
					t.Errorf("got %s", got)
				}
			})
		})
	}
}

func TestAllOfAKindThatTurnsSlowRunAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 200
		var turned atomic.Bool
		_, far := connect(t, answering(func(context.Context, *peer.Request) (any, error) {
			if turned.Load() {
				time.Sleep(100 * time.Millisecond)
			}
			return struct{}{}, nil
		}), nil)
		wave := func() time.Duration {
			start := time.Now()
			for i := range many {
				far.send(request(fmt.Sprint(i), "work"))
			}
			for range many {
				far.next()
			}
			return time.Since(start)
		}
		far.train("work")
		turned.Store(true)
		if took := wave(); took > 103*time.Millisecond {
			t.Errorf("%d calls of 100 ms took %v", many, took)
		}
		if took := wave(); took > 100*time.Millisecond {
			t.Errorf("%d more took %v", many, took)
		}
	})
}

func TestRunEndsThoughTheReaderAnswersARequestThatNeverEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turned := false
		release := make(chan struct{})
		defer close(release)
		p, far := connect(t, answering(func(context.Context, *peer.Request) (any, error) {
			if turned {
				<-release
			}
			return struct{}{}, nil
		}), nil)
		far.train("work")
		turned = true
		far.send(request(`1`, "work"))
		synctest.Wait()
		start := time.Now()
		_ = p.Close()
		if err := far.wait(t); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("Run returned after %v", took)
		}
	})
}

// countingWriter counts writes, and keeps what was written.
type countingWriter struct {
	mu     sync.Mutex
	writes int
	lines  int
	enough func(lines int)
}

func (w *countingWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes++
	w.lines += bytes.Count(p, []byte("\n"))
	w.enough(w.lines)
	return len(p), nil
}

func (w *countingWriter) count() (writes, lines int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.writes, w.lines
}

func TestAnswersToRequestsThatComeTogetherShareAWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, feed := io.Pipe()
		out := &countingWriter{enough: func(int) {}}
		block := make(chan struct{})
		run(t, peer.Lines(in, out, 0), answering(func(_ context.Context, r *peer.Request) (any, error) {
			if r.ID.String() == `"block"` {
				<-block
			}
			return struct{}{}, nil
		}), nil)
		send := func(ids ...string) {
			var text strings.Builder
			for _, id := range ids {
				text.WriteString(request(id, "work") + "\n")
			}
			_, _ = io.WriteString(feed, text.String())
			synctest.Wait()
		}
		for i := range 10 {
			send(fmt.Sprint(i))
		}
		writes, lines := out.count()
		if lines != 10 {
			t.Fatalf("%d of 10 answers were written while nothing more came", lines)
		}
		send("10", "11", "12", "13", "14", "15", "16", "17")
		if w, l := out.count(); l != 18 || w != writes+1 {
			t.Errorf("8 answers took %d writes", w-writes)
		}
		send("18", `"block"`, "19")
		time.Sleep(5 * time.Millisecond)
		if _, l := out.count(); l != 20 {
			t.Errorf("%d answers of 2 were written while a request between them blocks", l-18)
		}
		close(block)
		synctest.Wait()
		if _, l := out.count(); l != 21 {
			t.Errorf("%d answers of 3 were written", l-18)
		}
	})
}

func TestARequesterWhoReadsLateGetsEveryAnswer(t *testing.T) {
	const many = 5_000
	_, far, in, _ := connectLines(t, handler{}, nil)
	far.train("work")
	sent := make(chan error, 1)
	go func() { // ends when all is sent, which it is although nobody reads
		for i := range many {
			if _, err := io.WriteString(in, request(fmt.Sprint(i), "work")+"\n"); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	got := make(map[string]bool)
	for range many {
		got[far.next()] = true
	}
	if len(got) != many {
		t.Errorf("%d different answers to %d requests", len(got), many)
	}
}

func TestKindsTellRequestsOfOneMethodApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var there []bool
		_, far := connect(t, answering(func(_ context.Context, r *peer.Request) (any, error) {
			if r.Note != "seen" {
				t.Errorf("the note is %v", r.Note)
			}
			there = append(there, onTheReader())
			return struct{}{}, nil
		}), &peer.Options{Kind: func(r *peer.Request, members []jsonrpc.Member) []byte {
			if string(r.Params) == `{"a":{"b":1}}` && (len(members) != 2 || string(members[0].Name) != "b" || string(members[1].Value) != `{"b":1}`) {
				t.Errorf("the members are %v", members)
			}
			r.Note = "seen"
			return []byte(r.ID.String())
		}})
		far.send(`{"jsonrpc":"2.0","id":"first","method":"work","params":{"a":{"b":1}}}`)
		far.want(empty(`"first"`))
		there = nil
		far.train("work") // each with an id, and so a kind, of its own
		for range 10 {
			far.send(request(`"same"`, "work"))
			far.want(empty(`"same"`))
		}
		for i := range 2_000 { // more than anyone remembers
			far.send(request(fmt.Sprint(i), "work"))
			far.want(empty(fmt.Sprint(i)))
		}
		if there[9] || !there[19] || there[len(there)-1] {
			t.Error("a kind must be known to be short on its own")
		}
	})
}
