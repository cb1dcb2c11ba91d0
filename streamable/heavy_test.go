package streamable_test

import (
	"bytes"
	"context"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/streamable"
)

var heavyCounts = flag.Bool("heavy", false, "run the tests named Heavy at their full counts, as make heavy does")

// heavily returns how often to do something: full with the flag -heavy, else as
// often as the race detector can bear.
func heavily(full, usual int) int {
	if *heavyCounts {
		return full
	}
	return usual
}

// direct is an endpoint that is called without a network, for tests of what an
// endpoint remembers rather than of sockets.
type direct struct {
	e *streamable.Endpoint
}

// openDirect serves h until the test ends; then all must come to rest.
func openDirect(t testing.TB, h mcp.Handler, opts *streamable.Options) direct {
	t.Helper()
	var o streamable.Options
	if opts != nil {
		o = *opts
	}
	o.Logger = slog.New(slog.DiscardHandler)
	e := streamable.Handler(h, &o)
	t.Cleanup(func() { shutdown(t, e) })
	return direct{e}
}

// post sends a message. Headers must have their canonical names; they are not
// changed.
func (d direct) post(ctx context.Context, headers http.Header, body string) *written {
	r := (&http.Request{
		Method: http.MethodPost, URL: &url.URL{Path: "/mcp"}, Host: "mcp.example", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: headers, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}).WithContext(ctx)
	w := &written{header: make(http.Header)}
	d.e.ServeHTTP(w, r)
	w.end()
	return w
}

// asJSON are the headers of every POST.
func asJSON(more ...string) http.Header {
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	for i := 0; i < len(more); i += 2 {
		h[more[i]] = []string{more[i+1]}
	}
	return h
}

// open opens a session of a revision and returns the headers of its requests.
func (d direct) open(t testing.TB, version string) http.Header {
	t.Helper()
	w := d.post(t.Context(), asJSON(), strings.Replace(initialize, "%s", version, 1))
	id := w.header.Get("Mcp-Session-Id")
	if w.status != http.StatusOK || id == "" {
		t.Fatalf("initialize: %d %s", w.status, w.text())
	}
	h := asJSON("Mcp-Session-Id", id)
	if w := d.post(t.Context(), h, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); w.status != http.StatusAccepted {
		t.Fatalf("initialized: %d %s", w.status, w.text())
	}
	return h
}

// written is an answer, and what was written after its end.
type written struct {
	header http.Header

	mu     sync.Mutex
	status int
	body   bytes.Buffer
	over   bool
	late   int // writes after the handler had returned
}

func (w *written) Header() http.Header { return w.header }

func (w *written) WriteHeader(status int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.status == 0 {
		w.status = status
	}
}

func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		w.late++
	}
	return w.body.Write(p)
}

func (w *written) Flush()                           {}
func (w *written) SetReadDeadline(time.Time) error  { return nil }
func (w *written) SetWriteDeadline(time.Time) error { return nil }

func (w *written) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
}

func (w *written) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.body.String()
}

// heap returns the bytes that are in use once all garbage is gone.
func heap() int64 {
	runtime.GC()
	runtime.GC() // pools give up what they hold in two steps
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
