package peer_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/bossman-mcp/bossman/jsonrpc/peer"
)

// received returns everything that a transport receives: messages, and "cut" for
// each that is too long.
func received(t *testing.T, tr peer.Transport) (all []string) {
	t.Helper()
	for {
		message, err := tr.Receive(t.Context())
		switch {
		case errors.Is(err, io.EOF):
			return all
		case errors.Is(err, peer.ErrTooLong):
			all = append(all, "cut")
		case err != nil:
			t.Fatalf("receive: %v", err)
		default:
			all = append(all, string(message))
		}
	}
}

func TestLinesAreMessages(t *testing.T) {
	long := strings.Repeat("x", 200_000) // more than the reader's buffer
	for _, tc := range []struct {
		name, input string
		max         int
		want        []string
	}{
		{"nothing", "", 0, nil},
		{"two lines", "{}\n[]\n", 0, []string{"{}", "[]"}},
		{"no line break at the end", "{}\n[]", 0, []string{"{}", "[]"}},
		{"line breaks of Windows", "{}\r\n[]\r\n", 0, []string{"{}", "[]"}},
		{"blank lines", "\n \n\t\r\n{}\n\n\n[]\n\n", 0, []string{"{}", "[]"}},
		{"white space around", "  {}\t \n", 0, []string{"{}"}},
		{"white space that is not JSON's", "\u00a0{}\f\n", 0, []string{"\u00a0{}\f"}},
		{"NUL bytes", "\x00\x00\n", 0, []string{"\x00\x00"}},
		{"lines over the buffer", long + "\n" + long, 0, []string{long, long}},
		{"a line of the greatest length", "12345\n67890", 5, []string{"12345", "67890"}},
		{"a line one byte over it", "123456\n{}\n", 5, []string{"cut", "{}"}},
		{"a line one byte over it at the end", "{}\n123456", 5, []string{"{}", "cut"}},
		{"a long line that is cut in the buffer's middle", long + "\n{}\n", 70_000, []string{"cut", "{}"}},
		{"long lines only", long + "\n" + long + "\n" + long, 5, []string{"cut", "cut", "cut"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for how, r := range map[string]io.Reader{
				"at once":      strings.NewReader(tc.input),
				"with the end": iotest.DataErrReader(strings.NewReader(tc.input)),
				"byte by byte": iotest.OneByteReader(strings.NewReader(tc.input)),
			} {
				if got := received(t, peer.Lines(r, io.Discard, tc.max)); !slices.Equal(got, tc.want) {
					t.Errorf("%s: got %.100q, want %.100q", how, got, tc.want)
				}
			}
		})
	}
}

func TestAnOverlongLineIsReportedBeforeItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		l := peer.Lines(r, io.Discard, 10)
		written := make(chan struct{})
		go func() {
			defer close(written)
			_, _ = io.WriteString(w, strings.Repeat("a line without end ", 10_000))
		}()
		if _, err := l.Receive(t.Context()); !errors.Is(err, peer.ErrTooLong) {
			t.Fatalf("receive: %v", err)
		}
		go func() {
			<-written
			_, _ = io.WriteString(w, " ... and then its end\n{}\n")
		}()
		if text, err := l.Receive(t.Context()); err != nil || string(text) != "{}" {
			t.Errorf("receive: %s, %v", text, err)
		}
	})
}

func TestAReadErrorIsReturned(t *testing.T) {
	why := errors.New("the cable was pulled")
	l := peer.Lines(io.MultiReader(strings.NewReader("{}\nhalf"), iotest.ErrReader(why)), io.Discard, 0)
	if text, err := l.Receive(t.Context()); err != nil || string(text) != "{}" {
		t.Errorf("receive: %s, %v", text, err)
	}
	if text, err := l.Receive(t.Context()); !errors.Is(err, why) {
		t.Errorf("receive: %s, %v", text, err)
	}
}

