package streamable_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/streamable"
)

// runner is a site that is served by Run, which takes connections over.
type runner struct {
	*site
	addr  string
	taken atomic.Int32 // connections that were
	stop  func() error // ends Run; the cleanup does, too
}

// run serves h by Run on l until the test ends. Tune may change the server, and is
// nil for most.
func run(t *testing.T, h mcp.Handler, opts *streamable.Options, l net.Listener, tune func(*http.Server)) *runner {
	t.Helper()
	var o streamable.Options
	if opts != nil {
		o = *opts
	}
	o.Logger = slog.New(slog.DiscardHandler)
	r := &runner{addr: l.Addr().String()}
	e := streamable.Handler(h, &o)
	srv := streamable.NewServer("", e)
	srv.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	srv.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateHijacked {
			r.taken.Add(1)
		}
	}
	if tune != nil {
		tune(srv)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- streamable.Run(ctx, l, srv, e) }() // stop waits for it
	r.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	transport := &http.Transport{}
	r.site = &site{t: t, e: e, client: &http.Client{Transport: transport}, url: "http://" + r.addr + "/mcp"}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := r.stop(); err != nil {
			t.Errorf("run: %v", err)
		}
	})
	return r
}

func loopback(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// dial sends a request on a connection of its own.
func (r *runner) dial(t *testing.T, request string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	return conn
}

// wantStreams waits until so many streams are open, and so many connections were
// ever taken over.
func (r *runner) wantStreams(t *testing.T, streams, taken int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d streams, %d taken over", streams, taken), func() bool {
		return r.e.Stats().Streams == streams && int(r.taken.Load()) == taken
	})
}

func TestStreamsLeaveNetHTTP(t *testing.T) {
	b := watched()
	r := run(t, b, nil, loopback(t), nil)
	e := r.listen("1", `{"toolsListChanged":true}`)
	wantMarked(t, e.message(), "notifications/subscriptions/acknowledged", "1")
	c := r.join(lastSession)
	own := c.stream(http.MethodGet, "")
	prime := own.take()
	r.wantStreams(t, 2, 2)

	for i := range 3 {
		b.addPrompt(fmt.Sprint(i))
		b.RemoveTool([]string{"hello", "who", "fail"}[i])
		wantMarked(t, e.message(), "notifications/tools/list_changed", "1")
		seen := map[string]bool{own.message().Method: true, own.message().Method: true}
		if !seen["notifications/tools/list_changed"] || !seen["notifications/prompts/list_changed"] {
			t.Errorf("the session's stream got %v", seen)
		}
	}
	again := c.stream(http.MethodGet, "", "Last-Event-ID: "+prime.ID) // who comes back takes over
	own.ended()
	for range 6 {
		again.message()
	}
	e.close()
	again.close()
	r.wantStreams(t, 0, 3)
	c.call(1, "count", "{}") // a call's stream is net/http's, for its connection can be used again
	r.callTool("count", "{}")
	if got := r.taken.Load(); got != 3 {
		t.Errorf("%d connections were taken over, want 3", got)
	}
}

func TestStreamsThatStayWithNetHTTP(t *testing.T) {
	wrap := func(change func(http.ResponseWriter) http.ResponseWriter) func(*http.Server) {
		return func(srv *http.Server) {
			inner := srv.Handler
			srv.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { inner.ServeHTTP(change(w), r) })
		}
	}
	tests := []struct {
		name, request string
		tune          func(*http.Server)
	}{
		{"a writer that hides the connection", listenRequest, wrap(func(w http.ResponseWriter) http.ResponseWriter { return hiding{w} })},
		{"a writer that may change what passes", listenRequest, wrap(func(w http.ResponseWriter) http.ResponseWriter {
			return changing{hiding{w}, w.(http.Hijacker)}
		})},
		{"a client of HTTP/1.0", strings.Replace(listenRequest, "HTTP/1.1", "HTTP/1.0", 1), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := run(t, watched(), nil, loopback(t), tt.tune)
			in := bufio.NewReader(r.dial(t, tt.request))
			awaitText(t, in, "subscriptions/acknowledged")
			r.wantStreams(t, 1, 0)
			go r.stop() // the cleanup waits for it
			awaitText(t, in, `"resultType":"complete"`)
		})
	}
}

// hiding is a writer that can do no more than flush, for all that is seen.
type hiding struct{ http.ResponseWriter }

func (h hiding) Unwrap() http.ResponseWriter { return h.ResponseWriter }

