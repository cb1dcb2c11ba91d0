package mcptest_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/lifecycle"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
	"github.com/bossman-mcp/bossman/mcptest"
	"github.com/bossman-mcp/bossman/server"
)

// able are the options of a client that can do everything.
func able() *mcptest.Options {
	return &mcptest.Options{
		Capabilities: mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{}, Roots: &mcp.RootsCapability{}},
		Answer: func(method string, _ jsontext.Value) (any, error) {
			if method == mcp.MethodListRoots {
				return &mcp.ListRootsResult{Roots: []mcp.Root{{URI: "file:///srv"}}}, nil
			}
			return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: jsontext.Value(`{"x":1}`)}, nil
		},
	}
}

// converse is a conversation with something of everything.
func converse(t *testing.T, c *mcptest.Conn) {
	t.Helper()
	for _, request := range []struct{ method, params string }{
		{"tools/list", `{}`},
		{"tools/call", `{"name":"add","arguments":{"a":1,"b":2}}`},
		{"tools/call", `{"name":"count","arguments":{"to":2},"_meta":{"progressToken":"p"}}`},
		{"tools/call", `{"name":"nothing"}`},
		{"tools/call", `{"name":"wizard"}`},
		{"tools/call", `{"name":"survey"}`},
		{"tools/call", `{"name":"wizard"}`},
		{"resources/read", `{"uri":"memo://nowhere"}`},
		{"prompts/get", `{"name":"interview"}`},
		{"example/echo", `{"say":"hi"}`},
	} {
		_, _ = c.Request(request.method, jsontext.Value(request.params)) // errors are part of it
	}
}

func replay(t *testing.T, recording string) *mcptest.Transcript {
	t.Helper()
	story, err := mcptest.ParseTranscript("recording", []byte(recording))
	if err != nil {
		t.Fatalf("%v in\n%s", err, recording)
	}
	if err := story.Replay(mcptest.Connect(t, fixture(t, ""), nil)); err != nil {
		t.Errorf("the recording does not replay: %v", err)
	}
	return story
}

func TestARecordedConnectionReplays(t *testing.T) {
	for _, rev := range revision.All() {
		t.Run(rev.Name, func(t *testing.T) {
			var recording bytes.Buffer
			recorder := mcptest.NewRecorder(&recording)
			opts := able()
			opts.Wrap = recorder.ServerSide
			c := mcptest.Connect(t, fixture(t, ""), opts)
			if !rev.Stateless {
				c.Handshake(rev.Name)
			}
			converse(t, c)
			c.Close()
			if err := recorder.Close(); err != nil {
				t.Fatal(err)
			}
			story := replay(t, recording.String())
			if story.Revision != rev.Name {
				t.Errorf("the recording is of %s", story.Revision)
			}
			if hidden := strings.Contains(recording.String(), `"requestState":"{{state2}}"`); hidden != rev.Stateless {
				t.Errorf("state is a placeholder: %v", hidden)
			}
		})
	}
}

func TestRecordedCallsReplay(t *testing.T) {
	for _, rev := range []*revision.Revision{revision.NewestHandshake(), revision.Newest()} {
		t.Run(rev.Name, func(t *testing.T) {
			var recording bytes.Buffer
			recorder := mcptest.NewRecorder(&recording)
			s := fixture(t, "").(*server.Server)
			s.Use(recorder.Middleware)
			c := mcptest.Connect(t, s, able())
			if !rev.Stateless {
				c.Handshake(rev.Name)
			}
			converse(t, c)
			c.Close()
			if err := recorder.Close(); err != nil {
				t.Fatal(err)
			}
			story := replay(t, recording.String())
			if story.Revision != revision.Newest().Name {
				t.Errorf("the recording is of %s", story.Revision)
			}
			for _, want := range []string{"notifications/progress", "Unknown tool", "input_required", "{{state1}}", "resultType"} {
				if !strings.Contains(recording.String(), want) {
					t.Errorf("the recording lacks %s", want)
				}
			}
		})
	}
}

