package streamable_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
	"github.com/bossman-mcp/bossman/streamable"
)

// dialed is a connection to a server that the test plays.
type dialed struct {
	t *testing.T
	peer.Transport
	url string
}

// dialTo starts a server and connects to it. Both end with the test.
func dialTo(t *testing.T, h http.HandlerFunc, opts *streamable.DialOptions) *dialed {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return dialURL(t, srv.URL+"/mcp", opts)
}

// dialURL connects. The connection ends with the test.
func dialURL(t *testing.T, url string, opts *streamable.DialOptions) *dialed {
	t.Helper()
	var o streamable.DialOptions
	if opts != nil {
		o = *opts
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	tr, err := streamable.Dial(url, &o).Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tr.Close() })
	return &dialed{t, tr, url}
}

// try sends a message and returns the error.
func (d *dialed) try(message string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return d.Send(ctx, []byte(message))
}

// send sends a message, which must succeed.
func (d *dialed) send(message string) {
	d.t.Helper()
	if err := d.try(message); err != nil {
		d.t.Fatalf("send %.200s: %v", message, err)
	}
}

// failure sends a request, which must fail, and returns how: at once if refused,
// else as the loss of its answer.
func (d *dialed) failure(message string, refused bool) error {
	d.t.Helper()
	err := d.try(message)
	if refused {
		return err
	}
	if err != nil {
		d.t.Errorf("send %.200s: %v\nwant the loss of the answer", message, err)
	}
	id, _ := strconv.ParseInt(idOf(d.t, []byte(message)), 10, 64)
	return d.wantLost(id)
}

// receive returns the next message or error.
func (d *dialed) receive() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	message, err := d.Receive(ctx)
	return string(message), err
}

// want fails the test unless the next message is text.
func (d *dialed) want(text string) {
	d.t.Helper()
	if got, err := d.receive(); err != nil || got != text {
		d.t.Fatalf("got %.500s, %v\nwant %.500s", got, err, text)
	}
}

// wantLost fails the test unless next the answer to request id is lost, and
// returns why.
func (d *dialed) wantLost(id int64) error {
	d.t.Helper()
	got, err := d.receive()
	var lost *peer.LostError
	if !errors.As(err, &lost) || lost.ID != jsonrpc.IntID(id) {
		d.t.Fatalf("got %.500s, %v\nwant the loss of %d", got, err, id)
	}
	var theirs *jsonrpc.Error
	if errors.As(err, &theirs) {
		d.t.Errorf("%v looks like the server's", err)
	}
	return lost.Err
}

// selfDescribed returns a request of the stateless era; params are members with a
// comma after each.
func selfDescribed(id int, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s"_meta":{%q:%q,%q:{}}}}`,
		id, method, params, mcp.MetaProtocolVersion, revision.Newest().Name, mcp.MetaClientCapabilities)
}

// plainRequest returns a request of the handshake era.
func plainRequest(id int, method string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q}`, id, method)
}

// emptyResult returns the answer to a request.
func emptyResult(id int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, id) }

// notice returns a notification.
func notice(method string) string { return fmt.Sprintf(`{"jsonrpc":"2.0","method":%q}`, method) }

