package streamable_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/streamable"
)

type pairOfNumbers struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

type sum struct {
	Sum float64 `json:"sum"`
}

func adder() *server.Server {
	s := server.New("add", "1.0.0", nil)
	server.Tool(s, "add", "Add two numbers together", func(_ context.Context, in pairOfNumbers) (sum, error) {
		return sum{in.A + in.B}, nil
	})
	return s
}

const modernAdd = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2},` +
	`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"b","version":"1"},` +
	`"io.modelcontextprotocol/clientCapabilities":{}}}}`

// wireRequest is a POST as it travels.
func wireRequest(body string, headers ...string) string {
	return "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n" +
		strings.Join(append(headers, fmt.Sprintf("Content-Length: %d", len(body))), "\r\n") + "\r\n\r\n" + body
}

var modernAddRequest = wireRequest(modernAdd, "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: add")

// hammer sends one request after the other on one connection. What it allocates
// itself is next to nothing, so that what is counted is the server's.
func hammer(b *testing.B, h http.Handler, request, want string) {
	srv := httptest.NewServer(h)
	defer srv.Close()
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	exchange := func() {
		if _, err := io.WriteString(conn, request); err != nil {
			b.Fatal(err)
		}
		body := readAnswer(b, in)
		if !bytes.Contains(body, []byte(want)) {
			b.Fatalf("got %s, want %s in it", body, want)
		}
	}
	exchange()
	b.ReportAllocs()
	for b.Loop() {
		exchange()
	}
}

// readAnswer reads a response with a Content-Length. The result is good until the
// next read.
func readAnswer(b *testing.B, in *bufio.Reader) []byte {
	length := 0
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			b.Fatal(err)
		}
		if n, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			for _, c := range bytes.TrimSpace(n) {
				length = length*10 + int(c-'0')
			}
		}
		if len(line) == 2 {
			break
		}
	}
	body, err := in.Peek(length)
	if err != nil {
		b.Fatal(err)
	}
	_, _ = in.Discard(length)
	return body
}

// BenchmarkBareHandler is what net/http itself costs: subtract it from the next.
func BenchmarkBareHandler(b *testing.B) {
	answer := []byte(`{"jsonrpc":"2.0","id":1,"result":{"sum":3}}`)
	hammer(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	}), modernAddRequest, `"sum":3`)
}

func BenchmarkModernCall(b *testing.B) {
	hammer(b, streamable.Handler(adder(), nil), modernAddRequest, `"sum":3`)
}

func BenchmarkSessionCall(b *testing.B) {
	e := streamable.Handler(adder(), nil)
	defer shutdown(b, e)
	srv := httptest.NewServer(e)
	defer srv.Close()
	id := benchSession(b, srv.URL)
	hammer(b, e, wireRequest(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}}`,
		"MCP-Protocol-Version: 2025-11-25", "Mcp-Session-Id: "+id), `"sum":3`)
}

// BenchmarkIdleSessions opens 10,000 sessions and reports what one weighs.
func BenchmarkIdleSessions(b *testing.B) {
	const count = 10_000
	for b.Loop() {
		e := streamable.Handler(adder(), nil)
		srv := httptest.NewServer(e)
		before := liveHeap()
		for range count {
			benchSession(b, srv.URL)
		}
		b.ReportMetric(float64(liveHeap()-before)/count, "B/session")
		shutdown(b, e)
		srv.Close()
	}
}

func liveHeap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkIdleListenStreams opens 10,000 subscriptions at a server in a process
// of its own and reports how much of that is resident: when it is fresh; before,
// when it has served a few hundred, so that its code is in memory and the collector
// has run; with all of them open; and half a minute after they closed. Nobody but
// the server itself sees to it that memory is given back.
func BenchmarkIdleListenStreams(b *testing.B) {
	const count = 10_000
	for b.Loop() {
		srv := startBenchServer(b)
		b.ReportMetric(srv.resident(b), "MiB-fresh")
		srv.closeListeners(b, openListeners(b, srv.addr, 600))
		b.ReportMetric(srv.resident(b), "MiB-before")
		conns := openListeners(b, srv.addr, count)
		b.ReportMetric(srv.resident(b), "MiB-open")
		srv.closeListeners(b, conns)
		b.ReportMetric(srv.resident(b), "MiB-closed")
		srv.stop(b)
	}
}

