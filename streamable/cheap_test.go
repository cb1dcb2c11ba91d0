package streamable_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/streamable"
)

// A call may cost this much, and no more, in an endpoint and what is behind it.
// What net/http spends on the connection is not counted.
var mostOfACall = map[string]struct{ allocs, bytes uint64 }{
	"stateless": {7, 1200},
	"session":   {8, 1050},
}

func TestOneCallOverHTTPIsCheap(t *testing.T) {
	if info, ok := debug.ReadBuildInfo(); !ok || slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("the race detector allocates too")
	}
	for era, most := range mostOfACall {
		t.Run(era, func(t *testing.T) {
			e := streamable.Handler(adder(), nil)
			defer shutdown(t, e)
			call := callInPlace(t, e, era)
			allocs, bytes := costOf(call)
			t.Logf("%d allocations, %d bytes a call", allocs, bytes)
			if allocs > most.allocs || bytes > most.bytes {
				t.Errorf("a call costs %d allocations and %d bytes; at most %d and %d are allowed",
					allocs, bytes, most.allocs, most.bytes)
			}
		})
	}
}

// callInPlace returns a function that sends one call of add to an endpoint without
// a connection. By itself it allocates next to nothing.
func callInPlace(t testing.TB, e *streamable.Endpoint, era string) func() {
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	text := modernAdd
	if era == "stateless" {
		header["Mcp-Protocol-Version"] = []string{newest}
		header["Mcp-Method"], header["Mcp-Name"] = []string{"tools/call"}, []string{"add"}
	} else {
		text = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}}`
		header["Mcp-Session-Id"] = []string{joinInPlace(t, e, header)}
		header["Mcp-Protocol-Version"] = []string{lastSession}
	}
	body := strings.NewReader(text)
	r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
	r.Header = header
	w := &discarded{header: make(http.Header)}
	return func() {
		body.Reset(text)
		r.Body, r.ContentLength = io.NopCloser(body), int64(len(text))
		e.ServeHTTP(w, r)
		if w.status != http.StatusOK {
			t.Fatalf("status %d, want 200", w.status)
		}
	}
}

// joinInPlace opens a session and returns its id.
func joinInPlace(t testing.TB, e *streamable.Endpoint, header http.Header) string {
	id := ""
	for _, text := range []string{fmt.Sprintf(initialize, lastSession), `{"jsonrpc":"2.0","method":"notifications/initialized"}`} {
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(text))
		r.Header = header.Clone()
		if id != "" {
			r.Header.Set("Mcp-Session-Id", id)
		}
		w := httptest.NewRecorder()
		e.ServeHTTP(w, r)
		if w.Code >= 300 {
			t.Fatalf("%s: status %d: %s", text, w.Code, w.Body)
		}
		if id == "" {
			id = w.Header().Get("Mcp-Session-Id")
		}
	}
	return id
}

// costOf counts the allocations and bytes of one call, once pools are filled.
func costOf(call func()) (allocs, bytes uint64) {
	const calls = 2000
	for range calls {
		call()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range calls {
		call()
	}
	runtime.ReadMemStats(&after)
	return (after.Mallocs - before.Mallocs) / calls, (after.TotalAlloc - before.TotalAlloc) / calls
}

// mostOfAStream is how many bytes an idle stream may weigh, with both sides of its
// connection, which are in one process here.
const mostOfAStream = 2000

func TestAnIdleStreamIsCheap(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("net/http's side of the connection stays in memory here")
	}
	const count = 1000
	r := run(t, adder(), nil, loopback(t), nil)
	conns := []net.Conn{r.dial(t, listenRequest)}
	r.wantStreams(t, 1, 1)
	before := heap()
	for len(conns) <= count {
		conns = append(conns, r.dial(t, listenRequest))
	}
	r.wantStreams(t, count+1, count+1)
	each := (heap() - before) / count
	t.Logf("%d bytes", each)
	if each > mostOfAStream {
		t.Errorf("a stream weighs %d bytes, at most %d are allowed", each, mostOfAStream)
	}
	runtime.KeepAlive(conns)
}
