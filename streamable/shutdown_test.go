package streamable_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestShutdown(t *testing.T) { // R041
	b := newBench()
	s := open(t, b, nil)
	const streams, calls = 100, 20
	c := s.join(lastSession)
	own := c.stream(http.MethodGet, "")
	own.take()
	pair := s.openPair(t)
	pair.join("2024-11-05")
	listeners := make([]*events, streams)
	for i := range listeners {
		listeners[i] = s.listen(fmt.Sprint(i), `{"toolsListChanged":true}`)
		listeners[i].take()
	}
	var inFlight sync.WaitGroup
	for i := range calls {
		inFlight.Go(func() {
			if i%2 == 0 {
				s.callTool("wait", "{}").wantText(t, "waited")
			} else {
				c.call(i, "wait", "{}").wantText(t, "waited")
			}
		})
		b.running(t)
	}

	down := make(chan error, 1)
	go func() { down <- s.e.Shutdown(t.Context()) }() // awaited below
	for i, e := range listeners {
		m := e.message()
		want := fmt.Sprintf(`"io.modelcontextprotocol/subscriptionId":%d`, i)
		if string(m.ID) != fmt.Sprint(i) || !strings.Contains(string(m.Result), want) || !strings.Contains(string(m.Result), "complete") {
			t.Errorf("stream %d ended with %+v", i, m)
		}
		e.ended()
	}
	own.ended()
	pair.ended()
	for _, res := range []response{
		s.callTool("hello", "{}"), s.post(fmt.Sprintf(initialize, lastSession)), c.call(99, "hello", "{}"),
		s.post(listenBody, modernHeaders("subscriptions/listen", "")...), c.do(http.MethodGet),
	} {
		if res.status != 503 || res.header.Get("Retry-After") == "" {
			t.Errorf("a new request got %d %v, want 503 and when to come again", res.status, res.header)
		}
	}
	select {
	case err := <-down:
		t.Fatalf("it was down before its calls had ended: %v", err)
	default:
	}
	close(b.proceed)
	inFlight.Wait()
	if err := receive(t, down); err != nil {
		t.Errorf("shut down: %v", err)
	}
	if got := s.e.Stats(); got.Sessions != 0 || got.Streams != 0 {
		t.Errorf("left: %+v", got)
	}
	if err := s.e.Shutdown(t.Context()); err != nil { // once more is no error
		t.Errorf("shut down again: %v", err)
	}
}

func TestShutdownLetsQuestionsBeAnswered(t *testing.T) {
	s := open(t, newBench(), nil)
	c := s.join(lastSession)
	e := c.stream(http.MethodPost, callBody(1, "ask", "{}"))
	question := e.message()
	down := make(chan error, 1)
	go func() { down <- s.e.Shutdown(t.Context()) }() // awaited below
	eventually(t, "it is going down", func() bool { return s.callTool("hello", "{}").status == 503 })
	c.post(`{"jsonrpc":"2.0","id":` + string(question.ID) + `,"result":{"action":"decline"}}`)
	if m := e.message(); !strings.Contains(string(m.Result), "decline") {
		t.Errorf("got %+v", m)
	}
	if err := receive(t, down); err != nil {
		t.Errorf("shut down: %v", err)
	}
}

func TestShutdownGivesUp(t *testing.T) {
	b := newBench()
	s := open(t, b, nil)
	c := s.join(lastSession)
	answer := make(chan response, 1)
	go func() { answer <- c.call(1, "wait", "{}") }() // awaited below
	b.running(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := s.e.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want that the time was up", err)
	}
	if err := receive(t, b.ended); err != context.Canceled {
		t.Errorf("the call's context ended with %v", err)
	}
	if res := receive(t, answer); res.status != 503 {
		t.Errorf("the call got %d %s, want 503", res.status, res.body)
	}
}
