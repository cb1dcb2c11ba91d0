package streamable_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bossman-mcp/bossman/internal/sse"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/streamable"
)

// piped is a ResponseWriter without any buffer: each write waits until it is read.
type piped struct {
	discarded
	out *io.PipeWriter
}

func (p *piped) Write(text []byte) (int, error) { return p.out.Write(text) }

// speaker is a modern call that is answered into a pipe.
type speaker struct {
	t    *testing.T
	out  *io.PipeReader
	said atomic.Int32 // notifications of which the tool was told that they are sent
	told chan error   // what it was told of another
	done chan struct{}
}

// newSpeaker starts a call of a tool that speaks so many times, after a pause each.
func newSpeaker(ctx context.Context, t *testing.T, times int, pause time.Duration) *speaker {
	t.Helper()
	out, in := io.Pipe()
	s := &speaker{t: t, out: out, told: make(chan error, 1), done: make(chan struct{})}
	b := server.New("b", "1", nil)
	b.AddTool(mcp.Tool{Name: "speak"}, server.CallFunc(func(ctx context.Context, c *mcp.Call, _ nothing) (string, error) {
		for i := range times {
			time.Sleep(pause)
			if err := c.Progress(ctx, float64(i+1), 0, strings.Repeat("a", 1000)); err != nil {
				s.told <- err
				return "", err
			}
			s.said.Add(1)
		}
		return "done", nil
	}))
	body := strings.Replace(modernBody("tools/call", `"name":"speak","arguments":{}`), `"_meta":{`, `"_meta":{"progressToken":"p",`, 1)
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1/mcp", strings.NewReader(body))
	for _, header := range modernHeaders("tools/call", "speak", "Content-Type: application/json", "Accept: application/json, text/event-stream") {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	go func() { // ends with the call
		defer close(s.done)
		streamable.Handler(b, nil).ServeHTTP(&piped{discarded{header: make(http.Header)}, in}, r)
	}()
	return s
}

// written returns the messages of the next write.
func (s *speaker) written() (messages []wire) {
	s.t.Helper()
	buf := make([]byte, 1<<20)
	n, err := s.out.Read(buf)
	if err != nil {
		s.t.Fatal(err)
	}
	events := sse.NewDecoder(bytes.NewReader(buf[:n]), 0)
	for e, err := events.Next(); !errors.Is(err, io.EOF); e, err = events.Next() {
		if err != nil {
			s.t.Fatal(err)
		}
		messages = append(messages, parse(s.t, string(e.Data)))
	}
	return messages
}

func TestModernNotificationsInARowShareAWrite(t *testing.T) {
	const many = 10
	synctest.Test(t, func(t *testing.T) {
		s := newSpeaker(t.Context(), t, many, 0)
		synctest.Wait()
		if n := s.said.Load(); n != 0 {
			t.Fatalf("%d notifications are said to be sent, though the first is not written", n)
		}
		got := s.written()
		synctest.Wait()
		if n := s.said.Load(); n != many {
			t.Errorf("%d of %d notifications are on their way while the second is written", n, many)
		}
		select {
		case <-s.done:
			t.Fatal("the request is over before all is written")
		default:
		}
		writes := 1
		for ; len(got) <= many; writes++ {
			got = append(got, s.written()...)
		}
		if writes > 3 { // the first, the second, the rest and the answer
			t.Errorf("%d notifications took %d writes", many, writes)
		}
		for i, m := range got[:many] {
			if m.Method != mcp.NotificationProgress || !strings.Contains(string(m.Params), fmt.Sprintf(`"progress":%d,`, i+1)) {
				t.Errorf("message %d is %s of %.100s", i, m.Method, m.Params)
			}
		}
		if got[many].ID == nil {
			t.Error("the last message is no answer")
		}
		<-s.done
	})
}

func TestAModernNotificationAfterAPauseIsWrittenBeforeItIsSaidToBeSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSpeaker(t.Context(), t, 3, time.Millisecond)
		for i := range int32(3) {
			time.Sleep(2 * time.Millisecond)
			if n := s.said.Load(); n != i {
				t.Errorf("%d notifications are said to be sent, %d are written", n, i)
			}
			s.written()
		}
		s.written()
		<-s.done
	})
}

func TestAModernCallThatSpeaksToNobodyIsHeldUp(t *testing.T) {
	gone := errors.New("gone")
	for _, tc := range []struct {
		name string
		end  func(s *speaker, hangUp context.CancelFunc)
		want error
	}{
		{"until the client reads", func(s *speaker, _ context.CancelFunc) {
			for messages := s.written(); messages[len(messages)-1].ID == nil; messages = s.written() {
			}
		}, nil},
		{"until the write fails", func(s *speaker, _ context.CancelFunc) { _ = s.out.CloseWithError(gone) }, gone},
		{"until the client hangs up", func(s *speaker, hangUp context.CancelFunc) {
			hangUp()
			s.written()
			s.written()
			_ = s.out.Close()
		}, context.Canceled},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, hangUp := context.WithCancel(t.Context())
				defer hangUp()
				s := newSpeaker(ctx, t, 100, 0)
				s.written()
				time.Sleep(time.Minute)
				if n := s.said.Load(); n < 10 || n > 40 {
					t.Errorf("the call is %d notifications of 1 KB ahead", n)
				}
				tc.end(s, hangUp)
				<-s.done
				if tc.want == nil {
					close(s.told)
				}
				if err := <-s.told; !errors.Is(err, tc.want) {
					t.Errorf("the tool was told %v, want %v", err, tc.want)
				}
			})
		})
	}
}
