package streamable_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/streamable"
)

// inMemory is a server without a network, for time that is not real.
type inMemory func(r *http.Request, body string) *http.Response

func (f inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		_ = r.Body.Close()
	}
	res := f(r, string(body))
	if res == nil {
		return nil, errors.New("connection refused")
	}
	return res, nil
}

// dialMemory connects to a server without a network.
func dialMemory(t *testing.T, f inMemory) *dialed {
	t.Helper()
	return dialURL(t, "http://server.test/mcp", &streamable.DialOptions{Client: &http.Client{Transport: f}})
}

// respond returns a response of a type; an empty type is none.
func respond(status int, kind, body string) *http.Response {
	h := make(http.Header)
	if kind != "" {
		h.Set("Content-Type", kind)
	}
	return &http.Response{StatusCode: status, Header: h, ContentLength: -1, Body: io.NopCloser(strings.NewReader(body))}
}

// streamOf returns a stream that ends after the text.
func streamOf(text string) *http.Response { return respond(200, "text/event-stream", text) }

// openStream returns a stream that the test writes, and that ends with the
// request.
func openStream(r *http.Request) (*http.Response, *io.PipeWriter) {
	reader, writer := io.Pipe()
	context.AfterFunc(r.Context(), func() { _ = reader.CloseWithError(r.Context().Err()) })
	res := streamOf("")
	res.Body = reader
	return res, writer
}

// welcomed answers the handshake; nil means that it was something else.
func welcomed(r *http.Request, body string) *http.Response {
	m, _ := jsonrpc.Parse([]byte(body))
	switch {
	case r.Method == http.MethodDelete:
		return respond(200, "", "")
	case m.Method == "initialize":
		res := respond(200, "application/json", welcome(0, handshakeNames()[3].Name))
		res.Header.Set("Mcp-Session-Id", "s1")
		return res
	case m.IsNotification():
		return respond(202, "", "")
	}
	return nil
}

func TestABrokenStreamIsResumedWhenTheServerSaid(t *testing.T) {
	tests := []struct {
		name  string
		retry string
		want  time.Duration
	}{
		{"after the time it asked for", "retry: 500\n", 500 * time.Millisecond},
		{"not at once, though it asked for that", "retry: 0\n", time.Second},
		{"not without a breath", "retry: 1\n", 100 * time.Millisecond},
		{"after a second if it did not say", "", time.Second},
		{"in the same hour, whatever it asked for", "retry: 1000000000000\n", 5 * time.Minute},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var broke time.Time
				var gaps []time.Duration
				var lastIDs []string
				d := dialMemory(t, func(r *http.Request, body string) *http.Response {
					if res := welcomed(r, body); res != nil {
						return res
					}
					if r.Method == http.MethodPost {
						broke = time.Now()
						return streamOf("id: a-1\n" + test.retry + "data:\n\nid: x\x00y\ndata: " + notice("first") + "\n\n")
					}
					id := r.Header.Get("Last-Event-Id")
					if id == "" {
						return respond(405, "", "")
					}
					gaps, lastIDs, broke = append(gaps, time.Since(broke)), append(lastIDs, id), time.Now()
					if len(gaps) == 1 {
						return streamOf("id: a-2\ndata: " + notice("second") + "\n\n") // and breaks again
					}
					return streamOf("id: a-3\ndata: " + emptyResult(1) + "\n\n")
				})
				d.greetInMemory()
				d.sendLong(plainRequest(1, "tools/call"))
				d.wantLong(notice("first"))
				d.wantLong(notice("second"))
				d.wantLong(emptyResult(1))
				if len(gaps) != 2 || gaps[0] != test.want || gaps[1] != test.want || lastIDs[0] != "a-1" || lastIDs[1] != "a-2" {
					t.Errorf("resumed after %v from %v, want %v", gaps, lastIDs, test.want)
				}
			})
		})
	}
}

