package interop_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/sse"
)

// patience is how long a test waits for what must come. Nothing that does not
// hang needs a tenth of it.
const patience = 10 * time.Second

const newest = "2026-07-28"

// message is what bossman says, read by the JSON library.
type message struct {
	JSONRPC string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id,omitzero"`
	Method  string         `json:"method,omitzero"`
	Params  jsontext.Value `json:"params,omitzero"`
	Result  struct {
		ProtocolVersion   string         `json:"protocolVersion"`
		SupportedVersions []string       `json:"supportedVersions"`
		Tools             []any          `json:"tools"`
		IsError           bool           `json:"isError"`
		StructuredContent jsontext.Value `json:"structuredContent"`
		Content           []struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"result,omitzero"`
	Error *struct {
		Code    int            `json:"code"`
		Message string         `json:"message"`
		Data    jsontext.Value `json:"data,omitzero"`
	} `json:"error,omitzero"`

	text string
}

func decode(t *testing.T, text string) message {
	t.Helper()
	m := message{text: text}
	if err := json.Unmarshal([]byte(text), &m); err != nil || m.JSONRPC != "2.0" {
		t.Fatalf("not a message (%v): %q", err, text)
	}
	return m
}

// code is the error's, 0 if there is none.
func (m *message) code() int {
	if m.Error == nil {
		return 0
	}
	return m.Error.Code
}

// request writes a request of the handshake era.
func request(id int, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, id, method, params)
}

// notification writes one.
func notification(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":{%s}}`, method, params)
}

// modern writes a request of the newest revision. Its params are members.
func modern(id int, method, params string) string {
	return modernIn(newest, id, method, params)
}

func modernIn(revision string, id int, method, params string) string {
	if params != "" {
		params += ","
	}
	return request(id, method, fmt.Sprintf(`%s"_meta":{"io.modelcontextprotocol/protocolVersion":%q,`+
		`"io.modelcontextprotocol/clientInfo":{"name":"habit","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`, params, revision))
}

func initialize(revision, client string) string {
	return request(0, "initialize", fmt.Sprintf(`"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":%q,"version":"1"}`, revision, client))
}

// speaker is a connection of the handshake era, whatever carries it.
type speaker interface {
	// ask sends a request and returns its answer.
	ask(text string) message
	// tell sends a notification.
	tell(text string)
}

// greet opens a session and returns the revision that was agreed on.
func greet(t *testing.T, s speaker, revision, client string) string {
	t.Helper()
	m := s.ask(initialize(revision, client))
	if m.Error != nil {
		t.Fatalf("initialize with %s: %s", revision, m.text)
	}
	s.tell(notification("notifications/initialized", ""))
	return m.Result.ProtocolVersion
}

// use does what every client wants in the end.
func use(t *testing.T, s speaker) {
	t.Helper()
	if m := s.ask(request(101, "tools/list", "")); string(m.ID) != "101" || len(m.Result.Tools) == 0 {
		t.Errorf("tools/list: %s", m.text)
	}
	m := s.ask(request(102, "tools/call", createTask))
	if string(m.ID) != "102" || m.Error != nil || m.Result.IsError || !strings.Contains(m.text, "task_") {
		t.Errorf("tools/call: %s", m.text)
	}
}

// createTask is the params of a call that has an effect.
const createTask = `"name":"create_task","arguments":{"description":"a habit"}`

// child is bossman on standard input and output.
type child struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string // closed at the end of the output
	ended bool
}

func start(t *testing.T, program string) *child {
	t.Helper()
	c := &child{t: t, cmd: exec.Command(program), lines: make(chan string, 100)}
	in, err := c.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.in = in
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { // ends with the output, which end and kill wait for
		defer close(c.lines)
		for r := bufio.NewScanner(out); r.Scan(); {
			c.lines <- r.Text()
		}
	}()
	t.Cleanup(func() {
		if !c.ended {
			c.end()
		}
	})
	return c
}

// tell sends a line.
func (c *child) tell(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, text+"\n"); err != nil {
		c.t.Fatalf("send %s: %v", text, err)
	}
}

// next returns the next message.
func (c *child) next() message {
	c.t.Helper()
	return decode(c.t, wait(c.t, c.lines))
}

// ask sends a request; its answer must be the next message.
func (c *child) ask(text string) message {
	c.t.Helper()
	c.tell(text)
	return c.next()
}

// end closes the input. Bossman must end by itself, with success and without
// another word.
func (c *child) end() {
	c.t.Helper()
	c.ended = true
	_ = c.in.Close()
	timer := time.AfterFunc(patience, func() { _ = c.cmd.Process.Kill() })
	defer timer.Stop()
	for text := range c.lines {
		c.t.Errorf("said at the end: %s", text)
	}
	if err := c.cmd.Wait(); err != nil {
		c.t.Errorf("bossman ended with %v", err)
	}
}

// kill ends it the hard way.
func (c *child) kill() {
	c.ended = true
	_ = c.cmd.Process.Signal(syscall.SIGKILL)
	for range c.lines { // Wait must come after the last read
	}
	_ = c.cmd.Wait()
}

// wait returns what comes next.
func wait(t *testing.T, texts <-chan string) string {
	t.Helper()
	select {
	case text, ok := <-texts:
		if !ok {
			t.Fatal("the output ended")
		}
		return text
	case <-time.After(patience):
		t.Fatal("nothing came")
	}
	return ""
}

