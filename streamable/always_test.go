package streamable_test

import (
	"bufio"
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/streamable"
)

func TestSessionsCanAlwaysAnswerWithStreams(t *testing.T) {
	s := open(t, newBench(), &streamable.Options{AlwaysStream: true})
	for _, version := range sessionVersions {
		t.Run(version, func(t *testing.T) {
			c := s.join(version)
			for _, body := range []string{ping(1), callBody(1, "hello", "{}"), `{"jsonrpc":"2.0","id":1,"method":"no/such"}`} {
				e := c.stream(http.MethodPost, body)
				if version == lastSession {
					if prime := e.take(); !prime.HasID || len(prime.Data) > 0 || prime.Retry == 0 {
						t.Errorf("%s: the stream began with %+v, want an id, empty data and a retry", body, prime)
					}
				}
				event := e.take()
				if m := parse(t, string(event.Data)); !event.HasID || string(m.ID) != "1" {
					t.Errorf("%s: got %+v, want the answer, with an id", body, event)
				}
				e.ended()
			}
		})
	}
	t.Run("the oldest revision has no such streams", func(t *testing.T) {
		s.join("2024-11-05").call(1, "hello", "{}").wantText(t, "hello")
	})
}

func TestTheNewestRevisionCanAlwaysAnswerWithStreams(t *testing.T) {
	s := open(t, newBench(), &streamable.Options{AlwaysStream: true})
	call := func(tool string) *events {
		return s.stream(http.MethodPost, modernBody("tools/call", `"name":"`+tool+`","arguments":{}`), modernHeaders("tools/call", tool)...)
	}
	for _, tool := range []string{"hello", "fail"} { // a tool that failed has a result too
		e := call(tool)
		if event := e.take(); event.HasID || string(parse(t, string(event.Data)).ID) != "1" {
			t.Errorf("%s: got %+v, want the answer, without an id", tool, event)
		}
		e.ended()
	}
	if res := s.post(modernBody("no/such", ""), modernHeaders("no/such", "")...); res.status != 404 || res.header.Get("Content-Type") != "application/json" {
		t.Errorf("an error with a status of its own: got %d %s", res.status, res.header.Get("Content-Type"))
	}
}

func TestASilentCallIsKeptAlive(t *testing.T) {
	b := newBench()
	s := open(t, b, &streamable.Options{AlwaysStream: true, KeepAlive: 5 * time.Millisecond})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	res, err := s.client.Do(s.request(ctx, http.MethodPost, modernBody("tools/call", `"name":"wait","arguments":{}`), modernHeaders("tools/call", "wait")...))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for comments := 0; comments < 3 && lines.Scan(); { // while the tool waits
		if strings.HasPrefix(lines.Text(), ":") {
			comments++
		}
	}
	close(b.proceed)
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data:"); ok {
			if !strings.Contains(data, "waited") {
				t.Errorf("got %s", data)
			}
			return
		}
	}
	t.Errorf("there was no answer: %v", lines.Err())
}

func TestBatchesCanAlwaysBeStreams(t *testing.T) {
	c := open(t, newBench(), &streamable.Options{AlwaysStream: true}).join("2025-03-26")
	e := c.stream(http.MethodPost, "["+ping(1)+","+callBody(2, "hello", "{}")+"]")
	got := []string{string(e.message().ID), string(e.message().ID)}
	if slices.Sort(got); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("got answers to %v", got)
	}
	e.ended()
}

func TestAnAnswerThatWasLostIsFetched(t *testing.T) {
	for _, test := range []struct {
		name  string
		early bool // the connection breaks while the call runs
	}{
		{"before it was given", true},
		{"on its way", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench()
			c := open(t, b, &streamable.Options{AlwaysStream: true}).join(lastSession)
			e := c.stream(http.MethodPost, callBody(1, "wait", "{}"))
			prime := e.take()
			b.running(t)
			if test.early {
				e.close()
			}
			close(b.proceed)
			if !test.early {
				e.message() // which the client, let us say, has never seen
				e.ended()
			}
			for range 2 {
				again := c.stream(http.MethodGet, "", "Last-Event-ID: "+prime.ID)
				if m := again.message(); string(m.ID) != "1" || !strings.Contains(string(m.Result), "waited") {
					t.Errorf("got %+v, want the result", m)
				}
				again.ended()
			}
		})
	}
}

func TestACancelledCallEndsItsStream(t *testing.T) {
	b := newBench()
	c := open(t, b, &streamable.Options{AlwaysStream: true}).join(lastSession)
	e := c.stream(http.MethodPost, callBody(1, "wait", "{}"))
	e.take()
	b.running(t)
	if res := c.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`); res.status != 202 {
		t.Errorf("cancel: got %d", res.status)
	}
	e.ended()
}
