package load_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/bench/load"
)

// lounge is a server for idle clients. Streams begin with these words.
func lounge(t *testing.T, words string) (h *load.HTTP, streams *atomic.Int64) {
	t.Helper()
	streams = new(atomic.Int64)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case strings.Contains(string(body), `"initialize"`):
			w.Header().Set("Mcp-Session-Id", "one")
			_, _ = io.WriteString(w, right(asked{ID: []byte("1"), Method: "initialize"})[0])
		case r.Method == http.MethodPost && !strings.Contains(string(body), "listen"):
			w.WriteHeader(http.StatusAccepted)
		case words == "":
			http.Error(w, "full", http.StatusServiceUnavailable)
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, words)
			_ = http.NewResponseController(w).Flush()
			streams.Add(1)
			<-r.Context().Done()
			streams.Add(-1)
		}
	}))
	t.Cleanup(srv.Close)
	h, err := load.OpenHTTP(srv.Listener.Addr().String(), load.Legacy)
	if err != nil {
		t.Fatal(err)
	}
	return h, streams
}

const acknowledged = "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\"}\n\n"

func TestIdleClientsStayUntilTheyAreClosed(t *testing.T) {
	for name, open := range map[string]func(*load.HTTP) (*load.Idle, error){
		"sessions with streams": func(h *load.HTTP) (*load.Idle, error) { return h.Sessions(20, true) },
		"listeners":             func(h *load.HTTP) (*load.Idle, error) { return h.Listeners(20) },
	} {
		t.Run(name, func(t *testing.T) {
			h, streams := lounge(t, acknowledged)
			idle, err := open(h)
			if err != nil {
				t.Fatal(err)
			}
			await(t, func() bool { return streams.Load() == 20 })
			idle.Close()
			await(t, func() bool { return streams.Load() == 0 })
		})
	}
	t.Run("sessions alone", func(t *testing.T) {
		h, streams := lounge(t, acknowledged)
		idle, err := h.Sessions(20, false)
		if err != nil || streams.Load() != 0 {
			t.Errorf("%d streams, error %v; want none", streams.Load(), err)
		}
		idle.Close()
	})
}

// await waits until the server has noticed.
func await(t *testing.T, done func() bool) {
	t.Helper()
	for limit := time.Now().Add(10 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("the server did not notice within 10 s")
		}
	}
}

func TestServersThatTurnIdleClientsAwayAreCaught(t *testing.T) {
	h, _ := lounge(t, "")
	if idle, err := h.Sessions(3, true); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("sessions: error %v, want one with the status", err)
	} else {
		idle.Close()
	}
	if idle, err := h.Listeners(3); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("listeners: error %v, want one with the status", err)
	} else {
		idle.Close()
	}
}