func TestACallThatIsCancelledIsNotRecorded(t *testing.T) {
	var recording bytes.Buffer
	recorder := mcptest.NewRecorder(&recording)
	s := fixture(t, "").(*server.Server)
	s.Use(recorder.Middleware)
	c := mcptest.Connect(t, s, nil)
	c.Handshake("")
	c.Send(`{"jsonrpc":"2.0","id":"slow","method":"tools/call","params":{"name":"wait"}}`)
	c.Send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"slow"}}`)
	c.Close()
	if err := recorder.Close(); err != nil || strings.Contains(recording.String(), "wait") {
		t.Errorf("recorded %v\n%s", err, recording.String())
	}
}

func TestTheClientsEndCanBeRecorded(t *testing.T) {
	var recording bytes.Buffer
	recorder := mcptest.NewRecorder(&recording)
	ours, theirs := peer.Pipe()
	done := make(chan error, 1)
	served := fixture(t, "")
	go func() { done <- lifecycle.Serve(t.Context(), theirs, served, nil) }() // awaited below
	wire := recorder.ClientSide(ours)
	for _, id := range []string{"1", "2"} {
		if err := wire.Send(t.Context(), []byte("{\"jsonrpc\":\"2.0\",\n\"id\":"+id+`,"method":"ping"}`)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if _, err := wire.Receive(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := wire.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := recorder.Close(); err != nil {
		t.Fatal(err)
	}
	story := replay(t, recording.String())
	if last := story.Sections[len(story.Sections)-1]; !last.AnyOrder {
		t.Errorf("two requests at once may be answered in any order, but the recording is\n%s", recording.String())
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestARecorderReportsItsWriter(t *testing.T) {
	recorder := mcptest.NewRecorder(fullDisk{})
	c := mcptest.Connect(t, fixture(t, ""), &mcptest.Options{Wrap: recorder.ServerSide})
	c.Handshake("")
	c.Close()
	if err := recorder.Close(); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("got %v", err)
	}
}

// The recorder of an HTTP client hears what is said on streams as on one line,
// and leaves what it hears as it is.
func TestAnHTTPConversationIsRecorded(t *testing.T) {
	const ask = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	stream := ":\n\nevent: endpoint\ndata: /x\n\nid: 1\ndata:\n\ndata: {\"jsonrpc\":\"2.0\",\r\ndata: \"id\":1,\"result\":{}}\r\n\r\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n\n"
	for _, test := range []struct {
		name, kind, body, want string
	}{
		{"a JSON text", "application/json; charset=utf-8", `{"jsonrpc":"2.0","id":1,"result":{}}`, "-- server --\n" + `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n"},
		{"a stream", "text/event-stream", stream, "-- server --\n" + `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n" + `{"jsonrpc":"2.0","method":"a"}` + "\n"},
		{"something else", "text/html", "<p>", ""},
		{"nothing", "application/json", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var recording bytes.Buffer
			recorder := mcptest.NewRecorder(&recording)
			web := roundTrip(func(req *http.Request) (*http.Response, error) {
				if sent, err := io.ReadAll(req.Body); err != nil || string(sent) != ask {
					t.Errorf("sent %s, %v", sent, err)
				}
				return &http.Response{Header: http.Header{"Content-Type": {test.kind}}, Body: io.NopCloser(iotest.OneByteReader(strings.NewReader(test.body)))}, nil
			})
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/", strings.NewReader(ask))
			if err != nil {
				t.Fatal(err)
			}
			res, err := recorder.RoundTripper(web).RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(res.Body); err != nil || string(got) != test.body {
				t.Errorf("got %s, %v", got, err)
			}
			if err := errors.Join(res.Body.Close(), recorder.Close()); err != nil {
				t.Fatal(err)
			}
			if _, got, _ := strings.Cut(recording.String(), "\n\n"); got != "-- client --\n"+ask+"\n"+test.want {
				t.Errorf("recorded:\n%s", got)
			}
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