// closeListeners closes streams, and returns half a minute after the last is gone.
func (p *benchProcess) closeListeners(b *testing.B, conns []net.Conn) {
	for _, conn := range conns {
		conn.Close()
	}
	for deadline := time.Now().Add(30 * time.Second); p.ask(b, "streams") > 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			b.Fatal("streams are still open")
		}
	}
	time.Sleep(30 * time.Second)
}

// BenchmarkBesideSlowConnections measures a good client's calls while 2,000
// connections send their header byte by byte.
func BenchmarkBesideSlowConnections(b *testing.B) {
	srv := startBenchServer(b)
	defer srv.stop(b)
	slow := make([]net.Conn, 2000)
	for i := range slow {
		conn, err := net.Dial("tcp", srv.addr)
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "P")
		slow[i] = conn
	}
	conn, err := net.Dial("tcp", srv.addr)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	var took []time.Duration
	for b.Loop() {
		_, _ = io.WriteString(slow[len(took)%len(slow)], "O")
		from := time.Now()
		if _, err := io.WriteString(conn, modernAddRequest); err != nil {
			b.Fatal(err)
		}
		readAnswer(b, in)
		took = append(took, time.Since(from))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

const listenBody = `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` +
	`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`

var listenRequest = wireRequest(listenBody, "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: subscriptions/listen")

// openListeners opens streams and waits until each is acknowledged.
func openListeners(b *testing.B, addr string, count int) []net.Conn {
	conns := make([]net.Conn, count)
	var wg sync.WaitGroup
	for worker := range 50 {
		wg.Go(func() {
			buf := make([]byte, 4096)
			for i := worker; i < count; i += 50 {
				conn, err := net.Dial("tcp", addr)
				if err != nil {
					b.Error(err)
					return
				}
				conns[i] = conn
				if _, err := io.WriteString(conn, listenRequest); err != nil {
					b.Error(err)
					return
				}
				for n := 0; !bytes.Contains(buf[:n], []byte("subscriptions/acknowledged")); {
					m, err := conn.Read(buf[n:])
					if err != nil {
						b.Error(err)
						return
					}
					n += m
				}
			}
		})
	}
	wg.Wait()
	if b.Failed() {
		b.FailNow()
	}
	return conns
}

// benchSession opens a session and returns its id.
func benchSession(b *testing.B, url string) string {
	post := func(body, id string) *http.Response {
		req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		if id != "" {
			req.Header.Set("Mcp-Session-Id", id)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
		return res
	}
	id := post(fmt.Sprintf(initialize, lastSession), "").Header.Get("Mcp-Session-Id")
	if res := post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, id); res.StatusCode != 202 {
		b.Fatalf("initialized: %d", res.StatusCode)
	}
	return id
}

// BenchmarkCallAlone leaves net/http out: what remains is this package, the doors
// and the server.
func BenchmarkCallAlone(b *testing.B) {
	for _, era := range []string{"stateless", "session"} {
		b.Run(era, func(b *testing.B) {
			e := streamable.Handler(adder(), nil)
			defer shutdown(b, e)
			call := callInPlace(b, e, era)
			b.ReportAllocs()
			for b.Loop() {
				call()
			}
		})
	}
}

// discarded is a ResponseWriter that keeps nothing.
type discarded struct {
	header http.Header
	status int
}

func (d *discarded) Header() http.Header                { return d.header }
func (d *discarded) WriteHeader(status int)             { d.status = status }
func (d *discarded) Write(p []byte) (int, error)        { return len(p), nil }
func (d *discarded) FlushError() error                  { return nil }
func (d *discarded) SetReadDeadline(_ time.Time) error  { return nil }
func (d *discarded) SetWriteDeadline(_ time.Time) error { return nil }