func TestAMessageIsOneLine(t *testing.T) {
	var out bytes.Buffer
	l := peer.Lines(strings.NewReader(""), &out, 0)
	pretty := "{\r\n  \"a\": 1,\n\n  \"b\": \"\\n\"\r}"
	message := []byte(pretty)
	if err := l.Send(t.Context(), message); err != nil {
		t.Fatal(err)
	}
	if want := "{    \"a\": 1,    \"b\": \"\\n\" }\n"; out.String() != want {
		t.Errorf("wrote %q, want %q", out.String(), want)
	}
	if string(message) != pretty {
		t.Error("the sender's message was changed")
	}
}

func TestLinesOfManySendersNeverMixR025(t *testing.T) {
	const senders, each = 64, 100
	for _, tc := range []struct {
		name string
		ctx  func() (context.Context, context.CancelFunc)
	}{
		{"with a context that cannot end", func() (context.Context, context.CancelFunc) { return context.Background(), func() {} }},
		{"with a context that can", func() (context.Context, context.CancelFunc) { return context.WithCancel(context.Background()) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, w := io.Pipe()
			l := peer.Lines(strings.NewReader(""), w, 0)
			ctx, cancel := tc.ctx()
			defer cancel()
			var sending sync.WaitGroup
			for s := range senders {
				sending.Go(func() {
					message := make([]byte, 0, 4096)
					for i := range each {
						message = fmt.Appendf(message[:0], "%d %s", s, lineOf(s, i))
						if err := l.Send(ctx, message); err != nil {
							t.Error(err)
						}
						clear(message) // Send must not keep it
					}
				})
			}
			next := make([]int, senders)
			lines := bufio.NewScanner(r)
			for range senders * each {
				if !lines.Scan() {
					t.Fatalf("the lines end: %v", lines.Err())
				}
				sender, rest, _ := strings.Cut(lines.Text(), " ")
				s, err := strconv.Atoi(sender)
				if err != nil || s >= senders {
					t.Fatalf("line %.100q", lines.Text())
				}
				if want := lineOf(s, next[s]); rest != want {
					t.Fatalf("line %.100q, want %.100q of sender %d", lines.Text(), want, s)
				}
				next[s]++
			}
			sending.Wait()
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// lineOf returns the text that a sender sends as its line number i.
func lineOf(sender, i int) string {
	return strconv.Itoa(i) + " " + strings.Repeat(string(rune('a'+sender%26)), 10+i*7%1000)
}

func TestAStuckWriterBlocksNeitherCallersNorCloseR021(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, _ := io.Pipe()
		_, w := io.Pipe() // nobody reads
		p, r := run(t, peer.Lines(in, w, 0), handler{}, nil)

		start := time.Now()
		for i := range 3 { // the first is stuck in the write, the others wait behind it
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if err := p.Call(ctx, "ask", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("call %d: %v", i, err)
			}
			cancel()
		}
		big := strings.Repeat("x", 2<<20)
		if err := p.Notify(t.Context(), "note", map[string]string{"text": big}); err != nil { // fills what may wait
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.Notify(ctx, "note", nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Notify: %v", err)
		}
		if took := time.Since(start); took != 4*time.Second {
			t.Errorf("took %v", took)
		}

		stuck := make(chan error, 1)
		go func() { stuck <- p.Notify(context.Background(), "note", nil) }()
		synctest.Wait()
		start = time.Now()
		if err := p.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if err := <-stuck; !errors.Is(err, peer.ErrClosed) {
			t.Errorf("Notify during Close: %v", err)
		}
		if err := r.wait(t); err != nil || time.Since(start) > time.Second {
			t.Errorf("Run: %v after %v", err, time.Since(start))
		}
	})
}

func TestACallThatWasGivenUpInTheWriteIsCancelledAtTheOtherSide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, far, _, _ := connectLines(t, handler{}, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.Call(ctx, "ask", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Call: %v", err)
		}
		far.want(request(`1`, "ask")) // only now does somebody read
		far.want(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"context deadline exceeded"}}`)
	})
}

func TestNothingIsReceivedAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		l := peer.Lines(struct{ io.Reader }{r}, io.Discard, 0) // a read that Close cannot interrupt
		failed := make(chan error, 1)
		go func() {
			_, err := l.Receive(context.Background())
			failed <- err
		}()
		synctest.Wait()
		_ = l.Close()
		_, _ = io.WriteString(w, "{}\n")
		if err := <-failed; !errors.Is(err, peer.ErrClosed) {
			t.Errorf("Receive: %v", err)
		}
	})
}

func TestSendAndCloseAtOnceBothReturn(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for range 3000 {
		l := peer.Lines(strings.NewReader(""), io.Discard, 0)
		var both sync.WaitGroup
		both.Go(func() {
			if err := l.Send(ctx, []byte("{}")); err != nil && !errors.Is(err, peer.ErrClosed) {
				t.Errorf("Send: %v", err)
			}
		})
		both.Go(func() { _ = l.Close() })
		both.Wait()
	}
	if ctx.Err() != nil {
		t.Error("Send did not notice the close")
	}
}

func TestWhatWasSentBeforeCloseIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		l := peer.Lines(strings.NewReader(""), w, 0)
		for range 3 { // the first is being written, the others wait
			go func() { _ = l.Send(context.Background(), []byte("{}")) }()
		}
		synctest.Wait()
		go func() { _ = l.Close() }()
		synctest.Wait()
		if out, err := io.ReadAll(r); err != nil || string(out) != "{}\n{}\n{}\n" {
			t.Errorf("wrote %q, %v", out, err)
		}
	})
}

func TestSendAfterCloseFails(t *testing.T) {
	r, w := io.Pipe()
	near, end := peer.Pipe()
	for name, tr := range map[string]peer.Transport{"lines": peer.Lines(r, w, 0), "pipe": near, "other end of the pipe": end} {
		for range 2 {
			if err := tr.Close(); err != nil {
				t.Errorf("%s: Close: %v", name, err)
			}
		}
		if err := tr.Send(t.Context(), []byte("{}")); !errors.Is(err, peer.ErrClosed) {
			t.Errorf("%s: Send: %v", name, err)
		}
		if text, err := tr.Receive(t.Context()); err == nil {
			t.Errorf("%s: Receive: %s", name, text)
		}
	}
}

// failing is a writer that fails after some bytes.
type failing struct {
	left int
	err  error
}

func (f *failing) Write(p []byte) (int, error) {
	if len(p) > f.left {
		return f.left, f.err
	}
	f.left -= len(p)
	return len(p), nil
}

func TestAWriteErrorSurfaces(t *testing.T) {
	why := errors.New("the disk is full")
	for _, tc := range []struct {
		name string
		ctx  context.Context
	}{{"with a context that cannot end", context.Background()}, {"with a context that can", t.Context()}} {
		t.Run(tc.name, func(t *testing.T) {
			l := peer.Lines(strings.NewReader(""), &failing{5, why}, 0)
			if err := l.Send(tc.ctx, []byte("{}")); err != nil {
				t.Errorf("the first: %v", err)
			}
			for range 2 {
				if err := l.Send(tc.ctx, []byte("{}")); !errors.Is(err, why) {
					t.Errorf("Send: %v", err)
				}
			}
			_ = l.Close()
			if err := l.Send(tc.ctx, []byte("{}")); !errors.Is(err, peer.ErrClosed) {
				t.Errorf("Send after Close: %v", err)
			}
		})
	}
	t.Run("through a call", func(t *testing.T) {
		in, inW := io.Pipe()
		defer inW.Close()
		p, _ := run(t, peer.Lines(in, &failing{0, why}, 0), handler{}, nil)
		if err := p.Call(t.Context(), "ask", nil, nil); !errors.Is(err, why) {
			t.Errorf("Call: %v", err)
		}
	})
}

func TestAWriteErrorIsNotReportedForAMessageThatWasWritten(t *testing.T) {
	for _, tc := range []struct {
		name string
		ctx  func(*testing.T) context.Context
	}{
		{"with a context that cannot end", func(*testing.T) context.Context { return context.Background() }},
		{"with a context that can", (*testing.T).Context},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, w := io.Pipe()
				l := peer.Lines(strings.NewReader(""), w, 0)
				ctx := tc.ctx(t)
				var first, second error
				go func() { first = l.Send(ctx, []byte("1")) }()
				synctest.Wait()
				go func() { second = l.Send(ctx, []byte("2")) }() // the first will write it
				synctest.Wait()
				if _, err := io.ReadFull(r, make([]byte, 2)); err != nil {
					t.Fatal(err)
				}
				why := errors.New("the reader left")
				_ = r.CloseWithError(why)
				synctest.Wait()
				if first != nil || second != nil {
					t.Errorf("errors %v and %v", first, second)
				}
				if err := l.Send(ctx, []byte("3")); !errors.Is(err, why) {
					t.Errorf("Send: %v", err)
				}
			})
		})
	}
}

func TestCloseClosesASocketOnce(t *testing.T) {
	a, b := net.Pipe()
	defer b.Close()
	c := &countingConn{Conn: a}
	if err := peer.Lines(c, c, 0).Close(); err != nil || c.closed != 1 {
		t.Errorf("Close: %v, closed %d times", err, c.closed)
	}
}

type countingConn struct {
	net.Conn
	closed int
}

func (c *countingConn) Close() error {
	c.closed++
	return c.Conn.Close()
}

// uncomparable readers must not make Close panic.
type uncomparable struct {
	io.Reader
	_ []byte
}

func TestCloseReportsWhatItCannotClose(t *testing.T) {
	why := errors.New("busy")
	l := peer.Lines(uncomparable{Reader: strings.NewReader("")}, struct {
		io.Writer
		io.Closer
	}{io.Discard, closeFunc(func() error { return why })}, 0)
	if err := l.Close(); !errors.Is(err, why) {
		t.Errorf("Close: %v", err)
	}
}

type closeFunc func() error

func (f closeFunc) Close() error { return f() }

func TestThePipeDeliversWhatWasSentBeforeTheClose(t *testing.T) {
	a, b := peer.Pipe()
	message := []byte("1")
	for i := range 64 {
		message[0] = byte('0' + i%10)
		if err := a.Send(t.Context(), message); err != nil {
			t.Fatal(err)
		}
	}
	_ = b.Close()
	got := received(t, b)
	for i, text := range got {
		if text != fmt.Sprint(i%10) {
			t.Errorf("message %d is %s", i, text)
		}
	}
	if len(got) != 64 {
		t.Errorf("%d messages", len(got))
	}
}

func TestThePipeNeverLosesAMessageToTheClose(t *testing.T) {
	for range 20_000 {
		a, b := peer.Pipe()
		var sending sync.WaitGroup
		sending.Go(func() {
			_ = a.Send(context.Background(), []byte("{}"))
			_ = a.Close()
		})
		if text, err := b.Receive(context.Background()); err != nil || string(text) != "{}" {
			t.Fatalf("Receive: %s, %v", text, err)
		}
		sending.Wait()
	}
}

func TestThePipeBlocksASenderWhoIsAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := peer.Pipe()
		sent := 0
		done := make(chan error, 1)
		go func() {
			for ; sent < 100; sent++ {
				if err := a.Send(context.Background(), []byte("{}")); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
		synctest.Wait()
		if sent != 64 {
			t.Errorf("%d messages were sent to nobody", sent)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := a.Send(ctx, []byte("{}")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Send: %v", err)
		}
		_ = b.Close()
		if err := <-done; !errors.Is(err, peer.ErrClosed) {
			t.Errorf("Send during Close: %v", err)
		}
	})
}
