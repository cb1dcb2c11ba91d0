package streamable_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/streamable"
)

// listen opens a subscription. The filter is a JSON object.
func (s *site) listen(id, filter string) *events {
	s.t.Helper()
	body := strings.Replace(modernBody("subscriptions/listen", `"notifications":`+filter), `"id":1`, `"id":`+id, 1)
	return s.stream(http.MethodPost, body, modernHeaders("subscriptions/listen", "")...)
}

// watched is a bench with a prompt and two resources.
func watched() *bench {
	b := newBench()
	b.addPrompt("p")
	for _, uri := range []string{"test://a", "test://b"} {
		b.AddResource(mcp.Resource{URI: uri, Name: uri}, func(context.Context, *mcp.Call, server.ReadRequest) ([]mcp.ResourceContents, error) {
			return nil, nil
		})
	}
	return b
}

func (b *bench) addPrompt(name string) {
	b.AddPrompt(mcp.Prompt{Name: name}, func(context.Context, *mcp.Call, map[string]string) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{}, nil
	})
}

// wantMarked checks a notification's method and subscription.
func wantMarked(t testing.TB, m wire, method, id string) {
	t.Helper()
	if m.Method != method || !strings.Contains(string(m.Params), `"_meta":{"io.modelcontextprotocol/subscriptionId":`+id+`}`) {
		t.Errorf("got %s %s, want %s of subscription %s", m.Method, m.Params, method, id)
	}
}

func TestListen(t *testing.T) { // R051
	b := watched()
	s := open(t, b, nil)
	tools := s.listen(`"t"`, `{"toolsListChanged":true}`)
	other := s.listen(`2`, `{"promptsListChanged":true,"resourceSubscriptions":["test://a"]}`)
	ack := tools.message()
	wantMarked(t, ack, "notifications/subscriptions/acknowledged", `"t"`)
	if !strings.Contains(string(ack.Params), `"notifications":{"toolsListChanged":true}`) {
		t.Errorf("acknowledged %s", ack.Params)
	}
	wantMarked(t, other.message(), "notifications/subscriptions/acknowledged", "2")

	b.RemoveTool("hello")
	wantMarked(t, tools.message(), "notifications/tools/list_changed", `"t"`)
	b.addPrompt("q")
	wantMarked(t, other.message(), "notifications/prompts/list_changed", "2")
	b.ResourceUpdated("test://b")
	b.ResourceUpdated("test://a")
	m := other.message()
	wantMarked(t, m, "notifications/resources/updated", "2")
	if !strings.Contains(string(m.Params), "test://a") {
		t.Errorf("got %s", m.Params)
	}
	tools.quiet()
	other.quiet()

	if got := s.e.Stats().Streams; got != 2 {
		t.Errorf("%d streams are open, want 2", got)
	}
	tools.close()
	other.close()
	eventually(t, "the streams are gone", func() bool { return s.e.Stats().Streams == 0 })
}

func TestStreamsAreCapped(t *testing.T) {
	s := open(t, newBench(), &streamable.Options{MaxStreams: 2})
	first := s.listen("1", `{}`)
	first.take()
	c := s.join(lastSession)
	second := c.stream(http.MethodGet, "")
	second.take()
	res := s.post(modernBody("subscriptions/listen", `"notifications":{}`), modernHeaders("subscriptions/listen", "")...)
	res.wantError(t, 503, -32603, "1")
	if res.header.Get("Retry-After") == "" {
		t.Error("it does not say when to come again")
	}
	for _, busy := range []response{c.do(http.MethodGet, "Last-Event-ID: 0-0"), s.do(http.MethodGet, "", "Mcp-Session-Id: "+s.join(lastSession).id)} {
		if busy.status != 503 {
			t.Errorf("got %d, want 503", busy.status)
		}
	}
	s.callTool("hello", "{}").wantText(t, "hello") // calls are not such streams
	first.close()
	eventually(t, "a place is free", func() bool { return s.e.Stats().Streams == 1 })
	s.listen("1", `{}`).take()
}

func TestASlowReaderDelaysNobody(t *testing.T) { // R051
	b := watched()
	s := open(t, b, &streamable.Options{WriteTimeout: time.Minute})
	slow, err := net.Dial("tcp", s.srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	_ = slow.(*net.TCPConn).SetReadBuffer(1024)
	uris := make([]string, 400) // more than fits into a socket, and less than a body may have
	for i := range uris {
		uris[i] = `"test://` + strings.Repeat("x", 8000) + fmt.Sprint(i) + `"`
	}
	body := modernBody("subscriptions/listen", `"notifications":{"resourceSubscriptions":[`+strings.Join(uris, ",")+`]}`)
	request := strings.Replace(listenRequest, listenBody, body, 1)
	request = strings.Replace(request, fmt.Sprintf("Content-Length: %d", len(listenBody)), fmt.Sprintf("Content-Length: %d", len(body)), 1)
	go func() { _, _ = slow.Write([]byte(request)) }() // ends when it is read or the connection closes
	eventually(t, "the slow one listens", func() bool { return s.e.Stats().Streams == 1 })

	quick := s.listen("1", `{"toolsListChanged":true}`)
	quick.take()
	for i := range len(uris) {
		b.ResourceUpdated("test://" + strings.Repeat("x", 8000) + fmt.Sprint(i))
	}
	b.RemoveTool("hello")
	wantMarked(t, quick.message(), "notifications/tools/list_changed", "1")
	s.callTool("who", "{}").wantText(t, "you are")
}

func TestAReaderThatNeverReadsIsCutOff(t *testing.T) {
	done := make(chan error, 1)
	s := open(t, mcp.HandlerFunc(func(ctx context.Context, c *mcp.Call) (any, error) {
		if c.Method != mcp.MethodCallTool {
			return struct{}{}, nil
		}
		text := strings.Repeat("x", 1<<20)
		for {
			if err := c.Notify(ctx, "notifications/message", map[string]string{"data": text}); err != nil {
				done <- err
				return nil, err
			}
		}
	}), &streamable.Options{WriteTimeout: 100 * time.Millisecond})
	conn, err := net.Dial("tcp", s.srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(modernAddRequest)); err != nil {
		t.Fatal(err)
	}
	if err := receive(t, done); err == nil {
		t.Error("the handler was not told")
	}
}

func TestManyRoundsLeaveNothing(t *testing.T) { // R051
	b := newBench()
	s := open(t, b, nil)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 25 {
				e := s.listen("1", `{"toolsListChanged":true}`)
				e.take()
				e.close()
			}
		})
	}
	for i := range 20 { // while the list changes
		b.AddTool(mcp.Tool{Name: fmt.Sprint("new", i)}, server.Func(func(context.Context, nothing) (string, error) { return "", nil }))
	}
	wg.Wait()
	eventually(t, "the streams are gone", func() bool { return s.e.Stats().Streams == 0 })
}