// greetInMemory goes through the handshake.
func (d *dialed) greetInMemory() {
	d.t.Helper()
	d.send(hello(0))
	if _, err := d.receive(); err != nil {
		d.t.Fatal(err)
	}
	d.send(notice("notifications/initialized"))
	synctest.Wait()
}

// sendLong and wantLong are send and want without a time limit, for time that is
// not real.
func (d *dialed) sendLong(message string) {
	d.t.Helper()
	if err := d.Send(d.t.Context(), []byte(message)); err != nil {
		d.t.Fatal(err)
	}
}

func (d *dialed) wantLong(text string) {
	d.t.Helper()
	if got, err := d.Receive(d.t.Context()); err != nil || string(got) != text {
		d.t.Fatalf("got %s, %v\nwant %s", got, err, text)
	}
}

func TestResumingHasAnEnd(t *testing.T) {
	tests := []struct {
		name     string
		stream   string
		resumed  func(attempt int) *http.Response
		attempts int
		want     error  // nil: any
		text     string // in the error
	}{
		{"without an event id there is nothing to resume from", "data: " + notice("x") + "\n\n", nil, 0, io.ErrUnexpectedEOF, "ended before the answer"},
		{"a server that is gone is tried six times", "id: 1\ndata:\n\n", func(int) *http.Response { return nil }, 6, nil, "connection refused"},
		{"a server that is ill is tried six times", "id: 1\ndata:\n\n", func(int) *http.Response { return respond(503, "", "later") }, 6, nil, "503"},
		{"a refusal is final", "id: 1\ndata:\n\n", func(int) *http.Response { return respond(400, "", "unknown event") }, 1, nil, "unknown event"},
		{"a stream that is none is final", "id: 1\ndata:\n\n", func(int) *http.Response { return respond(200, "text/html", "hi") }, 1, nil, "200"},
		{"a session that is gone is said to be", "id: 1\ndata:\n\n", func(int) *http.Response { return respond(404, "", "") }, 1, streamable.ErrSessionLost, ""},
		{"a redirect away is final", "id: 1\ndata:\n\n", func(int) *http.Response {
			res := respond(302, "", "")
			res.Header.Set("Location", "http://evil.test/")
			return res
		}, 1, nil, "evil.test"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				attempts := 0
				d := dialMemory(t, func(r *http.Request, body string) *http.Response {
					if res := welcomed(r, body); res != nil {
						return res
					}
					switch {
					case r.Method == http.MethodPost:
						return streamOf(test.stream)
					case r.Header.Get("Last-Event-Id") == "":
						return respond(405, "", "")
					}
					attempts++
					return test.resumed(attempts)
				})
				d.greetInMemory()
				d.sendLong(plainRequest(1, "tools/call"))
				if test.attempts == 0 {
					d.wantLong(notice("x"))
				}
				_, err := d.Receive(t.Context())
				var lost *peer.LostError
				if !errors.As(err, &lost) || lost.ID != jsonrpc.IntID(1) || test.want != nil && !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
					t.Errorf("got %v", err)
				}
				if attempts != test.attempts {
					t.Errorf("%d attempts, want %d", attempts, test.attempts)
				}
			})
		})
	}
}

func TestTheServersOwnStreamIsOpenedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var times []time.Duration
		var ids []string
		start := time.Now()
		d := dialMemory(t, func(r *http.Request, body string) *http.Response {
			if res := welcomed(r, body); res != nil {
				return res
			}
			times, ids = append(times, time.Since(start)), append(ids, r.Header.Get("Last-Event-Id"))
			switch len(times) {
			case 1: // ends without a word
				return streamOf("")
			case 2:
				return streamOf("retry: 5000\nid: e1\ndata: " + notice("one") + "\n\n")
			case 3, 4: // it is down for a while
				return nil
			case 5:
				return streamOf("id: e2\ndata: " + notice("two") + "\n\n")
			}
			res, _ := openStream(r)
			return res
		})
		d.greetInMemory()
		d.wantLong(notice("one"))
		d.wantLong(notice("two"))
		time.Sleep(time.Hour)
		synctest.Wait()
		if fmt.Sprint(ids) != "[  e1 e1 e1 e2]" {
			t.Errorf("asked from %q", ids)
		}
		if times[1] != time.Second || times[2] != 6*time.Second || times[3]-times[2] < 10*time.Second || times[4]-times[3] < 20*time.Second {
			t.Errorf("asked at %v", times)
		}
	})
}

