package streamable_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/sse"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/streamable"
)

const (
	newest      = "2026-07-28"
	lastSession = "2025-11-25"
)

// patience is how long a test waits for what should happen at once.
const patience = 30 * time.Second

// site is an endpoint on a loopback port, and a client that knows nothing.
type site struct {
	t      testing.TB
	e      *streamable.Endpoint
	srv    *httptest.Server
	client *http.Client
	url    string
}

// open serves h until the test ends; then all must come to rest.
func open(t testing.TB, h mcp.Handler, opts *streamable.Options) *site {
	t.Helper()
	return openBehind(t, h, opts, func(h http.Handler) http.Handler { return h })
}

// openBehind is open with middleware.
func openBehind(t testing.TB, h mcp.Handler, opts *streamable.Options, wrap func(http.Handler) http.Handler) *site {
	t.Helper()
	var o streamable.Options
	if opts != nil {
		o = *opts
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	e := streamable.Handler(h, &o)
	mux := http.NewServeMux()
	mux.Handle("/mcp", e)
	mux.Handle("/sse", e.SSE())
	srv := httptest.NewUnstartedServer(nil)
	srv.Config = streamable.NewServer("", wrap(mux))
	srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	srv.Start()
	s := &site{t: t, e: e, srv: srv, client: srv.Client(), url: srv.URL + "/mcp"}
	t.Cleanup(func() {
		shutdown(t, e)
		srv.Close()
	})
	return s
}

func shutdown(tb testing.TB, e *streamable.Endpoint) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := e.Shutdown(ctx); err != nil {
		tb.Errorf("shut down: %v", err)
	}
}

// response is an answer that was read to its end.
type response struct {
	status int
	header http.Header
	body   string
	last   bool // on its connection
}

// request makes a request. Headers are "Name: value" and replace what was there;
// "+Name: value" adds another, and "Name:" alone removes what was there.
func (s *site) request(ctx context.Context, method, body string, headers ...string) *http.Request {
	s.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, s.url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ":")
		name, another := strings.CutPrefix(name, "+")
		value = strings.TrimSpace(value)
		switch {
		case name == "Host":
			req.Host = value
		case another:
			req.Header.Add(name, value)
		case value == "":
			req.Header.Del(name)
		default:
			req.Header.Set(name, value)
		}
	}
	return req
}

func (s *site) do(method, body string, headers ...string) response {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	res, err := s.client.Do(s.request(ctx, method, body, headers...))
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return response{res.StatusCode, res.Header, string(text), res.Close}
}

func (s *site) post(body string, headers ...string) response {
	s.t.Helper()
	return s.do(http.MethodPost, body, headers...)
}

// meta is what a request of the newest revision says of itself.
const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + newest + `","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`

// modernBody writes a request of the newest revision with id 1. Params are the
// members of an object, without its braces.
func modernBody(method, params string) string {
	if params != "" {
		params += ","
	}
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + meta + `}}`
}

// modernHeaders are the headers that go with it; name may be empty.
func modernHeaders(method, name string, more ...string) []string {
	headers := []string{"MCP-Protocol-Version: " + newest, "Mcp-Method: " + method}
	if name != "" {
		headers = append(headers, "Mcp-Name: "+name)
	}
	return append(headers, more...)
}

// callTool calls a tool in the newest revision.
func (s *site) callTool(name, arguments string) response {
	s.t.Helper()
	return s.post(modernBody("tools/call", `"name":"`+name+`","arguments":`+arguments), modernHeaders("tools/call", name)...)
}

// session is a client of the handshake era.
type session struct {
	*site
	id, version string
}

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"%s","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}}`

// join opens a session.
func (s *site) join(version string, headers ...string) *session {
	s.t.Helper()
	res := s.post(fmt.Sprintf(initialize, version), headers...)
	id := res.header.Get("Mcp-Session-Id")
	if res.status != 200 || id == "" {
		s.t.Fatalf("initialize: %d %s, session %q", res.status, res.body, id)
	}
	c := &session{s, id, version}
	if res := c.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, headers...); res.status != 202 || res.body != "" {
		s.t.Fatalf("initialized: %d %s", res.status, res.body)
	}
	return c
}