// giveUp returns the notification that cancels a request.
func giveUp(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"enough"}}`, id)
}

// sayJSON answers with JSON.
func sayJSON(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

// sayEvents begins an event stream, or goes on with it.
func sayEvents(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	_, _ = io.WriteString(w, text)
	_ = http.NewResponseController(w).Flush()
}

// idOf returns the raw id of a message.
func idOf(tb testing.TB, text []byte) string {
	tb.Helper()
	m, err := jsonrpc.Parse(text)
	if err != nil {
		tb.Errorf("the server got %.200s: %v", text, err)
	}
	return m.ID.String()
}

// log of requests that a server got.
type seen struct {
	mu  sync.Mutex
	all []seenRequest
}

type seenRequest struct {
	method string
	path   string
	header http.Header
	body   string
}

// note records a request and returns its body.
func (s *seen) note(r *http.Request) string {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, seenRequest{r.Method, r.URL.Path, r.Header.Clone(), string(body)})
	return string(body)
}

func (s *seen) list() []seenRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]seenRequest(nil), s.all...)
}

// answered returns a handler that notes requests and answers them with an empty
// result.
func (s *seen) answered(tb testing.TB) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body := s.note(r)
		sayJSON(w, 200, `{"jsonrpc":"2.0","id":`+idOf(tb, []byte(body))+`,"result":{}}`)
	}
}

func TestAStatelessRequestCarriesItsHeaders(t *testing.T) {
	var s seen
	d := dialTo(t, s.answered(t), &streamable.DialOptions{Header: http.Header{
		"x-api-token": {"k"}, "Mcp-Method": {"overridden"}, "Content-Type": {"text/plain"},
	}})
	tests := []struct{ method, params, name string }{
		{"server/discover", "", ""},
		{"tools/list", `"name":"not this",`, ""},
		{"tools/call", `"name":"add","arguments":{"name":"x"},`, "add"},
		{"prompts/get", `"name":"gréeting",`, "=?base64?Z3LDqWV0aW5n?="},
		{"resources/read", `"uri":"file:///projects/myapp/config.json",`, "file:///projects/myapp/config.json"},
		{"tasks/get", `"taskId":"t 1",`, "t 1"},
		{"tasks/cancel", `"taskId":" t",`, "=?base64?IHQ=?="},
		{"tools/call", `"name":7,`, ""},
	}
	for i, test := range tests {
		d.send(selfDescribed(i, test.method, test.params))
		d.want(emptyResult(i))
		got := s.list()[i]
		for name, want := range map[string]string{
			"Mcp-Protocol-Version": revision.Newest().Name,
			"Mcp-Method":           test.method,
			"Mcp-Name":             test.name,
			"Mcp-Session-Id":       "",
			"Accept":               "application/json, text/event-stream",
			"Content-Type":         "application/json",
			"X-Api-Token":          "k",
		} {
			if values := got.header[name]; strings.Join(values, "|") != want {
				t.Errorf("%s: %s is %q, want %q", test.method, name, values, want)
			}
		}
		if got.method != http.MethodPost || got.body != selfDescribed(i, test.method, test.params) {
			t.Errorf("%s: sent %s %s", test.method, got.method, got.body)
		}
	}
}

// toolHeaders is what package client looks for in a connection.
type toolHeaders interface {
	SetToolHeaders(tool string, headers map[string]string)
}

func TestHeaderValuesAreEncodedAsTheSpecShows(t *testing.T) {
	var s seen
	d := dialTo(t, s.answered(t), nil)
	tools := d.Transport.(toolHeaders)
	tools.SetToolHeaders("t", map[string]string{"/v": "Val", "/a~1b/~0": "deep"})
	const none = "(no header)"
	tests := []struct{ value, want string }{
		{`"us-west1"`, "us-west1"},
		{`"Hello, 世界"`, "=?base64?SGVsbG8sIOS4lueVjA==?="},
		{`" padded "`, "=?base64?IHBhZGRlZCA=?="},
		{`"line1\nline2"`, "=?base64?bGluZTEKbGluZTI=?="},
		{`"=?base64?literal?="`, "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="},
		{`"=?base64?open"`, "=?base64?open"},
		{`"inner space"`, "inner space"},
		{`"tab\tinside"`, "=?base64?dGFiCWluc2lkZQ==?="},
		{`"\u007f"`, "=?base64?fw==?="},
		{`"esc\u0061ped \"x\""`, `escaped "x"`},
		{`""`, ""},
		{`42`, "42"}, {`-7`, "-7"}, {`42.0`, "42"}, {`4.2e1`, "42"}, {`9007199254740993`, "9007199254740993"}, {`1.5`, "1.5"},
		{`true`, "true"}, {`false`, "false"},
		{`null`, none}, {`{"x":1}`, none}, {`["x"]`, none},
	}
	for i, test := range tests {
		for j, at := range []struct{ arguments, header, other string }{
			{`{"v":` + test.value + `}`, "Mcp-Param-Val", "Mcp-Param-Deep"},
			{`{"b":1,"a/b":{"c":2,"~":` + test.value + `}}`, "Mcp-Param-Deep", "Mcp-Param-Val"},
		} {
			id := 2*i + j
			d.send(selfDescribed(id, "tools/call", `"name":"t","arguments":`+at.arguments+`,`))
			d.want(emptyResult(id))
			h := s.list()[id].header
			got := none
			if values := h[at.header]; len(values) == 1 {
				got = values[0]
			}
			if got != test.want || h[at.other] != nil {
				t.Errorf("%s: %s is %q, want %q; %s is %q", at.arguments, at.header, got, test.want, at.other, h[at.other])
			}
		}
	}
	before := len(s.list())
	d.send(selfDescribed(before, "tools/call", `"name":"other","arguments":{"v":"x"},`))
	tools.SetToolHeaders("t", nil)
	d.send(selfDescribed(before+1, "tools/call", `"name":"t","arguments":{"v":"x"},`))
	for _, r := range s.list()[before:] {
		if r.header["Mcp-Param-Val"] != nil {
			t.Errorf("%s: has the header of another tool, or a forgotten one", r.body)
		}
	}
}

func TestAnAnswerMayBeJSONOrAStream(t *testing.T) {
	const progress = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`
	mode := make(chan string, 1)
	d := dialTo(t, func(w http.ResponseWriter, r *http.Request) {
		switch <-mode {
		case "plain":
			sayJSON(w, 200, emptyResult(1))
		case "chunked":
			w.Header().Set("Content-Type", "Application/JSON; charset=utf-8")
			_ = http.NewResponseController(w).Flush()
			_, _ = io.WriteString(w, emptyResult(1))
		case "stream":
			sayEvents(w, ": hello\n\nevent: message\ndata: "+progress+"\n\ndata: "+emptyResult(1)+"\n\n")
		case "array":
			sayJSON(w, 200, "["+progress+","+emptyResult(1)+"]")
		case "named":
			sayEvents(w, "event: ping\ndata: {}\n\ndata: not json\n\ndata: "+emptyResult(1)+"\n\n")
		case "request":
			sayEvents(w, `data: {"jsonrpc":"2.0","id":9,"method":"roots/list"}`+"\n\ndata: "+emptyResult(1)+"\n\n")
		}
	}, nil)
	for _, test := range []struct {
		mode string
		want []string
	}{
		{"plain", []string{emptyResult(1)}},
		{"chunked", []string{emptyResult(1)}},
		{"stream", []string{progress, emptyResult(1)}},
		{"array", []string{progress, emptyResult(1)}},
		{"named", []string{emptyResult(1)}},
		{"request", []string{emptyResult(1)}}, // which the era does not have
	} {
		mode <- test.mode
		d.send(selfDescribed(1, "tools/list", ""))
		for _, want := range test.want {
			d.want(want)
		}
	}
}

