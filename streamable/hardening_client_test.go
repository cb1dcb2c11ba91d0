package streamable_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/streamable"
)

// forbidden starts a server that counts who connects to it.
func forbidden(t *testing.T) (*httptest.Server, *atomic.Int32) {
	t.Helper()
	visitors := new(atomic.Int32)
	srv := httptest.NewUnstartedServer(http.NotFoundHandler())
	srv.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			visitors.Add(1)
		}
	}
	srv.Start()
	t.Cleanup(srv.Close)
	return srv, visitors
}

// R042: each kind of redirect, of each request that a session makes, leads to no
// connection, whatever secrets the request has; the error names it.
func TestR042NoConnectionFollowsARedirectOfASession(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			other, visitors := forbidden(t)
			away := func(w http.ResponseWriter) {
				w.Header().Set("Location", other.URL+"/stolen")
				w.WriteHeader(status)
			}
			asked, left := make(chan struct{}, 1), make(chan struct{}, 1)
			s := &sessionServer{
				get: func(w http.ResponseWriter, _ *http.Request) {
					away(w)
					asked <- struct{}{}
				},
				post: func(w http.ResponseWriter, r *http.Request, _ jsonrpc.Message) {
					if r.Header.Get("Mcp-Session-Id") != "s1" || r.Header.Get("Authorization") != "Bearer secret" || r.Header.Get("X-Api-Key") != "secret" {
						t.Errorf("the request has %v", r.Header)
					}
					away(w)
				},
				told: func(w http.ResponseWriter, r *http.Request, m jsonrpc.Message) {
					if m.Method == "notifications/initialized" {
						w.WriteHeader(http.StatusAccepted)
						return
					}
					away(w)
				},
			}
			d := dialTo(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodDelete {
					away(w)
					left <- struct{}{}
					return
				}
				s.ServeHTTP(w, r)
			}, &streamable.DialOptions{Header: http.Header{"Authorization": {"Bearer secret"}, "X-Api-Key": {"secret"}}})
			d.greet(s)
			receive(t, asked)
			for _, message := range []string{plainRequest(1, "tools/list"), notice("notifications/progress"), `{"jsonrpc":"2.0","id":"q","result":{}}`} {
				err := d.try(message)
				var redirect *streamable.RedirectError
				if !errors.As(err, &redirect) || redirect.To != other.URL+"/stolen" || !strings.Contains(err.Error(), other.URL) || strings.Contains(err.Error(), "secret") {
					t.Errorf("%s: %v", message, err)
				}
			}
			_ = d.Close()
			receive(t, left)
			if n := visitors.Load(); n != 0 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

// R042: neither do redirects of a stateless request, nor of the handshake, to
// whatever address.
func TestR042NoConnectionFollowsARedirectAnywhere(t *testing.T) {
	other, visitors := forbidden(t)
	_, port, _ := net.SplitHostPort(other.Listener.Addr().String())
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, to := range []string{
			"http://127.0.0.1:" + port, "https://127.0.0.1:" + port, "http://localhost:" + port, "http://[::ffff:127.0.0.1]:" + port, "http://127.1:" + port,
			"http://0x7f.1:" + port, "http://2130706433:" + port, "http://user:pass@127.0.0.1:" + port, "//127.0.0.1:" + port, "\\\\127.0.0.1:" + port, "HTTP://127.0.0.1:" + port,
		} {
			d := dialTo(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", to+"/stolen")
				w.WriteHeader(status)
			}, &streamable.DialOptions{Header: http.Header{"X-Api-Key": {"secret"}}})
			for _, message := range []string{selfDescribed(1, "tools/call", `"name":"x",`), hello(1)} {
				var redirect *streamable.RedirectError
				if err := d.try(message); !errors.As(err, &redirect) || redirect.Status != status {
					t.Errorf("%d to %s: %v", status, to, err)
				}
			}
		}
	}
	if n := visitors.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
}

// R043: an event without an end is given up at the cap, though each of its lines
// is short; comments without end cost nothing.
func TestR043EventsOfManyLinesAreCapped(t *testing.T) {
	d := dialTo(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m, _ := jsonrpc.Parse(body)
		line := map[string]string{"data": "data: xxxxxxxxxxxxxxxxxxxxxxxx\n", "comments": ": xxxxxxxxxxxxxxxxxxxxxxxx\n", "fields": "x: xxxxxxxxxxxxxxxxxxxxxxxx\n"}[m.Method]
		w.Header().Set("Content-Type", "text/event-stream")
		lines := strings.Repeat(line, 1000)
		for sent := 0; sent < 12<<20; sent += len(lines) {
			if _, err := io.WriteString(w, lines); err != nil {
				return
			}
		}
		_, _ = io.WriteString(w, "\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":"+m.ID.String()+",\"result\":{}}\n\n")
	}, &streamable.DialOptions{MaxMessage: 1 << 20})
	p := runPeer(t, d)
	for _, endless := range []string{"data", "fields"} {
		if err := p.Call(t.Context(), endless, describing{}, nil); !errors.Is(err, peer.ErrTooLong) {
			t.Errorf("%s without end: %v", endless, err)
		}
	}
	grown := watchMemory()
	if err := p.Call(t.Context(), "comments", describing{}, nil); err != nil {
		t.Errorf("comments without end: %v", err)
	}
	if peak := grown(); peak > 6<<20 {
		t.Errorf("comments cost %d KiB", peak>>10)
	}
}
