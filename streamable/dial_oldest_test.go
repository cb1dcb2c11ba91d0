package streamable_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/streamable"
)

// oldServer plays a server of HTTP with SSE.
type oldServer struct {
	seen
	endpoint string                      // what the first event says; empty: /messages?id=1
	refuse   func(w http.ResponseWriter) // POSTs to the stream's URL; nil: 405
	out      chan string                 // events
	end      chan struct{}               // closed: the stream ends
}

func newOldServer() *oldServer {
	return &oldServer{out: make(chan string, 10), end: make(chan struct{})}
}

func (s *oldServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := s.note(r)
	switch {
	case r.Method == http.MethodGet && r.URL.Path == "/mcp":
		sayEvents(w, ": hi\n\nevent: endpoint\ndata: "+orElse(s.endpoint, "/messages?id=1")+"\n\n")
		for {
			select {
			case text := <-s.out:
				sayEvents(w, "event: message\ndata: "+text+"\n\n")
			case <-s.end:
				return
			case <-r.Context().Done():
				return
			}
		}
	case r.Method == http.MethodPost && r.URL.Path == "/messages" && r.URL.RawQuery == "id=1":
		m, err := jsonrpc.Parse([]byte(body))
		switch {
		case err != nil:
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		case m.Method == "initialize":
			s.out <- strings.Replace(welcome(0, handshakeNames()[0].Name), `"id":0`, `"id":`+m.ID.String(), 1)
		case m.IsRequest() && m.Method != "waits":
			s.out <- `{"jsonrpc":"2.0","id":` + m.ID.String() + `,"result":{}}`
		}
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, "Accepted")
	case s.refuse != nil:
		s.refuse(w)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func TestR045AServerOfTheOldestRevisionIsFound(t *testing.T) {
	plain := func(status int, body string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { http.Error(w, body, status) }
	}
	rpc := func(status int, body string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { sayJSON(w, status, body) }
	}
	tests := []struct {
		name   string
		refuse func(http.ResponseWriter)
	}{
		{"by 405", plain(405, "")},
		{"by 404 and a page", plain(404, "<h1>Cannot POST /mcp</h1>")},
		{"by 400 in plain text", plain(400, "sessionid must be provided")},
		{"by 400 and an error of its own", rpc(400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"No sessionId"}}`)},
		{"by 415", plain(415, "")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newOldServer()
			s.refuse = test.refuse
			d := dialTo(t, s.ServeHTTP, &streamable.DialOptions{Header: http.Header{"X-Api-Token": {"k"}}})
			if err := d.try(selfDescribed(7, "server/discover", "")); err == nil { // by which the era is tried
				if text, _ := d.receive(); !strings.Contains(text, `"id":7,"error"`) {
					t.Errorf("the probe got %s", text)
				}
			}
			speakOldest(t, d, s)
			gets := 0
			for _, r := range s.list() {
				if r.method == http.MethodGet {
					gets++
				}
				if r.header.Get("X-Api-Token") != "k" || r.header["Mcp-Session-Id"] != nil || r.path == "/messages" && r.header["Mcp-Protocol-Version"] != nil {
					t.Errorf("%s %s with %v", r.method, r.path, r.header)
				}
			}
			if gets != 1 {
				t.Errorf("%d streams", gets)
			}
		})
	}
}

// speakOldest goes through a short conversation.
func speakOldest(t *testing.T, d *dialed, s *oldServer) {
	t.Helper()
	d.send(hello(0))
	d.want(welcome(0, handshakeNames()[0].Name))
	d.send(notice("notifications/initialized"))
	d.send(plainRequest(1, "tools/list"))
	d.want(emptyResult(1))
	const question = `{"jsonrpc":"2.0","id":"q","method":"roots/list"}`
	s.out <- question
	d.want(question)
	d.send(`{"jsonrpc":"2.0","id":"q","result":{"roots":[]}}`)
	d.send(plainRequest(2, "waits"))
	d.send(giveUp(2))
	if last := s.list()[len(s.list())-1]; last.body != giveUp(2) || last.path != "/messages" {
		t.Errorf("the cancellation went as %s to %s", last.body, last.path)
	}
	if err := d.try(selfDescribed(3, "tools/list", "")); err == nil {
		t.Error("a stateless request was sent")
	}
}

func TestSSEGoesStraightToTheOldestRevision(t *testing.T) {
	s := newOldServer()
	d := dialTo(t, s.ServeHTTP, &streamable.DialOptions{SSE: true})
	if err := d.try(selfDescribed(7, "server/discover", "")); err == nil || len(s.list()) > 0 {
		t.Errorf("the probe was sent: %v", err)
	}
	speakOldest(t, d, s)
	if first := s.list()[0]; first.method != http.MethodGet {
		t.Errorf("the first request is %s %s", first.method, first.body)
	}
}

func TestAModernRefusalOfInitializeIsTheAnswer(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		gets   int
	}{
		{"another version", 400, `{"code":-32022,"message":"no","data":{"supported":[]}}`, 0},
		{"missing headers", 400, `{"code":-32020,"message":"no"}`, 0},
		{"an unknown method", 404, `{"code":-32601,"message":"no"}`, 0},
		{"an error of a session server, which is asked for a stream in vain", 400, `{"code":-32600,"message":"no"}`, 1},
	}
	for _, test := range tests {
		var s seen
		d := dialTo(t, func(w http.ResponseWriter, r *http.Request) {
			s.note(r)
			if r.Method == http.MethodGet {
				w.WriteHeader(http.StatusMethodNotAllowed)
				return
			}
			sayJSON(w, test.status, `{"jsonrpc":"2.0","id":0,"error":`+test.body+`}`)
		}, nil)
		d.send(hello(0))
		d.want(`{"jsonrpc":"2.0","id":0,"error":` + test.body + `}`)
		if len(s.list()) != 1+test.gets {
			t.Errorf("%s: %d requests", test.name, len(s.list()))
		}
	}
}

func TestARefusalThatIsNoSignOfAgeIsNotTriedOtherwise(t *testing.T) {
	for _, status := range []int{401, 403, 429, 500, 503} {
		var s seen
		d := dialTo(t, func(w http.ResponseWriter, r *http.Request) {
			s.note(r)
			w.WriteHeader(status)
		}, nil)
		var wrong *streamable.HTTPError
		if err := d.failure(hello(0), status < 500); !errors.As(err, &wrong) || wrong.Status != status || len(s.list()) != 1 {
			t.Errorf("%d: %v, %d requests", status, err, len(s.list()))
		}
	}
}

func TestTheEndpointForMessagesMustBeOnTheSameOrigin(t *testing.T) {
	other := untouched(t)
	for _, endpoint := range []string{
		other.URL + "/messages", "//" + strings.TrimPrefix(other.URL, "http://"), "https://127.0.0.1/x", "http://[bad", "http://localhost/messages",
	} {
		s := newOldServer()
		s.endpoint = endpoint
		d := dialTo(t, s.ServeHTTP, &streamable.DialOptions{SSE: true})
		if err := d.try(hello(0)); err == nil || !strings.Contains(err.Error(), "not on the server's origin") {
			t.Errorf("%s: %v", endpoint, err)
		}
		d = dialTo(t, s.ServeHTTP, nil)
		var wrong *streamable.HTTPError
		if err := d.try(hello(0)); !errors.As(err, &wrong) || wrong.Status != 405 {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
}

func TestTheEndOfTheOneStreamIsTheEndOfTheSession(t *testing.T) {
	s := newOldServer()
	d := dialTo(t, s.ServeHTTP, nil)
	speakOldest(t, d, s)
	d.send(plainRequest(4, "waits"))
	d.send(plainRequest(5, "waits"))
	close(s.end)
	lost := map[string]bool{}
	for range 2 {
		_, err := d.receive()
		if !errors.Is(err, streamable.ErrSessionLost) {
			t.Fatalf("got %v", err)
		}
		lost[err.Error()[:len("the answer to request 4")]] = true
	}
	if !lost["the answer to request 4"] || !lost["the answer to request 5"] {
		t.Errorf("lost %v", lost)
	}
	before := len(s.list())
	if err := d.try(plainRequest(6, "tools/list")); !errors.Is(err, streamable.ErrSessionLost) || len(s.list()) != before {
		t.Errorf("got %v", err)
	}
	s.end = make(chan struct{})
	speakOldest(t, d, s)
	if first := s.list()[before]; first.method != http.MethodGet {
		t.Errorf("the session is opened anew by %s", first.method)
	}
}

func TestAnAnsweredRequestLeavesNothingBehind(t *testing.T) {
	s := newOldServer()
	var last context.Context
	d := dialTo(t, s.ServeHTTP, &streamable.DialOptions{SSE: true, Auth: &guardian{authorize: func(r *http.Request) error {
		last = r.Context()
		return nil
	}}})
	d.send(hello(0))
	d.want(welcome(0, handshakeNames()[0].Name))
	d.send(plainRequest(1, "tools/list"))
	d.want(emptyResult(1))
	<-last.Done()
	d.send(plainRequest(2, "waits"))
	s.out <- emptyResult(2) // long after it was sent
	d.want(emptyResult(2))
	<-last.Done()
	d.send(plainRequest(3, "waits"))
	given := last
	d.send(giveUp(3))
	<-given.Done()
}

func TestAStreamThatNamesNoEndpointIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		left := make(chan time.Duration, 1)
		d := dialMemory(t, func(r *http.Request, body string) *http.Response {
			if r.Method == http.MethodPost {
				return respond(400, "text/plain", "no")
			}
			res, _ := openStream(r)
			go func() { // ends with the request
				<-r.Context().Done()
				left <- time.Since(start)
			}()
			return res
		})
		var wrong *streamable.HTTPError
		if err := d.try(hello(0)); !errors.As(err, &wrong) || wrong.Status != 400 {
			t.Errorf("got %v", err)
		}
		if after := <-left; after != 10*time.Second {
			t.Errorf("left after %v", after)
		}
	})
}