// changing is one that hands out the connection.
type changing struct {
	hiding
	http.Hijacker
}

// awaitText reads until a text was there.
func awaitText(t *testing.T, in *bufio.Reader, text string) string {
	t.Helper()
	var seen strings.Builder
	for !strings.Contains(seen.String(), text) {
		c, err := in.ReadByte()
		if err != nil {
			t.Fatalf("%v after %q, want %q", err, seen.String(), text)
		}
		seen.WriteByte(c)
	}
	return seen.String()
}

func TestHowLinesEnd(t *testing.T) {
	r := run(t, watched(), nil, loopback(t), nil)
	tests := []struct {
		name string
		end  func(conn net.Conn)
	}{
		{"the client hangs up", func(conn net.Conn) { conn.Close() }},
		{"the connection is reset", func(conn net.Conn) {
			_ = conn.(*net.TCPConn).SetLinger(0)
			conn.Close()
		}},
		{"the client closes its half", func(conn net.Conn) { _ = conn.(*net.TCPConn).CloseWrite() }},
		{"the client talks without end", func(conn net.Conn) { _, _ = conn.Write(make([]byte, 1<<20)) }},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			conn := r.dial(t, listenRequest)
			awaitText(t, bufio.NewReader(conn), "subscriptions/acknowledged")
			r.wantStreams(t, 1, i+1)
			from := time.Now()
			tt.end(conn)
			r.wantStreams(t, 0, i+1)
			if took := time.Since(from); took > 5*time.Second { // no timer is as short as that
				t.Errorf("it was noticed after %v", took)
			}
		})
	}
}

func TestWhatFollowsARequestOnALineIsNotServed(t *testing.T) {
	b := watched()
	r := run(t, b, nil, loopback(t), nil)
	conn := r.dial(t, listenRequest+modernAddRequest)
	in := bufio.NewReader(conn)
	awaitText(t, in, "subscriptions/acknowledged")
	r.wantStreams(t, 1, 1)
	if _, err := io.WriteString(conn, modernAddRequest); err != nil {
		t.Fatal(err)
	}
	b.RemoveTool("hello")
	awaitText(t, in, "tools/list_changed") // the stream goes on
	if err := r.stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	rest, err := io.ReadAll(in)
	if strings.Contains(string(rest), "HTTP/1.1") {
		t.Errorf("it was answered: %q, %v", rest, err)
	}
}

func TestShutdownEndsLinesInGoodOrder(t *testing.T) {
	r := run(t, watched(), nil, loopback(t), nil)
	res, err := http.ReadResponse(bufio.NewReader(r.dial(t, listenRequest)), nil)
	if err != nil {
		t.Fatal(err)
	}
	own := r.join(lastSession).stream(http.MethodGet, "")
	own.take()
	r.wantStreams(t, 2, 2)
	if err := r.stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	text, err := io.ReadAll(res.Body) // fails unless the last chunk is marked as such
	if err != nil || !strings.Contains(string(text), `"resultType":"complete"`) || !strings.HasSuffix(string(text), "\n\n") {
		t.Errorf("got %q, %v", text, err)
	}
	own.ended()
	if got := r.e.Stats(); got != (streamable.Stats{}) {
		t.Errorf("left: %+v", got)
	}
}

// stuffed opens a subscription whose client does not read, and fills it until a
// write must wait.
func stuffed(t *testing.T, r *runner, b *bench) {
	t.Helper()
	uris := make([]string, 400)
	for i := range uris {
		uris[i] = `"test://` + strings.Repeat("x", 8000) + fmt.Sprint(i) + `"`
	}
	body := modernBody("subscriptions/listen", `"notifications":{"toolsListChanged":true,"resourceSubscriptions":[`+strings.Join(uris, ",")+`]}`)
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.(*net.TCPConn).SetReadBuffer(1024)
	if _, err := io.WriteString(conn, wireRequest(body, modernHeaders("subscriptions/listen", "")...)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	for i := range uris {
		b.ResourceUpdated("test://" + strings.Repeat("x", 8000) + fmt.Sprint(i))
	}
}

func TestALineThatNobodyReads(t *testing.T) {
	b := watched()
	r := run(t, b, &streamable.Options{WriteTimeout: 200 * time.Millisecond, KeepAlive: 10 * time.Millisecond}, loopback(t), nil)
	stuffed(t, r, b)
	quick := r.listen("1", `{"toolsListChanged":true}`)
	quick.take()
	b.RemoveTool("hello")
	wantMarked(t, quick.message(), "notifications/tools/list_changed", "1")
	eventually(t, "only the reader is left", func() bool { return r.e.Stats().Streams == 1 })
}

func TestShutdownGivesUpOnALineThatNobodyReads(t *testing.T) {
	b := watched()
	r := run(t, b, &streamable.Options{WriteTimeout: time.Hour}, loopback(t), nil)
	stuffed(t, r, b)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := r.e.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want that the time was up", err)
	}
	eventually(t, "the stream is gone", func() bool { return r.e.Stats().Streams == 0 })
}

func TestLinesAreKeptAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := watched()
		l := newPipeListener()
		defer l.Close()
		r := run(t, b, &streamable.Options{KeepAlive: time.Minute}, l, nil)
		conn, err := l.dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, listenRequest); err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(conn)
		awaitText(t, in, "subscriptions/acknowledged")
		for range 3 {
			from := time.Now()
			awaitText(t, in, "3\r\n:\n\n\r\n")
			if quiet := time.Since(from); quiet > time.Minute || quiet < 40*time.Second {
				t.Errorf("a comment came after %v", quiet)
			}
		}
		time.Sleep(10 * time.Second) // now something is said in between
		b.RemoveTool("hello")
		awaitText(t, in, "tools/list_changed")
		from := time.Now()
		awaitText(t, in, ":\n\n")
		if quiet := time.Since(from); quiet < 40*time.Second {
			t.Errorf("a comment came %v after an event", quiet)
		}
		go func() { _, _ = io.Copy(io.Discard, in) }() // ends with the connection
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestLinesSpeakTLS(t *testing.T) {
	made := httptest.NewUnstartedServer(nil) // for its certificate
	made.StartTLS()
	defer made.Close()
	b := watched()
	r := run(t, b, nil, loopback(t), func(srv *http.Server) { srv.TLSConfig = made.TLS.Clone() })
	conn, err := tls.Dial("tcp", r.addr, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, listenRequest); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	awaitText(t, in, "subscriptions/acknowledged")
	r.wantStreams(t, 1, 1)
	b.RemoveTool("hello")
	awaitText(t, in, "tools/list_changed")
	conn.Close()
	r.wantStreams(t, 0, 1)
}

func TestReleaseAfterTheFirstWord(t *testing.T) {
	b := newBench()
	b.late()
	s := open(t, b, nil)
	c := s.join(lastSession)
	e := c.stream(http.MethodPost, callBody(1, "late", "{}"))
	last := e.take()
	for event := range e.next { // which ends while the call runs
		last = event
	}
	b.running(t)
	close(b.proceed)
	again := c.stream(http.MethodGet, "", "Last-Event-ID: "+last.ID)
	if m := again.message(); !strings.Contains(string(m.Result), "waited") {
		t.Errorf("got %+v, want the result", m)
	}
}

func TestReleaseWhereTheConnectionCannotBeClosed(t *testing.T) {
	b := newBench()
	s := openBehind(t, b, nil, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(hiding{w}, r) })
	})
	e := s.join(lastSession).stream(http.MethodPost, callBody(1, "release", "{}"))
	e.take()
	b.running(t)
	e.quiet() // it stays, and brings the result
	close(b.proceed)
	if m := e.message(); !strings.Contains(string(m.Result), "waited") {
		t.Errorf("got %+v, want the result", m)
	}
	e.ended()
}

func TestShutdownEndsManyLinesInGoodOrder(t *testing.T) {
	const count = 500
	r := run(t, watched(), nil, loopback(t), nil)
	conns := []net.Conn{r.dial(t, listenRequest)}
	r.wantStreams(t, 1, 1)
	goroutines := runtime.NumGoroutine()
	for len(conns) < count {
		conns = append(conns, r.dial(t, listenRequest))
	}
	r.wantStreams(t, count, count)
	if runtime.GOOS == "linux" {
		eventually(t, "one goroutine waits for all", func() bool { return runtime.NumGoroutine() <= goroutines })
	}
	if err := r.stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	for i, conn := range conns {
		text, err := io.ReadAll(conn)
		if err != nil || !strings.Contains(string(text), `"resultType":"complete"`) || !strings.HasSuffix(string(text), "\r\n0\r\n\r\n") {
			t.Fatalf("stream %d got %q, %v", i, text, err)
		}
	}
}
