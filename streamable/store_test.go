package streamable_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/streamable"
)

// kept returns the sequence numbers that a store has of a stream.
func kept(t *testing.T, s streamable.EventStore, session string, stream, after uint64) string {
	t.Helper()
	events, err := s.After(t.Context(), session, stream, after)
	if err != nil {
		t.Fatal(err)
	}
	var seqs []string
	for _, e := range events {
		if string(e.Message) != fmt.Sprint(session, stream, e.Seq) && len(e.Message) < 100 {
			t.Errorf("message %d is %s", e.Seq, e.Message)
		}
		seqs = append(seqs, fmt.Sprint(e.Seq))
	}
	return strings.Join(seqs, " ")
}

func TestMemoryStore(t *testing.T) {
	add := func(s streamable.EventStore, session string, stream, seq uint64, size int) {
		message := []byte(fmt.Sprint(session, stream, seq))
		if size > 0 {
			message = make([]byte, size)
		}
		if err := s.Append(t.Context(), session, stream, seq, message); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("keeps streams and sessions apart", func(t *testing.T) {
		s := streamable.NewMemoryStore(0, 0)
		for seq := range uint64(4) {
			add(s, "a", 1, seq+1, 0)
			add(s, "a", 2, seq+1, 0)
			add(s, "b", 1, seq+1, 0)
		}
		if got := kept(t, s, "a", 1, 2); got != "3 4" {
			t.Errorf("got %s", got)
		}
		if got := kept(t, s, "a", 1, 4) + kept(t, s, "c", 1, 0) + kept(t, s, "a", 3, 0); got != "" {
			t.Errorf("got %s, want nothing", got)
		}
		if err := s.Forget(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if got := kept(t, s, "a", 1, 0) + kept(t, s, "a", 2, 0); got != "" {
			t.Errorf("got %s of a session that was forgotten", got)
		}
		if got := kept(t, s, "b", 1, 0); got != "1 2 3 4" {
			t.Errorf("got %s of the other session", got)
		}
	})
	t.Run("forgets the oldest of a session", func(t *testing.T) {
		s := streamable.NewMemoryStore(4000, 0)
		for seq := range uint64(10) {
			add(s, "a", seq%2, seq+1, 1000)
			add(s, "b", 0, seq+1, 0)
		}
		if got := kept(t, s, "a", 0, 0) + "," + kept(t, s, "a", 1, 0); got != "9,8 10" {
			t.Errorf("got %s, want the newest three", got)
		}
		if got := kept(t, s, "b", 0, 0); got != "1 2 3 4 5 6 7 8 9 10" {
			t.Errorf("got %s of the other session", got)
		}
	})
	t.Run("forgets the oldest of all", func(t *testing.T) {
		s := streamable.NewMemoryStore(0, 4000)
		for seq := range uint64(5) {
			add(s, "a", 0, seq+1, 1000)
		}
		add(s, "b", 0, 1, 1000)
		if got := kept(t, s, "a", 0, 0) + "," + kept(t, s, "b", 0, 0); got != "4 5,1" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("does not keep what is too large", func(t *testing.T) {
		s := streamable.NewMemoryStore(1000, 0)
		add(s, "a", 0, 1, 0)
		add(s, "a", 0, 2, 2000)
		if got := kept(t, s, "a", 0, 0); got != "1" {
			t.Errorf("got %s", got)
		}
	})
}

// brokenStore fails.
type brokenStore struct{}

var errBroken = errors.New("broken")

func (brokenStore) Append(context.Context, string, uint64, uint64, []byte) error { return errBroken }
func (brokenStore) Forget(context.Context, string) error                         { return errBroken }
func (brokenStore) After(context.Context, string, uint64, uint64) ([]streamable.StoredEvent, error) {
	return nil, errBroken
}

func TestABrokenStoreDoesNotBreakStreams(t *testing.T) {
	b := newBench()
	c := open(t, b, &streamable.Options{Events: brokenStore{}}).join(lastSession)
	e := c.stream(http.MethodPost, callBody(1, "count", "{}"))
	for range 3 {
		e.message()
	}
	if m := e.message(); string(m.ID) != "1" {
		t.Errorf("got %+v, want the result", m)
	}
	e = c.stream(http.MethodPost, callBody(1, "release", "{}"))
	prime := e.take()
	e.ended()
	close(b.proceed)
	again := c.stream(http.MethodGet, "", "Last-Event-ID: "+prime.ID)
	if m := again.message(); string(m.ID) != "1" {
		t.Errorf("got %+v, want the result, which was never sent before", m)
	}
}
