package streamable_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/streamable"
)

func ping(id int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, id) }

// answersOf returns the responses of a batch by id.
func answersOf(t *testing.T, res response) map[string]wire {
	t.Helper()
	var all []wire
	if err := json.Unmarshal([]byte(res.body), &all); err != nil || res.status != 200 {
		t.Fatalf("got %d %s, want an array: %v", res.status, res.body, err)
	}
	byID := make(map[string]wire)
	for _, m := range all {
		byID[string(m.ID)] = m
	}
	if len(byID) != len(all) {
		t.Errorf("ids repeat in %s", res.body)
	}
	return byID
}

func TestBatches(t *testing.T) { // R013
	const note = `{"jsonrpc":"2.0","method":"notifications/whatever"}`
	s := open(t, newBench(), nil)
	c := s.join("2025-03-26")
	t.Run("requests, notifications and rubbish mixed", func(t *testing.T) {
		all := answersOf(t, c.post("["+strings.Join([]string{
			ping(1), note, callBody(2, "hello", "{}"), `{"jsonrpc":"2.0","id":3,"method":"no/such"}`, `{"id":4,"method":"ping"}`, `5`,
			`{"jsonrpc":"2.0","id":77,"result":{}}`, fmt.Sprintf(initialize, "2025-03-26"),
		}, ",")+"]"))
		for id, code := range map[string]int{"1": 0, "2": 0, "3": -32601, "4": -32600, "": -32600, "0": -32600} {
			if m, ok := all[id]; !ok || m.code() != code {
				t.Errorf("id %q: got %+v, want code %d", id, m, code)
			}
		}
		if !strings.Contains(string(all["2"].Result), "hello") {
			t.Errorf("the tool answered %s", all["2"].Result)
		}
	})
	t.Run("one alone is still a batch", func(t *testing.T) {
		if all := answersOf(t, c.post("["+ping(1)+"]")); len(all) != 1 {
			t.Errorf("got %v", all)
		}
	})
	t.Run("only notifications and responses", func(t *testing.T) {
		if res := c.post("[" + note + `,{"jsonrpc":"2.0","id":77,"result":{}}]`); res.status != 202 || res.body != "" {
			t.Errorf("got %d %q, want 202 and nothing", res.status, res.body)
		}
	})
	t.Run("an empty one", func(t *testing.T) { c.post("[]").wantError(t, 400, -32600, "") })
	t.Run("no JSON", func(t *testing.T) { c.post("["+ping(1)).wantError(t, 400, -32700, "") })
	t.Run("far too many", func(t *testing.T) {
		c.post("["+strings.Repeat(ping(1)+",", 5_000)+ping(1)+"]").wantError(t, 400, -32600, "")
	})
	t.Run("one that speaks is a stream", func(t *testing.T) {
		e := c.stream(http.MethodPost, "["+callBody(1, "count", "{}")+","+callBody(2, "hello", "{}")+"]")
		answered := make(map[string]bool)
		for event := range e.next {
			if m := parse(t, string(event.Data)); len(m.ID) > 0 {
				answered[string(m.ID)] = true
			}
		}
		if !answered["1"] || !answered["2"] {
			t.Errorf("answered %v, want both", answered)
		}
	})
	t.Run("other revisions have none", func(t *testing.T) {
		for _, version := range []string{"2024-11-05", "2025-06-18", lastSession} {
			s.join(version).post("["+ping(1)+"]").wantError(t, 400, -32600, "")
		}
		s.post("["+ping(1)+"]").wantError(t, 400, -32600, "")
	})
}

func TestBatchCapIsSettable(t *testing.T) {
	c := open(t, newBench(), &streamable.Options{MaxBatch: 2}).join("2025-03-26")
	answersOf(t, c.post("["+ping(1)+","+ping(2)+"]"))
	c.post("["+ping(1)+","+ping(2)+","+ping(3)+"]").wantError(t, 400, -32600, "")
}
