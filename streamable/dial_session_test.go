package streamable_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/mcp/revision"
	"github.com/bossman-mcp/bossman/streamable"
)

// handshakeNames returns the revisions that open with a handshake.
func handshakeNames() (all []*revision.Revision) {
	for _, rev := range revision.All() {
		if !rev.Stateless {
			all = append(all, rev)
		}
	}
	return all
}

// welcome returns the answer to initialize.
func welcome(id int, version string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"protocolVersion":%q,"capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`, id, version)
}

// hello returns an initialize request.
func hello(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`,
		id, revision.NewestHandshake().Name)
}

// sessionServer plays a server of the handshake era. Functions that are nil
// answer as the simplest server would.
type sessionServer struct {
	seen
	version string                                                               // empty: the newest
	session string                                                               // empty: "s1"
	get     func(w http.ResponseWriter, r *http.Request)                         // nil: 405
	post    func(w http.ResponseWriter, r *http.Request, m jsonrpc.Message)      // requests after initialize; nil: an empty result
	told    func(w http.ResponseWriter, r *http.Request, m jsonrpc.Message)      // what wants no answer; nil: 202
	open    func(w http.ResponseWriter, r *http.Request, m jsonrpc.Message) bool // initialize; false: as usual
}

func (s *sessionServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := s.note(r)
	switch r.Method {
	case http.MethodDelete:
		return
	case http.MethodGet:
		if s.get == nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		s.get(w, r)
		return
	}
	m, err := jsonrpc.Parse([]byte(body))
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
	case m.Method == "initialize":
		if s.open == nil || !s.open(w, r, m) {
			w.Header().Set("Mcp-Session-Id", orElse(s.session, "s1"))
			sayJSON(w, 200, strings.Replace(welcome(0, orElse(s.version, revision.NewestHandshake().Name)), `"id":0`, `"id":`+m.ID.String(), 1))
		}
	case m.IsRequest() && s.post != nil:
		s.post(w, r, m)
	case m.IsRequest():
		sayJSON(w, 200, `{"jsonrpc":"2.0","id":`+m.ID.String()+`,"result":{}}`)
	case s.told != nil:
		s.told(w, r, m)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// greet goes through the handshake.
func (d *dialed) greet(s *sessionServer) {
	d.t.Helper()
	d.send(hello(0))
	d.want(welcome(0, orElse(s.version, revision.NewestHandshake().Name)))
	d.send(notice("notifications/initialized"))
}

func TestASessionIsKeptAndLeft(t *testing.T) {
	for _, rev := range handshakeNames() {
		for _, streamed := range []bool{false, true} {
			listening := make(chan struct{})
			s := &sessionServer{version: rev.Name, get: func(w http.ResponseWriter, r *http.Request) {
				close(listening)
				w.WriteHeader(http.StatusMethodNotAllowed)
			}}
			if streamed {
				s.open = func(w http.ResponseWriter, _ *http.Request, m jsonrpc.Message) bool {
					w.Header().Set("Mcp-Session-Id", "s1")
					sayEvents(w, "id: 1\ndata:\n\nid: 2\ndata: "+welcome(0, rev.Name)+"\n\n")
					return true
				}
			}
			d := dialTo(t, s.ServeHTTP, &streamable.DialOptions{Header: http.Header{"X-Api-Token": {"k"}}})
			d.greet(s)
			<-listening
			d.send(plainRequest(1, "tools/list"))
			d.want(emptyResult(1))
			if err := d.Close(); err != nil {
				t.Error(err)
			}
			version := ""
			if rev.VersionHeader {
				version = rev.Name
			}
			methods := map[string]int{}
			for i, r := range s.list() {
				methods[r.method]++
				wantSession, wantVersion := "s1", version
				if i == 0 {
					wantSession, wantVersion = "", ""
				}
				h := r.header
				if h.Get("Mcp-Session-Id") != wantSession || h.Get("Mcp-Protocol-Version") != wantVersion || h.Get("X-Api-Token") != "k" || h["Mcp-Method"] != nil {
					t.Errorf("%s, request %d: %s %s with %v", rev.Name, i, r.method, r.body, h)
				}
				if accept := h.Get("Accept"); r.method == http.MethodGet && accept != "text/event-stream" || r.method == http.MethodPost && accept != "application/json, text/event-stream" {
					t.Errorf("%s, request %d: %s accepts %q", rev.Name, i, r.method, accept)
				}
			}
			if methods["POST"] != 3 || methods["GET"] != 1 || methods["DELETE"] != 1 {
				t.Errorf("%s: %v", rev.Name, methods)
			}
		}
	}
}

func TestTheServerMayRefuseToBeListenedTo(t *testing.T) {
	for _, status := range []int{400, 404, 405, 409, 501} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			d := dialMemory(t, func(r *http.Request, body string) *http.Response {
				if res := welcomed(r, body); res != nil {
					return res
				}
				if r.Method == http.MethodGet {
					asked++
					return respond(status, "text/plain", "no")
				}
				return respond(200, "application/json", emptyResult(1))
			})
			d.greetInMemory()
			time.Sleep(time.Hour)
			d.send(plainRequest(1, "tools/list")) // the session is not lost
			d.want(emptyResult(1))
			if asked != 1 {
				t.Errorf("%d: asked %d times", status, asked)
			}
		})
	}
}

// What a request brings about would be lost if it overtook the stream on which
// the server tells of it.
func TestTheServerIsListenedToBeforeTheFirstRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var came []string
		d := dialMemory(t, func(r *http.Request, body string) *http.Response {
			if r.Method == http.MethodGet {
				time.Sleep(300 * time.Millisecond) // a slow way
				came = append(came, "GET")
				return respond(405, "text/plain", "no")
			}
			if res := welcomed(r, body); res != nil {
				return res
			}
			came = append(came, "POST")
			return respond(200, "application/json", emptyResult(1))
		})
		d.greetInMemory()
		d.send(plainRequest(1, "tools/list"))
		d.want(emptyResult(1))
		if want := []string{"GET", "POST"}; !slices.Equal(came, want) {
			t.Errorf("there came %v, want %v", came, want)
		}
	})
}

func TestAServerThatIsSilentOnItsStreamHoldsUpNobodyForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := dialMemory(t, func(r *http.Request, body string) *http.Response {
			if r.Method == http.MethodGet {
				<-r.Context().Done()
				return respond(200, "text/event-stream", "")
			}
			if res := welcomed(r, body); res != nil {
				return res
			}
			return respond(200, "application/json", emptyResult(1))
		})
		began := time.Now()
		d.greetInMemory()
		d.send(plainRequest(1, "tools/list"))
		d.want(emptyResult(1))
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestInitializeEndsWhatWasBefore(t *testing.T) {
	hungUp := make(chan string, 2)
	began := make(chan struct{}, 2)
	s := &sessionServer{
		get: func(w http.ResponseWriter, r *http.Request) {
			sayEvents(w, ":\n\n")
			began <- struct{}{}
			<-r.Context().Done()
			hungUp <- r.Header.Get("Mcp-Session-Id")
		},
		post: func(w http.ResponseWriter, r *http.Request, m jsonrpc.Message) {
			sayEvents(w, "id: 1\ndata:\n\n")
			<-r.Context().Done()
			hungUp <- r.Header.Get("Mcp-Session-Id")
		},
	}
	d := dialTo(t, s.ServeHTTP, nil)
	d.greet(s)
	<-began
	d.send(plainRequest(1, "tools/call"))
	s.session = "s2"
	d.send(hello(2))
	answered, lost := false, false // in either order
	for range 2 {
		got, err := d.receive()
		var loss *peer.LostError
		switch {
		case err == nil:
			answered = strings.Contains(string(got), `"id":2,"result"`)
		case errors.As(err, &loss) && loss.ID == jsonrpc.IntID(1):
			lost = errors.Is(err, streamable.ErrSessionLost)
		}
	}
	if !answered || !lost {
		t.Errorf("initialize was answered: %v; the call before it was lost with its session: %v", answered, lost)
	}
	if a, b := <-hungUp, <-hungUp; a != "s1" || b != "s1" {
		t.Errorf("the streams of %s and %s ended", a, b)
	}
}

func TestTheServerAsksAndIsAnswered(t *testing.T) {
	const (
		question = `{"jsonrpc":"2.0","id":"q1","method":"roots/list"}`
		reply    = `{"jsonrpc":"2.0","id":"q1","result":{"roots":[]}}`
		changed  = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	)
	replied := make(chan string, 1)
	s := &sessionServer{
		get: func(w http.ResponseWriter, r *http.Request) {
			sayEvents(w, "data: "+changed+"\n\n")
			<-r.Context().Done()
		},
		post: func(w http.ResponseWriter, _ *http.Request, m jsonrpc.Message) {
			sayEvents(w, "data: "+question+"\n\n")
			if got := <-replied; got != reply {
				t.Errorf("replied %s", got)
			}
			sayEvents(w, "data: "+emptyResult(1)+"\n\n")
		},
	}
	s.told = func(w http.ResponseWriter, _ *http.Request, m jsonrpc.Message) {
		if m.IsResponse() {
			replied <- s.list()[len(s.list())-1].body
		}
		w.WriteHeader(http.StatusAccepted)
	}
	d := dialTo(t, s.ServeHTTP, nil)
	d.greet(s)
	d.want(changed)
	d.send(plainRequest(1, "tools/call"))
	d.want(question)
	d.send(reply)
	d.want(emptyResult(1))
}

func TestALostSessionIsSaidAndOpenedAnew(t *testing.T) {
	s := &sessionServer{post: func(w http.ResponseWriter, r *http.Request, m jsonrpc.Message) {
		if r.Header.Get("Mcp-Session-Id") == "s1" {
			sayJSON(w, 404, `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`)
			return
		}
		sayJSON(w, 200, `{"jsonrpc":"2.0","id":`+m.ID.String()+`,"result":{}}`)
	}}
	d := dialTo(t, s.ServeHTTP, nil)
	d.greet(s)
	err := d.try(plainRequest(1, "tools/list"))
	var refusal *streamable.HTTPError
	if !errors.Is(err, streamable.ErrSessionLost) || !errors.As(err, &refusal) || refusal.Status != 404 {
		t.Fatalf("got %v", err)
	}
	for _, message := range []string{plainRequest(2, "tools/list"), notice("notifications/roots/list_changed"), emptyResult(9)} {
		if err := d.try(message); !errors.Is(err, streamable.ErrSessionLost) {
			t.Errorf("%s: %v", message, err)
		}
		for _, r := range s.list() { // among them the GET of the standalone stream, whenever it comes
			if r.body == message {
				t.Errorf("%s was sent all the same", message)
			}
		}
	}
	s.session = "s2"
	d.greet(s)
	d.send(plainRequest(3, "tools/list"))
	d.want(emptyResult(3))
	for _, r := range s.list() {
		if strings.Contains(r.body, `"initialize"`) && r.header["Mcp-Session-Id"] != nil {
			t.Error("initialize carries the old session")
		}
	}
}

func TestAMethodThatIsNotFoundIsNoLostSession(t *testing.T) {
	s := &sessionServer{post: func(w http.ResponseWriter, _ *http.Request, m jsonrpc.Message) {
		sayJSON(w, 404, `{"jsonrpc":"2.0","id":`+m.ID.String()+`,"error":{"code":-32601,"message":"Method not found"}}`)
	}}
	d := dialTo(t, s.ServeHTTP, nil)
	d.greet(s)
	d.send(plainRequest(1, "no/such"))
	d.want(`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`)
	d.send(notice("notifications/roots/list_changed"))
}

func TestASessionIDThatCannotBeSentIsRefused(t *testing.T) {
	for _, id := range []string{"a b", "é", strings.Repeat("x", 5000)} {
		s := &sessionServer{session: id}
		d := dialTo(t, s.ServeHTTP, nil)
		if err := d.failure(hello(0), false); err == nil || !strings.Contains(err.Error(), "Mcp-Session-Id cannot be used") {
			t.Errorf("%.20q: %v", id, err)
		}
	}
}

func TestCancellingInASessionTellsTheServer(t *testing.T) {
	began, told := make(chan struct{}, 1), make(chan string, 3)
	s := &sessionServer{post: func(w http.ResponseWriter, r *http.Request, m jsonrpc.Message) {
		if m.Method == "streams" {
			sayEvents(w, "id: 7\ndata:\n\n")
		}
		began <- struct{}{}
		<-r.Context().Done()
	}}
	s.told = func(w http.ResponseWriter, _ *http.Request, m jsonrpc.Message) {
		if m.Method == "notifications/cancelled" {
			told <- string(m.Params)
		}
		w.WriteHeader(http.StatusAccepted)
	}
	d := dialTo(t, s.ServeHTTP, nil)
	d.greet(s)

	// By a message, while the answer streams: the stream ends and is not resumed.
	d.send(plainRequest(1, "streams"))
	<-began
	d.send(giveUp(1))
	if got := <-told; got != `{"requestId":1,"reason":"enough"}` {
		t.Errorf("told %s", got)
	}
	// By the sender's context, before the answer begins.
	ctx, cancel := context.WithCancelCause(t.Context())
	sent := make(chan error, 1)
	go func() { sent <- d.Send(ctx, []byte(plainRequest(2, "waits"))) }() // awaited below
	<-began
	cancel(errors.New("bored"))
	if err := <-sent; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if got := <-told; got != `{"requestId":2,"reason":"bored"}` {
		t.Errorf("told %s", got)
	}
	_ = d.Close()
	if got, err := d.receive(); !errors.Is(err, io.EOF) {
		t.Errorf("received %s, %v", got, err)
	}
	for _, r := range s.list() {
		if r.header["Last-Event-Id"] != nil {
			t.Error("a cancelled stream was resumed")
		}
	}
}

func TestCancellingAStatelessRequestHangsUp(t *testing.T) {
	began, hungUp := make(chan struct{}, 1), make(chan struct{}, 1)
	var s seen
	d := dialTo(t, func(w http.ResponseWriter, r *http.Request) {
		body := s.note(r)
		if strings.Contains(body, `"streams"`) {
			sayEvents(w, ":\n\n")
		}
		began <- struct{}{}
		<-r.Context().Done()
		hungUp <- struct{}{}
	}, nil)
	d.send(selfDescribed(1, "streams", ""))
	<-began
	d.send(giveUp(1))
	<-hungUp
	d.send(giveUp(1)) // it has ended: nothing happens

	ctx, cancel := context.WithCancel(t.Context())
	sent := make(chan error, 1)
	go func() { sent <- d.Send(ctx, []byte(selfDescribed(2, "waits", ""))) }() // awaited below
	<-began
	cancel()
	if err := <-sent; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	<-hungUp
	_ = d.Close()
	if got := len(s.list()); got != 2 {
		t.Errorf("the server got %d requests, want 2", got)
	}
}

func TestAnswersToAStatelessServerAreNotSent(t *testing.T) {
	var s seen
	d := dialTo(t, s.answered(t), nil)
	d.send(selfDescribed(1, "tools/list", ""))
	if err := d.try(emptyResult(1)); err == nil {
		t.Error("an answer was sent")
	}
	d.send(notice("notifications/custom"))
	if all := s.list(); len(all) != 2 || all[1].header.Get("Mcp-Protocol-Version") != revision.Newest().Name || all[1].header.Get("Mcp-Method") != "notifications/custom" {
		t.Errorf("the server got %v", all)
	}
}

func TestCloseEndsEverythingSoon(t *testing.T) {
	held := make(chan struct{}, 10)
	release := make(chan struct{})
	defer close(release)
	s := &sessionServer{
		get: func(w http.ResponseWriter, r *http.Request) {
			sayEvents(w, ":\n\n")
			held <- struct{}{}
			<-r.Context().Done()
		},
		post: func(w http.ResponseWriter, r *http.Request, m jsonrpc.Message) {
			if m.Method == "streams" {
				sayEvents(w, ":\n\n")
			}
			held <- struct{}{}
			<-r.Context().Done()
		},
	}
	d := dialTo(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			select { // never answered
			case <-r.Context().Done():
			case <-release:
			}
			return
		}
		s.ServeHTTP(w, r)
	}, nil)
	d.greet(s)
	<-held
	d.send(plainRequest(1, "streams"))
	<-held
	sent, received := make(chan error, 1), make(chan error, 1)
	go func() { sent <- d.try(plainRequest(2, "waits")) }() // awaited below
	<-held
	go func() { // awaited below
		_, err := d.receive()
		received <- err
	}()
	start := time.Now()
	_ = d.Close()
	_ = d.Close()
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	if err := <-sent; err != nil { // it may have been executed: Receive tells
		t.Errorf("Send: %v", err)
	}
	if err := <-received; !errors.Is(err, io.EOF) {
		t.Errorf("Receive: %v", err)
	}
	if err := d.try(plainRequest(3, "late")); !errors.Is(err, peer.ErrClosed) {
		t.Errorf("Send: %v", err)
	}
}