// with adds the session's headers, unless they are given.
func (c *session) with(headers []string) []string {
	return append([]string{"Mcp-Session-Id: " + c.id}, headers...)
}

func (c *session) post(body string, headers ...string) response {
	c.t.Helper()
	return c.site.post(body, c.with(headers)...)
}

func (c *session) do(method string, headers ...string) response {
	c.t.Helper()
	return c.site.do(method, "", c.with(headers)...)
}

// call calls a tool under an id.
func (c *session) call(id int, tool, arguments string) response {
	c.t.Helper()
	return c.post(callBody(id, tool, arguments))
}

func callBody(id int, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":%s,"_meta":{"progressToken":%d}}}`, id, tool, arguments, id)
}

// events is an event stream that is being read.
type events struct {
	t      testing.TB
	res    *http.Response
	cancel context.CancelFunc
	next   chan sse.Event // closed at the stream's end
	done   chan struct{}
}

// stream sends a request and expects an event stream.
func (s *site) stream(method, body string, headers ...string) *events {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	timer := time.AfterFunc(patience, cancel)
	res, err := s.client.Do(s.request(ctx, method, body, headers...))
	timer.Stop()
	if err != nil {
		s.t.Fatal(err)
	}
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
		text, _ := io.ReadAll(res.Body)
		s.t.Fatalf("got %d %s %s, want an event stream", res.StatusCode, res.Header.Get("Content-Type"), text)
	}
	e := &events{t: s.t, res: res, cancel: cancel, next: make(chan sse.Event, 100), done: make(chan struct{})}
	go e.read() // close waits for it
	s.t.Cleanup(e.close)
	return e
}

func (c *session) stream(method, body string, headers ...string) *events {
	c.t.Helper()
	return c.site.stream(method, body, c.with(headers)...)
}

func (e *events) read() {
	defer close(e.done)
	defer close(e.next)
	for d := sse.NewDecoder(e.res.Body, 0); ; {
		event, err := d.Next()
		if err != nil {
			return
		}
		e.next <- event
	}
}

// close hangs up.
func (e *events) close() {
	e.cancel()
	for range e.next { // so that read can end
	}
	<-e.done
	e.res.Body.Close()
}

// take waits for the next event.
func (e *events) take() sse.Event {
	e.t.Helper()
	select {
	case event, ok := <-e.next:
		if !ok {
			e.t.Fatal("the stream ended, want an event")
		}
		return event
	case <-time.After(patience):
		e.t.Fatal("no event came")
	}
	return sse.Event{}
}

// message waits for the next event that carries a message.
func (e *events) message() wire {
	e.t.Helper()
	for {
		if event := e.take(); len(event.Data) > 0 {
			return parse(e.t, string(event.Data))
		}
	}
}

// ended waits for the stream's end, and for no event before it.
func (e *events) ended() {
	e.t.Helper()
	select {
	case event, ok := <-e.next:
		if ok {
			e.t.Fatalf("got the event %s, want the end", event.Data)
		}
	case <-time.After(patience):
		e.t.Fatal("the stream did not end")
	}
}

// quiet expects that nothing comes for a moment.
func (e *events) quiet() {
	e.t.Helper()
	select {
	case event, ok := <-e.next:
		e.t.Fatalf("got %q (stream open: %v), want nothing", event.Data, ok)
	case <-time.After(50 * time.Millisecond):
	}
}

// wire is a message as tests look at it.
type wire struct {
	ID     jsontext.Value `json:"id"`
	Method string         `json:"method"`
	Params jsontext.Value `json:"params"`
	Result jsontext.Value `json:"result"`
	Error  *struct {
		Code    int            `json:"code"`
		Message string         `json:"message"`
		Data    jsontext.Value `json:"data"`
	} `json:"error"`
}

func parse(t testing.TB, text string) wire {
	t.Helper()
	var m wire
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("not a message: %q: %v", text, err)
	}
	return m
}

// code returns the error code of a message, 0 for none.
func (m wire) code() int {
	if m.Error == nil {
		return 0
	}
	return m.Error.Code
}

