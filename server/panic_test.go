package server_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
	"github.com/bossman-mcp/bossman/mcptest"
	"github.com/bossman-mcp/bossman/server"
)

// secret is what panics are about. No client may read it.
const secret = "secret of the handler"

// grumpy is a value that panics when it is looked at.
type grumpy struct{}

func (grumpy) Error() string                { panic(secret) }
func (grumpy) String() string               { panic(secret) }
func (grumpy) MarshalJSON() ([]byte, error) { panic(secret) }

// fail panics in as many ways as there are; n picks one.
func fail(n int64) {
	switch n % 6 {
	case 0:
		panic(secret)
	case 1:
		panic(errors.New(secret))
	case 2:
		panic(fmt.Sprint(*(*int)(nil)))
	case 3:
		panic(nil)
	case 4:
		panic(jsonrpc.InvalidParams(secret)) // an error that travels, but not like this
	}
	panic(grumpy{})
}

// panicking is a server with a handler of every kind that panics, and with a
// tool that does not.
func panicking(log *slog.Logger) *server.Server {
	s := server.New("panicking", "1", &server.Options{Logger: log})
	var n atomic.Int64
	next := func() { fail(n.Add(1)) }
	server.Tool(s, "good", "", func(_ context.Context, in struct {
		Text string `json:"text"`
	}) (string, error) {
		return in.Text, nil
	})
	server.Tool(s, "bad", "", func(context.Context, struct{}) (string, error) {
		next()
		return "", nil
	})
	s.AddResource(mcp.Resource{URI: "bad://resource", Name: "bad"}, func(context.Context, *mcp.Call, server.ReadRequest) ([]mcp.ResourceContents, error) {
		next()
		return nil, nil
	})
	s.AddTemplate(mcp.ResourceTemplate{URITemplate: "bad://template/{id}", Name: "bad"}, func(context.Context, *mcp.Call, server.ReadRequest) ([]mcp.ResourceContents, error) {
		next()
		return nil, nil
	})
	s.AddPrompt(mcp.Prompt{Name: "bad"}, func(context.Context, *mcp.Call, map[string]string) (*mcp.GetPromptResult, error) {
		next()
		return nil, nil
	})
	s.CompletePrompt("bad", func(context.Context, *mcp.Call, server.CompleteRequest) ([]string, error) {
		next()
		return nil, nil
	})
	s.Method("bad/method", func(context.Context, *mcp.Call) (any, error) {
		next()
		return nil, nil
	})
	s.Method("bad/result", func(context.Context, *mcp.Call) (any, error) { return grumpy{}, nil })
	s.Method("bad/error", func(context.Context, *mcp.Call) (any, error) { return nil, grumpy{} })
	s.Use(func(inner mcp.Handler) mcp.Handler {
		return mcp.HandlerFunc(func(ctx context.Context, c *mcp.Call) (any, error) {
			if c.Method == "bad/middleware" || c.Method == mcp.MethodSubscriptionsListen { // the latter also when a client says that it is ready
				next()
			}
			return inner.Handle(ctx, c)
		})
	})
	return s
}

// failing are requests whose handlers panic, by method, with the params beside
// _meta.
var failing = []struct{ kind, method, params string }{
	{"a tool", mcp.MethodCallTool, `"name":"bad"`},
	{"a resource", mcp.MethodReadResource, `"uri":"bad://resource"`},
	{"a resource of a template", mcp.MethodReadResource, `"uri":"bad://template/7"`},
	{"a prompt", mcp.MethodGetPrompt, `"name":"bad"`},
	{"a completion", mcp.MethodComplete, `"ref":{"type":"ref/prompt","name":"bad"},"argument":{"name":"a","value":"b"}`},
	{"a method", "bad/method", ``},
	{"a result that is written", "bad/result", ``},
	{"an error that is written", "bad/error", ``},
	{"middleware", "bad/middleware", ``},
	{"middleware of a subscription", mcp.MethodSubscriptionsListen, `"notifications":{"toolsListChanged":true}`},
}

// requestLine writes a request in either era.
func requestLine(id, method, params string, stateless bool) string {
	if stateless {
		meta := fmt.Sprintf(`"_meta":{%q:%q,%q:{}}`, mcp.MetaProtocolVersion, revision.Newest().Name, mcp.MetaClientCapabilities)
		params = strings.TrimSuffix(meta+","+params, ",")
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + params + `}}`
}

// R017: a panic costs its own call and nothing else, a thousand times, 64 at
// once, in both eras.
func TestR017Panics(t *testing.T) {
	for _, era := range []string{"handshake", "stateless"} {
		t.Run(era, func(t *testing.T) {
			before := runtime.NumGoroutine()
			t.Run("serving", func(t *testing.T) { storm(t, era == "stateless") })
			for until := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
				if time.Now().After(until) {
					t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
				}
			}
		})
	}
}