func TestAStreamThatStaysOpenAfterTheAnswerIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended time.Duration
		start := time.Now()
		d := dialMemory(t, func(r *http.Request, body string) *http.Response {
			res, w := openStream(r)
			context.AfterFunc(r.Context(), func() { ended = time.Since(start) })
			go func() { // ends when the stream is read
				_, _ = io.WriteString(w, "data: "+emptyResult(1)+"\n\ndata: "+notice("late")+"\n\n")
			}()
			return res
		})
		d.sendLong(selfDescribed(1, "tools/list", ""))
		d.wantLong(emptyResult(1))
		d.wantLong(notice("late"))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if ended != time.Second {
			t.Errorf("left after %v", ended)
		}
	})
}

func TestAStatelessStreamThatBreaksIsNotResumed(t *testing.T) {
	var s seen
	d := dialTo(t, func(w http.ResponseWriter, r *http.Request) {
		s.note(r)
		sayEvents(w, "id: 1\nretry: 1\ndata: "+notice("x")+"\n\n")
	}, nil)
	d.send(selfDescribed(1, "tools/list", ""))
	d.want(notice("x"))
	if err := d.wantLost(1); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
	if len(s.list()) != 1 {
		t.Errorf("the server got %d requests", len(s.list()))
	}
}

func TestR043TheSameEventsWhateverTheCuts(t *testing.T) {
	const end = `{"jsonrpc":"2.0","id":1,"result":{"text":"grün"}}`
	for _, lineBreak := range []string{"\n", "\r", "\r\n"} {
		text := strings.ReplaceAll(": comment\n\nid: 1\nretry: 10\ndata:\n\n:\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"method\":\"two\"}\n\nevent: message\ndata:"+end+"\n\n", "\n", lineBreak)
		for cut := 1; cut < len(text); cut++ {
			d := dialMemory(t, func(r *http.Request, body string) *http.Response {
				res := streamOf("")
				res.Body = io.NopCloser(io.MultiReader(strings.NewReader(text[:cut]), strings.NewReader(text[cut:])))
				return res
			})
			d.send(selfDescribed(1, "tools/list", ""))
			d.want("{\"jsonrpc\":\"2.0\",\n\"method\":\"two\"}")
			d.want(end)
		}
		d := dialMemory(t, func(r *http.Request, body string) *http.Response {
			return streamOf(strings.TrimRight(text, "\r\n") + lineBreak) // no final blank line: no event
		})
		d.send(selfDescribed(1, "tools/list", ""))
		d.want("{\"jsonrpc\":\"2.0\",\n\"method\":\"two\"}")
		if err := d.wantLost(1); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("got %v", err)
		}
	}
}

func TestR043AnAnswerOverTheCapFailsItsCallAndNoOther(t *testing.T) {
	other := make(chan struct{})
	serve := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m, _ := jsonrpc.Parse(body)
		begin := `{"jsonrpc":"2.0","id":` + m.ID.String() + `,"result":{"x":"`
		switch m.Method {
		case "event":
			sayEvents(w, "data: "+begin)
			flood(w, 17<<20)
		case "json":
			w.Header().Set("Content-Length", "2000000")
			sayJSON(w, 200, begin)
			flood(w, 2_000_000-len(begin))
		case "chunks":
			sayEventsAsJSON(w, begin)
			flood(w, 2_000_000)
		case "other":
			sayEvents(w, ":\n\n")
			<-other
			sayEvents(w, `data: {"jsonrpc":"2.0","id":`+m.ID.String()+`,"result":{}}`+"\n\n")
		}
	}
	usual := dialTo(t, serve, nil)
	p := runPeer(t, usual)
	small := runPeer(t, dialURL(t, usual.url, &streamable.DialOptions{MaxMessage: 1 << 20}))
	bystander := make(chan error, 1)
	go func() { bystander <- p.Call(t.Context(), "other", describing{}, nil) }() // awaited below
	for method, p := range map[string]*peer.Peer{"event": p, "json": small, "chunks": small} {
		err := p.Call(t.Context(), method, describing{}, nil)
		var theirs *jsonrpc.Error
		if !errors.Is(err, peer.ErrTooLong) || errors.As(err, &theirs) {
			t.Errorf("%s: %.200v", method, err)
		}
	}
	close(other)
	if err := <-bystander; err != nil {
		t.Errorf("the other call: %v", err)
	}
}

