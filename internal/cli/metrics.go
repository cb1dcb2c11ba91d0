package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/streamable"
)

// metrics counts what a server does, in Prometheus's terms.
type metrics struct {
	mu    sync.Mutex
	calls map[callLabels]*callFigures
}

type callLabels struct{ method, outcome string }

type callFigures struct {
	count   int64
	seconds float64
}

func newMetrics() *metrics { return &metrics{calls: make(map[callLabels]*callFigures)} }

// middleware counts Calls.
func (m *metrics) middleware(next mcp.Handler) mcp.Handler {
	return mcp.HandlerFunc(func(ctx context.Context, c *mcp.Call) (any, error) {
		start := time.Now()
		outcome := "panic" // unless the handler returns
		defer func() { m.note(callLabels{label(c.Method), outcome}, time.Since(start)) }()
		result, err := next.Handle(ctx, c)
		outcome = "ok"
		if r, ok := result.(*mcp.CallToolResult); err != nil || ok && r.IsError {
			outcome = "error"
		}
		return result, err
	})
}

// label is a method as a label: strangers must not choose how many there are.
func label(method string) string {
	switch method {
	case mcp.MethodDiscover, mcp.MethodListTools, mcp.MethodCallTool, mcp.MethodSubscriptionsListen,
		"getNextTask", "reportTaskDone", "askQuestion":
		return method
	}
	return "other"
}

func (m *metrics) note(labels callLabels, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	figures := m.calls[labels]
	if figures == nil {
		figures = &callFigures{}
		m.calls[labels] = figures
	}
	figures.count++
	figures.seconds += took.Seconds()
}

// handler serves the figures as text.
func (m *metrics) handler(e *streamable.Endpoint) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		m.write(w)
		stats := e.Stats()
		gauge(w, "bossman_sessions", "Open sessions of clients that shake hands.", stats.Sessions)
		gauge(w, "bossman_streams", "Open event streams.", stats.Streams)
		gauge(w, "bossman_goroutines", "Goroutines.", runtime.NumGoroutine())
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		gauge(w, "bossman_heap_bytes", "Bytes in use on the heap.", memory.HeapAlloc)
		fmt.Fprintf(w, "# HELP bossman_info Which bossman this is.\n# TYPE bossman_info gauge\nbossman_info{version=%q} 1\n", Version)
	})
}

func (m *metrics) write(w io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rows := slices.SortedFunc(maps.Keys(m.calls), func(a, b callLabels) int {
		return slices.Compare([]string{a.method, a.outcome}, []string{b.method, b.outcome})
	})
	fmt.Fprint(w, "# HELP bossman_calls_total Requests answered.\n# TYPE bossman_calls_total counter\n")
	for _, row := range rows {
		fmt.Fprintf(w, "bossman_calls_total{method=%q,outcome=%q} %d\n", row.method, row.outcome, m.calls[row].count)
	}
	fmt.Fprint(w, "# HELP bossman_call_seconds_total Time spent on them.\n# TYPE bossman_call_seconds_total counter\n")
	for _, row := range rows {
		fmt.Fprintf(w, "bossman_call_seconds_total{method=%q,outcome=%q} %g\n", row.method, row.outcome, m.calls[row].seconds)
	}
}

func gauge[N int | uint64](w io.Writer, name, help string, value N) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s gauge\n%s %d\n", name, help, name, name, value)
}
