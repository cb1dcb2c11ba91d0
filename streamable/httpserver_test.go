package streamable_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bossman-mcp/bossman/streamable"
)

func TestNewServerBindsToLoopback(t *testing.T) { // R029
	srv := streamable.NewServer("", nil)
	host, _, err := net.SplitHostPort(srv.Addr)
	if err != nil || !net.ParseIP(host).IsLoopback() {
		t.Errorf("the default address is %s", srv.Addr)
	}
	if srv.MaxHeaderBytes != 64<<10 || srv.IdleTimeout != 2*time.Minute || srv.ReadHeaderTimeout != 10*time.Second {
		t.Errorf("limits: %+v", srv)
	}
}

func TestHTTP2IsNotNegotiated(t *testing.T) { // R033
	srv := httptest.NewUnstartedServer(nil)
	srv.Config = streamable.NewServer("", http.NotFoundHandler())
	srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	srv.StartTLS()
	defer srv.Close()
	conn, err := tls.Dial("tcp", srv.Listener.Addr().String(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := conn.ConnectionState().NegotiatedProtocol; got != "http/1.1" {
		t.Errorf("negotiated %q", got)
	}
}

// closedAfter sends text byte by byte, one each pause, until the other side hangs
// up, and returns how long that took.
func closedAfter(t *testing.T, l *pipeListener, text string, pause time.Duration) time.Duration {
	t.Helper()
	conn, err := l.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	from := time.Now()
	gone := make(chan struct{})
	go func() { // ends when the server hangs up
		defer close(gone)
		_, _ = io.Copy(io.Discard, conn)
	}()
	for i := range len(text) {
		if _, err := conn.Write([]byte{text[i]}); err != nil {
			break
		}
		select {
		case <-gone:
		case <-time.After(pause):
			continue
		}
		break
	}
	<-gone
	return time.Since(from)
}

func TestSlowClientsAreCutOff(t *testing.T) { // R031
	head := "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
	tests := []struct {
		name, text string
		pause      time.Duration
		most       time.Duration
	}{
		{"a header that drips", strings.Repeat("X-Header: value\r\n", 100), 5 * time.Second, 15 * time.Second},
		{"a header that never comes", "P", time.Hour, 15 * time.Second},
		{"a body that drips", head + strings.Repeat(" ", 1000), 50 * time.Millisecond, 45 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newPipeListener()
				l.serve(t, newBench(), &streamable.Options{})
				if took := closedAfter(t, l, tt.text, tt.pause); took > tt.most {
					t.Errorf("it was closed after %v, want %v at most", took, tt.most)
				}
			})
		})
	}
}

// A server's read timeout must not end what takes longer: calls and streams.
func TestLongCallsOutliveTheReadTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		l := newPipeListener()
		s := l.serve(t, b, &streamable.Options{KeepAlive: time.Minute})
		conn, err := l.dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		body := modernBody("tools/call", `"name":"wait","arguments":{}`)
		request := wireRequest(body, modernHeaders("tools/call", "wait")...)
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
		b.running(t)
		listener := s.listen("1", `{"toolsListChanged":true}`)
		listener.take()
		c := s.join(lastSession)
		own := c.stream(http.MethodGet, "")
		own.take()

		time.Sleep(10 * time.Minute)
		select {
		case err := <-b.ended:
			t.Fatalf("the call's context ended: %v", err)
		default:
		}
		b.proceed <- struct{}{}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || res.StatusCode != 200 {
			t.Fatalf("got %v, %v", res, err)
		}
		res.Body.Close()
		b.RemoveTool("hello")
		wantMarked(t, listener.message(), "notifications/tools/list_changed", "1")
		if m := own.message(); m.Method != "notifications/tools/list_changed" {
			t.Errorf("the session's stream got %+v", m)
		}
		listener.close()
		own.close()
	})
}

// What else a server serves must not suffer from an answer's deadline.
func TestDeadlinesDoNotReachOtherHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := streamable.Handler(newBench(), &streamable.Options{WriteTimeout: time.Second, Logger: slog.New(slog.DiscardHandler)})
		mux := http.NewServeMux()
		mux.Handle("/mcp", e)
		mux.HandleFunc("/other", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "fine") })
		srv := streamable.NewServer("", mux)
		l := newPipeListener()
		go srv.Serve(l) //nolint:errcheck // ends when srv is closed
		conn, err := l.dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(conn)
		body := modernBody("tools/call", `"name":"hello","arguments":{}`)
		for _, request := range []string{
			wireRequest(body, modernHeaders("tools/call", "hello")...), "GET /other HTTP/1.1\r\nHost: x\r\n\r\n",
		} {
			if _, err := io.WriteString(conn, request); err != nil {
				t.Fatal(err)
			}
			res, err := http.ReadResponse(in, nil)
			if err != nil || res.StatusCode != 200 {
				t.Fatalf("got %v, %v", res, err)
			}
			_, _ = io.Copy(io.Discard, res.Body)
			time.Sleep(10 * time.Second)
		}
		conn.Close()
		shutdown(t, e)
		_ = srv.Close()
	})
}

func TestHeadersAreCapped(t *testing.T) {
	s := open(t, newBench(), nil)
	if got := s.raw(fmt.Sprintf("GET /mcp HTTP/1.1\r\nHost: localhost\r\nX-Big: %s\r\n\r\n", strings.Repeat("x", 80<<10))); got != 431 {
		t.Errorf("got %d, want 431", got)
	}
}
