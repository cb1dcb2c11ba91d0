package client_test

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

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
	"github.com/bossman-mcp/bossman/streamable"
)

// olderServer answers what describes itself with a refusal of its own, and all
// else as a server with sessions.
func olderServer(t *testing.T, status int, contentType, body string) (url string, initialized *atomic.Int32) {
	t.Helper()
	endpoint := streamable.Handler(newAdder(), &streamable.Options{Logger: quiet})
	initialized = new(atomic.Int32)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		m, _ := jsonrpc.Parse(text)
		if m.Method == mcp.MethodInitialize {
			initialized.Add(1)
		}
		if bytes.Contains(text, []byte(mcp.MetaProtocolVersion)) || r.Method == http.MethodPost && r.Header.Get("Mcp-Method") != "" {
			if contentType != "" {
				w.Header().Set("Content-Type", contentType)
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, strings.Replace(body, "ID", m.ID.String(), 1))
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(text))
		endpoint.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		_ = endpoint.Shutdown(context.WithoutCancel(t.Context()))
		srv.Close()
	})
	return srv.URL, initialized
}

// R045: a client of both eras falls back on any 4xx whose body is no modern error,
// and on no other.
func TestR045RefusalsOfOlderServersLeadToTheHandshake(t *testing.T) {
	const plain, page, asJSON = "text/plain", "text/html", "application/json"
	for _, status := range []int{400, 404, 405} {
		for name, c := range map[string]struct{ contentType, body string }{
			"without a body":               {"", ""},
			"with a text":                  {plain, "Bad Request: Mcp-Session-Id header is required"},
			"with a page":                  {page, "<h1>Cannot POST /mcp</h1>"},
			"with JSON of its own":         {asJSON, `{"detail":"not found"}`},
			"with an error of its own":     {asJSON, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: Server not initialized"}}`},
			"with an error that it shares": {asJSON, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32600,"message":"unsupported protocol version"}}`},
			"with an unknown method":       {asJSON, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"Method not found"}}`},
			"with half an error":           {asJSON, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32022`},
		} {
			t.Run(fmt.Sprint(status, " ", name), func(t *testing.T) {
				url, initialized := olderServer(t, status, c.contentType, c.body)
				cl := connect(t, streamable.Dial(url, &streamable.DialOptions{Logger: quiet}), nil)
				if got := cl.Server().Revision; got != revision.NewestHandshake().Name {
					t.Errorf("took the server for one of %s", got)
				}
				if got, err := client.Call[sum](t.Context(), cl, "add", pair{2, 40}); err != nil || got.Result != 42 {
					t.Errorf("add: %v, %v", got, err)
				}
				if n := initialized.Load(); n != 1 {
					t.Errorf("initialize was sent %d times", n)
				}
			})
		}
		for _, code := range []int{mcp.CodeHeaderMismatch, mcp.CodeMissingCapability} {
			t.Run(fmt.Sprint(status, " with the modern error ", code), func(t *testing.T) {
				url, initialized := olderServer(t, status, asJSON, fmt.Sprintf(`{"jsonrpc":"2.0","id":ID,"error":{"code":%d,"message":"no"}}`, code))
				_, err := client.Connect(t.Context(), streamable.Dial(url, &streamable.DialOptions{Logger: quiet}), nil)
				var theirs *jsonrpc.Error
				if !errors.As(err, &theirs) || theirs.Code != code {
					t.Errorf("got %v", err)
				}
				if n := initialized.Load(); n != 0 {
					t.Errorf("initialize was sent %d times", n)
				}
			})
		}
	}
}

// R045: a call that may have been carried out is not sent again when its
// connection breaks, in either era.
func TestR045ACallWhoseConnectionBreaksIsNotSentAgain(t *testing.T) {
	for _, era := range []string{"", "handshake"} {
		t.Run("era "+era, func(t *testing.T) {
			endpoint := streamable.Handler(newAdder(), &streamable.Options{Logger: quiet})
			var arrived atomic.Int32
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				text, _ := io.ReadAll(r.Body)
				if bytes.Contains(text, []byte(`"tools/call"`)) {
					if arrived.Add(1)%2 == 1 { // every other one
						panic(http.ErrAbortHandler)
					}
				}
				r.Body = io.NopCloser(bytes.NewReader(text))
				endpoint.ServeHTTP(w, r)
			}))
			defer srv.Close()
			defer func() { _ = endpoint.Shutdown(context.WithoutCancel(t.Context())) }()
			c := connect(t, streamable.Dial(srv.URL, &streamable.DialOptions{Logger: quiet}), &client.Options{Revision: era})
			for i := range 20 {
				_, err := client.Call[sum](t.Context(), c, "add", pair{2, 40})
				if broken := i%2 == 0; (err != nil) != broken {
					t.Errorf("call %d: %v", i, err)
				}
				if n := arrived.Load(); n != int32(i+1) {
					t.Fatalf("after %d calls %d had arrived", i+1, n)
				}
			}
		})
	}
}
