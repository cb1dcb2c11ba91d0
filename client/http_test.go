package client_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/streamable"
)

// overHTTP serves a handler until the test ends.
func overHTTP(t *testing.T, h mcp.Handler) (url string, endpoint *streamable.Endpoint) {
	t.Helper()
	endpoint = streamable.Handler(h, &streamable.Options{Logger: quiet})
	mux := http.NewServeMux()
	mux.Handle("/mcp", endpoint)
	mux.Handle("/sse", endpoint.SSE())
	srv := httptest.NewServer(mux)
	t.Cleanup(func() {
		_ = endpoint.Shutdown(context.WithoutCancel(t.Context()))
		srv.Close()
	})
	return srv.URL, endpoint
}

// brittle is a network on which the connection of each call breaks after the
// first event.
type brittle struct{ broke atomic.Int32 }

func (b *brittle) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && bytes.Contains(body, []byte(`"tools/call"`)) {
		b.broke.Add(1)
		res.Body = &torn{ReadCloser: res.Body}
	}
	return res, err
}

// torn is a response of which only the start can be read.
type torn struct {
	io.ReadCloser
	over bool
}

func (t *torn) Read(p []byte) (int, error) {
	if t.over {
		_ = t.Close()
		return 0, io.ErrUnexpectedEOF
	}
	t.over = true
	return t.ReadCloser.Read(p[:min(len(p), 64)])
}

func TestACallOutlivesItsConnection(t *testing.T) {
	s := server.New("slow", "1", nil)
	runs := 0
	server.Tool(s, "build", "Take long", func(context.Context, struct{}) (string, error) {
		runs++
		time.Sleep(50 * time.Millisecond)
		return "built", nil
	})
	endpoint := streamable.Handler(s, &streamable.Options{AlwaysStream: true, Retry: 100 * time.Millisecond, Logger: quiet})
	srv := httptest.NewServer(endpoint)
	t.Cleanup(func() {
		_ = endpoint.Shutdown(context.WithoutCancel(t.Context()))
		srv.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	network := &brittle{}
	d := streamable.Dial(srv.URL, &streamable.DialOptions{Client: &http.Client{Transport: network}, Logger: quiet})
	c := connect(t, d, &client.Options{Revision: client.EraHandshake, Logger: quiet})
	if said, err := client.Call[string](t.Context(), c, "build", nil); err != nil || said != "built" || runs != 1 || network.broke.Load() != 1 {
		t.Errorf("got %q, %v after %d runs on %d connections that broke", said, err, runs, network.broke.Load())
	}
}

func TestEverythingWorksOverHTTPInEachRevision(t *testing.T) {
	eachRevision(t, func(t *testing.T, rev *revision.Revision) {
		s := newEverything()
		url, _ := overHTTP(t, s)
		path := "/mcp"
		if !rev.Stateless && !rev.Sessions {
			path = "/sse"
		}
		opts := willing()
		opts.Revision = rev.Name
		opts.Sample = func(context.Context, *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Role: mcp.RoleAssistant, Model: "m", Content: mcp.Contents{mcp.Text("hello")}}, nil
		}
		opts.Elicit = func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: jsontext.Value(`{"name":"Ada"}`)}, nil
		}
		opts.Roots = func(context.Context) ([]mcp.Root, error) { return []mcp.Root{{URI: "file:///project"}}, nil }
		c := connect(t, streamable.Dial(url+path, &streamable.DialOptions{Logger: quiet}), opts)
		if info := c.Server(); info.Revision != rev.Name || info.Name != "everything" {
			t.Errorf("took the server for %+v", info)
		}
		if tools, err := client.Collect(c.Tools(t.Context())); err != nil || len(tools) != 5 {
			t.Errorf("tools: %v, %v", tools, err)
		}
		if got, err := client.Call[sum](t.Context(), c, "add", pair{2, 40}); err != nil || got.Result != 42 {
			t.Errorf("add: %v, %v", got, err)
		}
		var heard []float64
		if _, err := c.CallTool(t.Context(), "count", nil, &client.CallOptions{OnProgress: func(p *mcp.ProgressParams) { heard = append(heard, p.Progress) }}); err != nil || !slices.Equal(heard, []float64{1, 2, 3}) {
			t.Errorf("count: %v, %v", heard, err)
		}
		if rev.Structured {
			if said, err := client.Call[string](t.Context(), c, "ask", nil); err != nil || said != `accept {"name":"Ada","age":30} hello file:///project` {
				t.Errorf("ask: %q, %v", said, err)
			}
		}
		events := make(ear, 10)
		if _, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ToolsListChanged: true, ResourceSubscriptions: []string{"note://1"}}, events.hear); err != nil {
			t.Fatal(err)
		}
		addTool(s, "new")
		events.want(t, toolsChanged)
		s.ResourceUpdated("note://1")
		events.want(t, noteUpdated)
		ctx, cancel := context.WithCancel(t.Context())
		_, err := c.CallTool(ctx, "wait", nil, &client.CallOptions{Timeout: 1})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("wait: %v", err)
		}
		cancel()
		if err := c.Ping(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestParametersAreRepeatedInHeaders(t *testing.T) {
	s := server.New("router", "1", nil)
	s.AddTool(mcp.Tool{Name: "route"}, server.Raw(
		jsontext.Value(`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`), nil,
		func(_ context.Context, _ *mcp.Call, arguments jsontext.Value) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: mcp.Contents{mcp.Text(string(arguments))}}, nil
		}))
	endpoint := streamable.Handler(s, nil)
	var last atomic.Pointer[http.Header]
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := r.Header.Clone()
		last.Store(&header)
		endpoint.ServeHTTP(w, r)
	}))
	defer srv.Close()
	c := connect(t, streamable.Dial(srv.URL, nil), nil)
	// The tools were not listed: the server refuses, the client looks, and asks again.
	if _, err := c.CallTool(t.Context(), "route", map[string]string{"region": "Köln"}, nil); err != nil {
		t.Fatal(err)
	}
	if got := last.Load().Get("Mcp-Param-Region"); got != "=?base64?S8O2bG4=?=" {
		t.Errorf("the header is %q", got)
	}
}

func TestALostSessionIsOpenedAnewR045(t *testing.T) {
	var sessions atomic.Int32
	var endpoint atomic.Pointer[streamable.Endpoint]
	endpoint.Store(streamable.Handler(newAdder(), nil))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.Header.Get("Mcp-Session-Id") == "" {
			sessions.Add(1)
		}
		endpoint.Load().ServeHTTP(w, r)
	}))
	defer srv.Close()
	c := connect(t, streamable.Dial(srv.URL, &streamable.DialOptions{Logger: quiet}), &client.Options{Revision: "handshake"})
	for range 3 {
		for range 2 {
			if got, err := client.Call[sum](t.Context(), c, "add", pair{2, 40}); err != nil || got.Result != 42 {
				t.Fatalf("add: %v, %v", got, err)
			}
		}
		old := endpoint.Swap(streamable.Handler(newAdder(), nil)) // knows no session
		_ = old.Shutdown(t.Context())
	}
	if got := sessions.Load(); got != 3 {
		t.Errorf("%d sessions were opened", got)
	}
}