func TestAnErrorOfTheServerIsTheAnswerWhateverItsStatusAndID(t *testing.T) {
	var status int
	var body string
	d := dialTo(t, func(w http.ResponseWriter, r *http.Request) {
		if body[0] == 'd' {
			sayEvents(w, body+"\n\n")
			return
		}
		w.Header().Set("Content-Type", "text/plain")
		if status == 200 {
			w.Header().Set("Content-Type", "application/json")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}, nil)
	const want = `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no","data":[1]}}`
	for _, id := range []string{`"id":1,`, `"id":null,`, `"id":"",`, `"id":7,`, ``} {
		for _, status = range []int{400, 404, 405, 401, 500} {
			body = `{"jsonrpc":"2.0",` + id + `"error":{"code":-32000,"message":"no","data":[1]}}`
			d.send(selfDescribed(1, "server/discover", ""))
			d.want(want)
		}
	}
	for _, id := range []string{`"id":1,`, `"id":null,`, `"id":"",`, ``} {
		status, body = 200, `{"jsonrpc":"2.0",`+id+`"error":{"code":-32000,"message":"no","data":[1]}}`
		d.send(selfDescribed(1, "server/discover", ""))
		d.want(want)
		body = "data: " + body
		d.send(selfDescribed(1, "server/discover", ""))
		d.want(want)
	}
}

func TestWhatIsNoJSONRPCIsALocalError(t *testing.T) {
	var status int
	var kind, body string
	d := dialTo(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}, nil)
	long := strings.Repeat("x", 2000)
	tests := []struct {
		status     int
		kind, body string
		want       string // in the error
	}{
		{400, "text/plain", "sessionid must be\n provided\x1b[2J", "400 Bad Request: sessionid must be provided[2J"},
		{404, "text/html", "<h1>nothing here</h1>", "404 Not Found: <h1>nothing here</h1>"},
		{405, "", "", "405 Method Not Allowed"},
		{401, "application/json", `{"error":"invalid_token"}`, `401 Unauthorized: {"error":"invalid_token"}`},
		{503, "text/plain", long, "503 Service Unavailable: " + long[:512] + "…"},
		{200, "text/html", "<p>log in</p>", `200 OK: the content type "text/html" is neither JSON nor an event stream: <p>log in</p>`},
		{200, "application/json", "", "200 OK: there is no answer"},
		{202, "application/json", "", "202 Accepted: there is no answer"},
		{200, "application/json", `{"jsonrpc":"2.0","id":2,"result":{}}`, `the answer is to another request: {"jsonrpc"`},
		{200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{}`, "it is no message"},
		{200, "application/json", `{"jsonrpc":"2.0","id":1,"id":1,"result":{}}`, "it is no message"},
		{200, "application/json", `[]`, "it is no message"},
	}
	for _, test := range tests {
		status, kind, body = test.status, test.kind, test.body
		err := d.failure(selfDescribed(1, "server/discover", ""), status/100 == 4)
		var wrong *streamable.HTTPError
		var theirs *jsonrpc.Error
		if !errors.As(err, &wrong) || errors.As(err, &theirs) || wrong.Status != test.status || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%d %q: %v\nwant %s", test.status, test.body, err, test.want)
		}
	}
}

// nobody answers nothing.
type nobody struct{}

func (nobody) Answer(context.Context, *peer.Request) (any, error) { return struct{}{}, nil }
func (nobody) Notice(context.Context, string, []byte)             {}

// describing is params of the stateless era and nothing else.
type describing struct{}

// AppendJSON appends them.
func (describing) AppendJSON(dst []byte) ([]byte, error) {
	return fmt.Appendf(dst, `{"_meta":{%q:%q,%q:{}}}`, mcp.MetaProtocolVersion, revision.Newest().Name, mcp.MetaClientCapabilities), nil
}
