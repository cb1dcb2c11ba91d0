package streamable_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

// racer is a server with a tool that ends when the test says so.
type racer struct {
	*server.Server
	laps    sync.Map // by number: *race
	running atomic.Int32
}

// race is one call that ends while it is cancelled.
type race struct{ began, finish chan struct{} }

type lap struct {
	N      int  `json:"n"`
	Speaks bool `json:"speaks"`
}

func newRacer() *racer {
	r := &racer{Server: server.New("racer", "1.0.0", nil)}
	r.AddTool(mcp.Tool{Name: "race"}, server.CallFunc(func(ctx context.Context, c *mcp.Call, in lap) (string, error) {
		r.running.Add(1)
		defer r.running.Add(-1)
		v, _ := r.laps.Load(in.N)
		v.(*race).began <- struct{}{}
		<-v.(*race).finish
		if in.Speaks {
			_ = c.Progress(ctx, 1, 0, "") // which may be too late
		}
		return "finished", nil
	}))
	return r
}

func (r *racer) params(n int) string {
	return fmt.Sprintf(`"name":"race","arguments":{"n":%d,"speaks":%v}`, n, n%3 == 0)
}

// run lets a call end while it is cancelled, one a little before the other by
// turns, and returns what it was answered.
func (r *racer) run(n int, call func() *written, cancel func()) *written {
	lap := &race{make(chan struct{}), make(chan struct{})}
	r.laps.Store(n, lap)
	defer r.laps.Delete(n)
	answer := make(chan *written, 1)
	go func() { answer <- call() }() // awaited below
	<-lap.began
	start := make(chan struct{})
	var both sync.WaitGroup
	both.Go(func() {
		<-start
		yield(n % 7)
		close(lap.finish)
	})
	both.Go(func() {
		<-start
		yield(n / 7 % 7)
		cancel()
	})
	close(start)
	both.Wait()
	return <-answer
}

func yield(times int) {
	for range times {
		runtime.Gosched()
	}
}

// R040: of thousands of calls that end while they are cancelled, none is
// answered twice, nothing is written after the end, and nothing is left.
func TestHeavyRacesOfCancellationAndAnswer(t *testing.T) {
	rounds := heavily(10_000, 1_000)
	r := newRacer()
	d := openDirect(t, r, nil)
	session := d.open(t, lastSession)
	modern := asJSON("Mcp-Protocol-Version", newest, "Mcp-Method", "tools/call", "Mcp-Name", "race")
	for name, race := range map[string]func(n int) *written{
		"a session's calls are cancelled": func(n int) *written {
			return r.run(n, func() *written {
				return d.post(t.Context(), session, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{%s,"_meta":{"progressToken":%d}}}`, n, r.params(n), n))
			}, func() {
				d.post(t.Context(), session, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, n))
			})
		},
		"clients of the newest revision hang up": func(n int) *written {
			ctx, hangUp := context.WithCancel(t.Context())
			return r.run(n, func() *written {
				body := modernBody("tools/call", r.params(n))
				body = strings.Replace(strings.Replace(body, `"_meta":{`, `"_meta":{"progressToken":1,`, 1), `"id":1`, fmt.Sprintf(`"id":%d`, n), 1)
				return d.post(ctx, modern, body)
			}, hangUp)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var answered, silent atomic.Int32
			inParallel(rounds, func(n int) {
				w := race(n)
				switch got := strings.Count(w.text(), `"result"`); {
				case got > 1 || strings.Count(w.text(), `"id":`) != got || strings.Contains(w.text(), `"error"`):
					t.Errorf("call %d: %d %s", n, w.status, w.text())
				case got == 1:
					answered.Add(1)
				default:
					silent.Add(1)
				}
				w.mu.Lock()
				defer w.mu.Unlock()
				if w.late > 0 {
					t.Errorf("call %d: written %d times after the end", n, w.late)
				}
			})
			t.Logf("%d answered, %d cancelled", answered.Load(), silent.Load())
			if answered.Load() == 0 || silent.Load() == 0 {
				t.Error("nothing raced")
			}
			eventually(t, "no call runs", func() bool { return r.running.Load() == 0 })
		})
	}
	if w := d.post(t.Context(), session, ping(1)); w.status != 200 {
		t.Errorf("afterwards: %d %s", w.status, w.text())
	}
}

// R040: who hangs up on a call of the newest revision ends it within a tenth of a
// second, whether it had spoken or not.
func TestHeavyHangUpsAreSeenAtOnce(t *testing.T) {
	b := newBench()
	s := open(t, b, nil)
	var took []time.Duration
	for i := range 100 {
		tool := []string{"wait", "speak"}[i%2]
		conn, err := net.Dial("tcp", s.srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		body := modernBody("tools/call", `"name":"`+tool+`","arguments":{}`)
		body = strings.Replace(body, `"_meta":{`, `"_meta":{"progressToken":1,`, 1)
		if _, err := io.WriteString(conn, wireRequest(body, modernHeaders("tools/call", tool)...)); err != nil {
			t.Fatal(err)
		}
		b.running(t)
		if tool == "speak" {
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil || res.Header.Get("Content-Type") != "text/event-stream" {
				t.Fatalf("%v %v", res, err)
			}
		}
		from := time.Now()
		conn.Close()
		if err := receive(t, b.ended); err != context.Canceled {
			t.Errorf("the context ended with %v", err)
		}
		took = append(took, time.Since(from))
	}
	slices.Sort(took)
	t.Logf("median %v, longest %v", took[len(took)/2], took[len(took)-1])
	if took[len(took)*95/100] > bound(100*time.Millisecond) { // the machine may be busy now and then
		t.Errorf("a hang-up was seen after %v", took[len(took)*95/100:])
	}
}

// R040: in sessions a broken connection is no cancellation: all goes on, and the
// answers can be fetched where the revision has that.
func TestR040BrokenConnectionsInSessionsCancelNothing(t *testing.T) {
	b := newBench()
	s := open(t, b, nil)
	for _, version := range sessionVersions {
		c := s.join(version)
		const calls = 20
		for i := range calls {
			conn, err := net.Dial("tcp", s.srv.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(conn, wireRequest(callBody(i, "wait", "{}"), "Mcp-Session-Id: "+c.id)); err != nil {
				t.Fatal(err)
			}
			b.running(t)
			conn.Close()
		}
		select {
		case err := <-b.ended:
			t.Fatalf("%s: a call ended with %v", version, err)
		case <-time.After(150 * time.Millisecond):
		}
		for range calls {
			select {
			case b.proceed <- struct{}{}: // it is still there to take it
			case <-time.After(patience):
				t.Fatalf("%s: a call is gone", version)
			}
		}
		c.call(calls, "hello", "{}").wantText(t, "hello")
		c.do(http.MethodDelete)
	}
}
