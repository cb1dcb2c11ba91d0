package streamable_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
	"github.com/bossman-mcp/bossman/streamable"
)

// mirrored is a handler with a tool that has a parameter in a header.
type mirrored struct{ mcp.HandlerFunc }

func (mirrored) HeaderParams(tool string) []mcp.HeaderParam {
	if tool != "sql" {
		return nil
	}
	return []mcp.HeaderParam{{Name: "Region", Path: []string{"region"}, Type: "string"}}
}

// answerer is a handler that does what the tool's name says.
func answerer(ctx context.Context, c *mcp.Call) (any, error) {
	switch c.Method {
	case mcp.MethodDiscover:
		return &mcp.DiscoverResult{SupportedVersions: revision.Stateless()}, nil
	case mcp.MethodSubscriptionsListen:
		return &mcp.Subscription{Stop: func() {}}, nil
	case mcp.MethodCallTool:
		return answerTool(ctx, c)
	}
	return nil, jsonrpc.MethodNotFound(c.Method)
}

func answerTool(ctx context.Context, c *mcp.Call) (any, error) {
	text := ""
	switch name := jsonscan.Unquote(jsonscan.Get(c.Params, "name")); name {
	case "progress", "release":
		for i := range 3 {
			if err := c.Progress(ctx, float64(i+1), 3, ""); err != nil {
				return nil, err
			}
			if name == "release" && i == 1 {
				c.Release()
			}
		}
	case "ask":
		roots, err := c.Roots("roots")
		if err != nil {
			return nil, err
		}
		text = roots.Roots[0].URI
	case "wait":
		<-ctx.Done()
		return nil, ctx.Err()
	case "fail":
		return nil, &jsonrpc.Error{Code: 7, Message: "no"}
	}
	return &mcp.CallToolResult{Content: mcp.Contents{&mcp.TextContent{Text: text}}}, nil
}

// caller is a client of little brain: a peer that counts notifications and knows
// one root.
type caller struct {
	*peer.Peer
	transport peer.Transport

	mu      sync.Mutex
	notices []string
	noticed chan string
}

func (c *caller) Answer(_ context.Context, r *peer.Request) (any, error) {
	if r.Method != mcp.MethodListRoots {
		return nil, jsonrpc.MethodNotFound(r.Method)
	}
	return jsontext.Value(`{"roots":[{"uri":"file:///home"}]}`), nil
}

func (c *caller) Notice(_ context.Context, method string, _ []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notices = append(c.notices, method)
	select {
	case c.noticed <- method:
	default:
	}
}

// heard returns the notifications so far and forgets them.
func (c *caller) heard() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.notices
	c.notices = nil
	return all
}

// callEndpoint serves an endpoint of ours at /mcp and /sse and connects to a path.
func callEndpoint(t *testing.T, path string, opts *streamable.DialOptions) (*caller, *streamable.Endpoint) {
	t.Helper()
	e := streamable.Handler(mirrored{answerer}, &streamable.Options{Retry: time.Millisecond, Logger: slog.New(slog.DiscardHandler)})
	mux := http.NewServeMux()
	mux.Handle("/mcp", e)
	mux.Handle("/sse", e.SSE())
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	d := dialURL(t, srv.URL+path, opts)
	c := &caller{transport: d.Transport, noticed: make(chan string, 10)}
	c.Peer = peer.New(d.Transport, c, nil)
	over := make(chan error, 1)
	go func() { over <- c.Run(context.Background()) }() // awaited below
	t.Cleanup(func() {
		_ = c.Peer.Close()
		if err := <-over; err != nil {
			t.Errorf("Run: %v", err)
		}
		if got := e.Stats(); got.Sessions != 0 && path == "/mcp" { // elsewhere it ends when the server notices
			t.Errorf("%d sessions are left", got.Sessions)
		}
		shutdown(t, e)
	})
	return c, e
}

// toolCall returns the params of a call in either era.
func toolCall(name string, stateless bool) jsontext.Value {
	meta := `"progressToken":1`
	if stateless {
		meta += fmt.Sprintf(`,%q:%q,%q:{"roots":{}}`, mcp.MetaProtocolVersion, revision.Newest().Name, mcp.MetaClientCapabilities)
	}
	return jsontext.Value(fmt.Sprintf(`{"name":%q,"arguments":{"region":"west ","n":1},"_meta":{%s}}`, name, meta))
}

