package streamable_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/internal/sse"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/streamable"
)

// subscriber is one of very many: a connection in memory, and one goroutine.
type subscriber struct {
	conn net.Conn
	in   *sse.Decoder
	id   string
	kind string // the notification it asked for
}

// subscribe opens a stream and reads its acknowledgement.
func subscribe(ctx context.Context, l *pipeListener, i int) (*subscriber, error) {
	conn, err := l.dial(ctx)
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(2 * patience))
	s := &subscriber{conn: conn, id: fmt.Sprint(i), kind: []string{"tools", "prompts"}[i%2]}
	body := modernBody("subscriptions/listen", `"notifications":{"`+s.kind+`ListChanged":true}`)
	body = strings.Replace(body, `"id":1`, `"id":`+s.id, 1)
	if _, err := io.WriteString(conn, wireRequest(body, modernHeaders("subscriptions/listen", "")...)); err != nil {
		return nil, err
	}
	res, err := http.ReadResponse(bufio.NewReaderSize(conn, 512), nil)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != 200 {
		return nil, fmt.Errorf("status %d", res.StatusCode)
	}
	s.in = sse.NewDecoder(res.Body, 0)
	return s, s.expect("notifications/subscriptions/acknowledged")
}

// expect reads the next event, which must be this notification of this
// subscription.
func (s *subscriber) expect(method string) error {
	event, err := s.in.Next()
	if err != nil {
		return err
	}
	text := string(event.Data)
	if !strings.Contains(text, `"method":"`+method+`"`) || !strings.Contains(text, `"io.modelcontextprotocol/subscriptionId":`+s.id+`}`) {
		return fmt.Errorf("subscription %s got %s, want %s", s.id, text, method)
	}
	return nil
}

// R051: ten thousand streams at once. Each is acknowledged first, and hears only
// what it asked for, though one among them never reads.
func TestHeavyStreamsOpenAtOnce(t *testing.T) {
	streams := heavily(10_000, 1_000) // the race detector allows 8,128 goroutines
	b := watched()
	l := newPipeListener()
	s := l.serve(t, b, &streamable.Options{WriteTimeout: time.Minute})
	deaf, err := subscribe(t.Context(), l, 0) // it reads nothing more
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.conn.Close()
	goroutines := runtime.NumGoroutine()
	all := make([]*subscriber, streams)
	inParallel(streams, func(i int) {
		one, err := subscribe(t.Context(), l, i+1)
		if err != nil {
			t.Errorf("stream %d: %v", i, err)
		}
		all[i] = one
	})
	if t.Failed() {
		t.FailNow()
	}
	if got := s.e.Stats().Streams; got != streams+1 {
		t.Errorf("%d streams are open, want %d", got, streams+1)
	}
	var heard sync.WaitGroup
	var wrong atomic.Int32
	for _, one := range all {
		heard.Go(func() {
			if err := one.expect("notifications/" + one.kind + "/list_changed"); err != nil && wrong.Add(1) < 10 {
				t.Error(err)
			}
		})
	}
	from := time.Now()
	b.AddTool(mcp.Tool{Name: "new"}, server.Func(func(context.Context, nothing) (string, error) { return "", nil }))
	told := time.Since(from)
	b.addPrompt("new")
	heard.Wait()
	t.Logf("%d streams heard of it in %v; who brought the news was held up for %v", streams, time.Since(from), told)
	if told > 5*time.Second { // the deaf one would hold it up for a minute
		t.Errorf("the change took %v", told)
	}
	s.callTool("hello", "{}").wantText(t, "hello")
	for _, one := range all {
		one.conn.Close()
	}
	eventually(t, "all but one are gone", func() bool { return s.e.Stats().Streams == 1 })
	eventually(t, "their goroutines too", func() bool { return runtime.NumGoroutine() <= goroutines+5 })
}

// R051: a thousand rounds of opening and closing, half of them by a client that
// breaks off at once, leave nothing.
func TestR051AThousandRoundsLeaveNothing(t *testing.T) {
	const rounds = 1_000
	b := newBench()
	l := newPipeListener()
	s := l.serve(t, b, &streamable.Options{})
	done := make(chan struct{})
	var changes sync.WaitGroup
	changes.Go(func() { // while the lists change
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
				b.addPrompt(fmt.Sprint(i))
			}
		}
	})
	goroutines, before := runtime.NumGoroutine(), heap()
	inParallel(rounds, func(i int) {
		if i%2 == 0 {
			one, err := subscribe(t.Context(), l, 2*i+2) // which asks for tools: nothing comes
			if err != nil {
				t.Errorf("round %d: %v", i, err)
				return
			}
			one.conn.Close()
			return
		}
		conn, err := l.dial(t.Context())
		if err != nil {
			t.Errorf("round %d: %v", i, err)
			return
		}
		_, _ = io.WriteString(conn, listenRequest)
		conn.Close()
	})
	close(done)
	changes.Wait()
	eventually(t, "the streams are gone", func() bool { return s.e.Stats().Streams == 0 })
	eventually(t, "their goroutines too", func() bool { return runtime.NumGoroutine() <= goroutines+5 })
	if grown := heap() - before; grown > 4<<20 {
		t.Errorf("%d rounds left %d KiB", rounds, grown>>10)
	}
}