// wantError checks status and error code, and that the error answers id.
func (r response) wantError(t testing.TB, status, code int, id string) {
	t.Helper()
	m := parse(t, r.body)
	if r.status != status || m.code() != code || string(m.ID) != id {
		t.Errorf("got %d, code %d, id %q (%s); want %d, code %d, id %q", r.status, m.code(), m.ID, r.body, status, code, id)
	}
	if r.header.Get("Content-Type") != "application/json" {
		t.Errorf("an error came as %s", r.header.Get("Content-Type"))
	}
}

// wantText checks that a response is a plain result whose text has a part.
func (r response) wantText(t testing.TB, part string) {
	t.Helper()
	if r.status != 200 || r.header.Get("Content-Type") != "application/json" || !strings.Contains(r.body, part) {
		t.Errorf("got %d %s %s, want a result with %q", r.status, r.header.Get("Content-Type"), r.body, part)
	}
}

// bench is a server whose tools do what tests of a transport need.
type bench struct {
	*server.Server
	began   chan string   // the tools wait and release tell that they run
	ended   chan error    // and how their context ended
	proceed chan struct{} // lets them go on
}

type nothing struct{}

func newBench() *bench {
	b := &bench{server.New("bench", "1.0.0", nil), make(chan string, 1000), make(chan error, 1000), make(chan struct{})}
	tool := func(name string, f func(ctx context.Context, c *mcp.Call) (string, error)) {
		b.AddTool(mcp.Tool{Name: name, Description: name}, server.CallFunc(
			func(ctx context.Context, c *mcp.Call, _ nothing) (string, error) { return f(ctx, c) }))
	}
	b.AddTool(mcp.Tool{Name: "echo"}, server.Raw(jsontext.Value(`{"type":"object"}`), nil,
		func(_ context.Context, _ *mcp.Call, arguments jsontext.Value) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: mcp.Contents{mcp.Text(string(arguments))}}, nil
		}))
	tool("hello", func(context.Context, *mcp.Call) (string, error) { return "hello", nil })
	tool("who", func(_ context.Context, c *mcp.Call) (string, error) { return "you are " + c.Principal.ID(), nil })
	tool("panic", func(context.Context, *mcp.Call) (string, error) { panic("oh no") })
	tool("fail", func(context.Context, *mcp.Call) (string, error) { return "", errors.New("it failed") })
	tool("wait", b.wait)
	tool("release", func(ctx context.Context, c *mcp.Call) (string, error) {
		c.Release()
		return b.wait(ctx, c)
	})
	tool("count", func(ctx context.Context, c *mcp.Call) (string, error) {
		for i := range 3 {
			if err := c.Progress(ctx, float64(i+1), 3, ""); err != nil {
				return "", err
			}
		}
		return "counted", nil
	})
	tool("speak", func(ctx context.Context, c *mcp.Call) (string, error) {
		if err := c.Progress(ctx, 1, 0, ""); err != nil {
			return "", err
		}
		return b.wait(ctx, c)
	})
	tool("ask", func(_ context.Context, c *mcp.Call) (string, error) {
		answer, err := c.Elicit("name", &mcp.ElicitParams{Message: "Your name?", RequestedSchema: jsontext.Value(`{"type":"object","properties":{}}`)})
		if err != nil {
			return "", err
		}
		return "the user said " + string(answer.Action), nil
	})
	return b
}

// late adds a tool that lets its client go after its first word.
func (b *bench) late() {
	b.AddTool(mcp.Tool{Name: "late"}, server.CallFunc(func(ctx context.Context, c *mcp.Call, _ nothing) (string, error) {
		if err := c.Progress(ctx, 1, 0, ""); err != nil {
			return "", err
		}
		c.Release()
		return b.wait(ctx, c)
	}))
}

// wait runs until the test lets it go on or its context ends.
func (b *bench) wait(ctx context.Context, c *mcp.Call) (string, error) {
	b.began <- c.Method
	select {
	case <-b.proceed:
		return "waited", nil
	case <-ctx.Done():
		b.ended <- ctx.Err()
		return "", ctx.Err()
	}
}

// running waits until a tool runs.
func (b *bench) running(t testing.TB) {
	t.Helper()
	receive(t, b.began)
}

func receive[T any](t testing.TB, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatal("waited in vain")
	}
	panic("unreachable")
}

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("in vain: %s", what)
		}
	}
}

// sessionVersions are the revisions with sessions.
var sessionVersions = []string{"2025-03-26", "2025-06-18", lastSession}