// storm sends a thousand requests that panic, a hundred of each kind, and as many
// good ones in between, never more than 64 in flight.
func storm(t *testing.T, stateless bool) {
	const times, atOnce = 100, 64
	var heard atomic.Int64
	log := slog.New(slog.NewTextHandler(counter{&heard, "handler panicked"}, nil))
	c := mcptest.Connect(t, panicking(log), &mcptest.Options{Logger: log})
	if !stateless {
		c.Handshake("")
	}
	room := make(chan struct{}, atOnce)
	total := times * len(failing)
	go func() { // ends when the test has received every answer
		for n := range total {
			f := failing[n%len(failing)]
			room <- struct{}{}
			room <- struct{}{}
			if !stateless && f.method == mcp.MethodSubscriptionsListen {
				f.method = "bad/middleware"
			}
			c.Send(requestLine(fmt.Sprintf(`"bad %d"`, n), f.method, f.params, stateless))
			c.Send(requestLine(fmt.Sprintf(`"good %d"`, n), mcp.MethodCallTool, fmt.Sprintf(`"name":"good","arguments":{"text":"%d"}`, n), stateless))
		}
	}()
	seen := make(map[string]bool)
	for range 2 * total {
		text := c.Receive()
		<-room
		m, err := jsonrpc.Parse([]byte(text))
		if err != nil || seen[m.ID.String()] {
			t.Fatalf("%v, or answered twice: %s", err, text)
		}
		seen[m.ID.String()] = true
		var n int
		switch {
		case scan(m.ID, `"good %d"`, &n):
			if m.Error != nil || !strings.Contains(text, fmt.Sprintf(`"text":"%d"`, n)) {
				t.Fatalf("a good call got %s", text)
			}
		case scan(m.ID, `"bad %d"`, &n):
			if m.Error == nil || m.Error.Code != jsonrpc.CodeInternalError {
				t.Fatalf("a panic in %s got %s", failing[n%len(failing)].kind, text)
			}
			if strings.Contains(text, "secret") || strings.Contains(text, "goroutine") || strings.Contains(text, "nil pointer") {
				t.Fatalf("the client reads what only the log may say: %s", text)
			}
		default:
			t.Fatalf("came besides: %s", text)
		}
	}
	if _, err := c.Request(mcp.MethodListTools, nil); err != nil {
		t.Errorf("after all that: %v", err)
	}
	c.Close()
	if want := int64(total - times); heard.Load() < want { // an error that cannot be written is logged as such
		t.Errorf("%d panics are in the log, want %d", heard.Load(), want)
	}
}

func scan(id jsonrpc.ID, format string, n *int) bool {
	got, err := fmt.Sscanf(id.String(), format, n)
	return got == 1 && err == nil
}

// counter counts the lines of a log that hold a phrase.
type counter struct {
	n      *atomic.Int64
	phrase string
}

func (c counter) Write(p []byte) (int, error) {
	if strings.Contains(string(p), c.phrase) {
		c.n.Add(1)
	}
	return len(p), nil
}

// R017: a panic while a notification is taken. What a client says after its
// handshake reaches the middleware as a subscription, once in a connection.
func TestR017NotificationHandlers(t *testing.T) {
	const times = 1000
	var heard atomic.Int64
	log := slog.New(slog.NewTextHandler(counter{&heard, "method=" + mcp.NotificationInitialized}, nil))
	s := panicking(log)
	for range times {
		c := mcptest.Connect(t, s, &mcptest.Options{Logger: log})
		c.Handshake("")
		if _, err := c.Request(mcp.MethodListTools, nil); err != nil {
			t.Fatalf("after the notification: %v", err)
		}
		c.Close()
	}
	if heard.Load() != times {
		t.Errorf("%d panics are in the log, want %d", heard.Load(), times)
	}
}

// R017: each kind by itself, so that a failure has a name.
func TestR017EachKindOfHandler(t *testing.T) {
	quietly := slog.New(slog.DiscardHandler)
	for _, f := range failing {
		t.Run(f.kind, func(t *testing.T) {
			c := mcptest.Connect(t, panicking(quietly), &mcptest.Options{Logger: quietly})
			for range 12 { // every way to panic, twice
				_, err := c.Request(f.method, jsontext.Value("{"+f.params+"}"))
				var wire *jsonrpc.Error
				if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInternalError || strings.Contains(wire.Message, "secret") {
					t.Errorf("got %v", err)
				}
			}
			if result, err := c.Request(mcp.MethodCallTool, jsontext.Value(`{"name":"good","arguments":{"text":"fine"}}`)); err != nil || !strings.Contains(string(result), "fine") {
				t.Errorf("afterwards: %s, %v", result, err)
			}
		})
	}
}