// web is bossman over HTTP, as one client sees it. As a speaker it has a session.
type web struct {
	t       *testing.T
	url     string
	client  *http.Client
	headers []string // sent with what the speaker says, as "Name: value"
}

func dial(t *testing.T, url string) *web {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &web{t: t, url: url, client: &http.Client{Transport: transport}}
}

// reply is a response that was read to its end.
type reply struct {
	status int
	header http.Header
	body   string
}

// do sends a request with the headers that clients send, and those given as
// "Name: value", which replace them; "Name:" takes one away.
func (w *web) do(ctx context.Context, method, path, body string, headers ...string) *http.Response {
	w.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, w.url+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("X-Api-Token", apiKey)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ":")
		switch value = strings.TrimSpace(value); {
		case name == "Host":
			r.Host = value
		case value == "":
			r.Header.Del(name)
		default:
			r.Header.Set(name, value)
		}
	}
	response, err := w.client.Do(r)
	if err != nil {
		w.t.Fatalf("%s %s: %v", method, path, err)
	}
	return response
}

// send is do for responses that must end, and soon.
func (w *web) send(method, path, body string, headers ...string) reply {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	response := w.do(ctx, method, path, body, headers...)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		w.t.Fatalf("%s %s: read the response: %v", method, path, err)
	}
	return reply{response.StatusCode, response.Header, string(text)}
}

// message returns the message in a response: its body, or the last event's.
func (r *reply) message(t *testing.T) message {
	t.Helper()
	if !strings.HasPrefix(r.header.Get("Content-Type"), "text/event-stream") {
		return decode(t, r.body)
	}
	last := ""
	for events := sse.NewDecoder(strings.NewReader(r.body), 0); ; {
		event, err := events.Next()
		if err != nil {
			return decode(t, last)
		}
		if len(event.Data) > 0 {
			last = string(event.Data)
		}
	}
}

// modern sends a request of the newest revision with its routing headers.
func (w *web) modern(id int, method, params string, headers ...string) reply {
	w.t.Helper()
	return w.send(http.MethodPost, "/mcp", modern(id, method, params), append(routing(method, params), headers...)...)
}

// routing returns the headers of a request of the newest revision.
func routing(method, params string) []string {
	headers := []string{"Mcp-Protocol-Version: " + newest, "Mcp-Method: " + method}
	var named struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal([]byte("{"+params+"}"), &named); err == nil && named.Name != "" {
		headers = append(headers, "Mcp-Name: "+named.Name)
	}
	return headers
}

// ask sends a request in the session; initialize opens one.
func (w *web) ask(text string) message {
	w.t.Helper()
	r := w.send(http.MethodPost, "/mcp", text, w.headers...)
	if id := r.header.Get("Mcp-Session-Id"); id != "" {
		w.headers = append(w.headers, "Mcp-Session-Id: "+id)
	}
	return r.message(w.t)
}

// tell sends a notification, which must be accepted.
func (w *web) tell(text string) {
	w.t.Helper()
	if r := w.send(http.MethodPost, "/mcp", text, w.headers...); r.status != http.StatusAccepted || r.body != "" {
		w.t.Errorf("sent %s: %d %s", text, r.status, r.body)
	}
}

// stream is a response that stays open.
type stream struct {
	t      *testing.T
	events chan string // the data of each; closed at the end
	hangUp func()      // returns when nothing reads any more
}

// open sends a request whose response must be a stream.
func (w *web) open(method, path, body string, headers ...string) *stream {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	response := w.do(ctx, method, path, body, headers...)
	if kind := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || !strings.HasPrefix(kind, "text/event-stream") {
		cancel()
		w.t.Fatalf("%s %s: %s, %s", method, path, response.Status, kind)
	}
	s := &stream{t: w.t, events: make(chan string, 100)}
	done := make(chan struct{})
	go func() { // hangUp waits for it
		defer close(done)
		defer close(s.events)
		defer response.Body.Close()
		for events := sse.NewDecoder(response.Body, 0); ; {
			event, err := events.Next()
			if err != nil {
				return
			}
			if len(event.Data) > 0 {
				s.events <- string(event.Data)
			}
		}
	}()
	s.hangUp = func() { cancel(); <-done }
	w.t.Cleanup(s.hangUp)
	return s
}

// next returns the next message.
func (s *stream) next() message {
	s.t.Helper()
	return decode(s.t, wait(s.t, s.events))
}

// stillOpen fails the test if the stream has ended or has more to say.
func (s *stream) stillOpen() {
	s.t.Helper()
	select {
	case text, ok := <-s.events:
		s.t.Errorf("the stream is not open and quiet: open %t, %q", ok, text)
	default:
	}
}

// pair is the two endpoints of the oldest revision.
type pair struct {
	*web
	path string // for messages
	*stream
}

func dialPair(t *testing.T, url string) *pair {
	t.Helper()
	w := dial(t, url)
	s := w.open(http.MethodGet, "/sse", "", "Accept: text/event-stream")
	return &pair{w, wait(t, s.events), s}
}

// tell posts a message.
func (p *pair) tell(text string) {
	p.web.t.Helper()
	if r := p.web.send(http.MethodPost, p.path, text, "Accept: */*"); r.status != http.StatusAccepted {
		p.web.t.Errorf("sent %s: %d %s", text, r.status, r.body)
	}
}

// ask posts a request; its answer must be the next message on the stream.
func (p *pair) ask(text string) message {
	p.web.t.Helper()
	p.tell(text)
	return p.next()
}
