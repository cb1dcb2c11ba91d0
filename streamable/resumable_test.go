package streamable_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/streamable"
)

func TestResumableSessionsAnswerWithStreams(t *testing.T) {
	s := open(t, newBench(), &streamable.Options{Resumable: true})
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
	t.Run("the newest revision has no such streams", func(t *testing.T) {
		s.callTool("hello", "{}").wantText(t, "hello")
	})
}

func TestResumableBatchesAreStreams(t *testing.T) {
	c := open(t, newBench(), &streamable.Options{Resumable: true}).join("2025-03-26")
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
			c := open(t, b, &streamable.Options{Resumable: true}).join(lastSession)
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

func TestACancelledCallEndsItsResumableStream(t *testing.T) {
	b := newBench()
	c := open(t, b, &streamable.Options{Resumable: true}).join(lastSession)
	e := c.stream(http.MethodPost, callBody(1, "wait", "{}"))
	e.take()
	b.running(t)
	if res := c.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`); res.status != 202 {
		t.Errorf("cancel: got %d", res.status)
	}
	e.ended()
}