// runPeer runs a peer over a connection until the test ends.
func runPeer(t *testing.T, d *dialed) *peer.Peer {
	t.Helper()
	p := peer.New(d.Transport, nobody{}, &peer.Options{Quiet: true})
	over := make(chan error, 1)
	go func() { over <- p.Run(context.Background()) }() // awaited below
	t.Cleanup(func() {
		_ = p.Close()
		if err := <-over; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return p
}

// flood writes so many bytes, or until nobody reads.
func flood(w http.ResponseWriter, size int) {
	block := bytes.Repeat([]byte("x"), 64<<10)
	for size > 0 {
		n, err := w.Write(block[:min(size, len(block))])
		if err != nil {
			return
		}
		size -= n
	}
}

// sayEventsAsJSON answers with JSON of a length that it does not tell.
func sayEventsAsJSON(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json")
	_ = http.NewResponseController(w).Flush()
	_, _ = io.WriteString(w, text)
}

func TestR043ATrickleEndsWithTheCaller(t *testing.T) {
	for _, kind := range []string{"application/json", "text/event-stream"} {
		gone := make(chan struct{})
		d := dialTo(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, " ")
				_ = http.NewResponseController(w).Flush()
				select {
				case <-time.After(time.Millisecond):
				case <-r.Context().Done():
				}
			}
			close(gone)
		}, nil)
		p := runPeer(t, d)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if err := p.Call(ctx, "tools/list", describing{}, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", kind, err)
		}
		cancel()
		<-gone
	}
}

func TestAFullQueueHoldsStreamsUpAndLosesNothing(t *testing.T) {
	const each, streams = 50, 4
	d := dialTo(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sayEvents(w, strings.Repeat("data: "+notice("n")+"\n\n", each)+`data: {"jsonrpc":"2.0","id":`+idOf(t, body)+`,"result":{}}`+"\n\n")
	}, nil)
	var sends sync.WaitGroup
	for id := range streams {
		sends.Go(func() {
			if err := d.try(selfDescribed(id, "tools/list", "")); err != nil {
				t.Error(err)
			}
		})
	}
	sends.Wait()
	notices, results := 0, 0
	for range streams * (each + 1) {
		text, err := d.receive()
		switch {
		case err != nil:
			t.Fatal(err)
		case text == notice("n"):
			notices++
		default:
			results++
		}
	}
	if notices != streams*each || results != streams {
		t.Errorf("%d notifications and %d results", notices, results)
	}
}

func TestConnectionsAreUsedAgainAfterStreams(t *testing.T) {
	var connections atomic.Int32
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sayEvents(w, `data: {"jsonrpc":"2.0","id":`+idOf(t, body)+`,"result":{}}`+"\n\n")
	}))
	srv.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	srv.Start()
	defer srv.Close()
	d := dialURL(t, srv.URL, nil)
	for id := range 200 {
		d.send(selfDescribed(id, "tools/list", ""))
		d.want(emptyResult(id))
	}
	if got := connections.Load(); got > 20 { // a call may begin before the last stream has ended
		t.Errorf("200 calls, one after the other, took %d connections", got)
	}
}