// handshake opens a session in a revision.
func (c *caller) handshake(t *testing.T, rev *revision.Revision) {
	t.Helper()
	var welcome mcp.InitializeResult
	params := fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}}`, rev.Name)
	if err := c.Call(t.Context(), mcp.MethodInitialize, jsontext.Value(params), &welcome); err != nil {
		t.Fatal(err)
	}
	if welcome.ProtocolVersion != rev.Name {
		t.Fatalf("agreed on %s", welcome.ProtocolVersion)
	}
	if err := c.Notify(t.Context(), mcp.NotificationInitialized, nil); err != nil {
		t.Fatal(err)
	}
}

func TestBothHalvesUnderstandEachOther(t *testing.T) {
	t.Run("in the stateless era", func(t *testing.T) {
		c, _ := callEndpoint(t, "/mcp", nil)
		checkCalls(t, c, true)
		var theirs *jsonrpc.Error
		if err := c.Call(t.Context(), mcp.MethodCallTool, toolCall("sql", true), nil); !errors.As(err, &theirs) || theirs.Code != mcp.CodeHeaderMismatch {
			t.Errorf("without its header: %v", err)
		}
		c.transport.(toolHeaders).SetToolHeaders("sql", map[string]string{"/region": "Region"})
		if err := c.Call(t.Context(), mcp.MethodCallTool, toolCall("sql", true), nil); err != nil {
			t.Errorf("with its header: %v", err)
		}
	})
	for _, rev := range handshakeNames() {
		t.Run("in a session of "+rev.Name, func(t *testing.T) {
			c, e := callEndpoint(t, "/mcp", nil)
			c.handshake(t, rev)
			checkCalls(t, c, false)
			if e.Stats().Sessions != 1 {
				t.Errorf("%d sessions", e.Stats().Sessions)
			}
		})
		for _, straight := range []bool{false, true} {
			t.Run(fmt.Sprintf("in HTTP with SSE of %s, found by itself: %v", rev.Name, !straight), func(t *testing.T) {
				c, _ := callEndpoint(t, "/sse", &streamable.DialOptions{SSE: straight})
				if err := c.Call(t.Context(), mcp.MethodDiscover, describing{}, nil); err == nil {
					t.Error("the probe was answered")
				}
				c.handshake(t, rev)
				checkCalls(t, c, false)
			})
		}
	}
}

// checkCalls makes calls of every kind.
func checkCalls(t *testing.T, c *caller, stateless bool) {
	t.Helper()
	for _, name := range []string{"plain", "progress", "release"} {
		if err := c.Call(t.Context(), mcp.MethodCallTool, toolCall(name, stateless), nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		want := []string{mcp.NotificationProgress, mcp.NotificationProgress, mcp.NotificationProgress}
		if name == "plain" {
			want = nil
		}
		if got := c.heard(); !slices.Equal(got, want) {
			t.Errorf("%s: heard %v", name, got)
		}
	}
	var result mcp.CallToolResult
	if !stateless {
		if err := c.Call(t.Context(), mcp.MethodCallTool, toolCall("ask", stateless), &result); err != nil || result.Content[0].(*mcp.TextContent).Text != "file:///home" {
			t.Errorf("ask: %v, %v", result, err)
		}
	}
	var theirs *jsonrpc.Error
	if err := c.Call(t.Context(), mcp.MethodCallTool, toolCall("fail", stateless), nil); !errors.As(err, &theirs) || theirs.Code != 7 {
		t.Errorf("fail: %v", err)
	}
	if err := c.Call(t.Context(), "no/such", toolCall("", stateless), nil); !errors.As(err, &theirs) || theirs.Code != jsonrpc.CodeMethodNotFound {
		t.Errorf("no/such: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan error, 1)
	go func() { waiting <- c.Call(ctx, mcp.MethodCallTool, toolCall("wait", stateless), nil) }() // awaited below
	cancel()
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Errorf("wait: %v", err)
	}
	var calls sync.WaitGroup
	for range 50 {
		calls.Go(func() {
			if err := c.Call(t.Context(), mcp.MethodCallTool, toolCall("progress", stateless), nil); err != nil {
				t.Errorf("at once: %v", err)
			}
		})
	}
	calls.Wait()
	if got := len(c.heard()); got != 150 {
		t.Errorf("at once: heard %d", got)
	}
}

func TestASubscriptionStaysOpenBesideOtherCalls(t *testing.T) {
	c, e := callEndpoint(t, "/mcp", nil)
	ctx, cancel := context.WithCancel(t.Context())
	listening := make(chan error, 1)
	go func() { listening <- c.Call(ctx, mcp.MethodSubscriptionsListen, toolCall("", true), nil) }() // awaited below
	if got := <-c.noticed; got != mcp.NotificationSubscriptionsAcknowledged {
		t.Errorf("heard %s", got)
	}
	c.heard()
	checkCalls(t, c, true)
	if e.Stats().Streams != 1 {
		t.Errorf("%d streams", e.Stats().Streams)
	}
	cancel()
	if err := <-listening; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
