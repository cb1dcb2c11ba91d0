package streamable_test

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

// stubborn adds a tool that does not care whether it was cancelled.
func (b *bench) stubborn() {
	b.AddTool(mcp.Tool{Name: "stubborn"}, server.CallFunc(func(_ context.Context, c *mcp.Call, _ nothing) (string, error) {
		return b.wait(context.Background(), c)
	}))
}

const cancelFirst = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`

// A session's call runs on its request's goroutine. That must not keep the client
// waiting for a tool that nobody wants the answer of.
func TestAnswersThatDoNotWaitForTheTool(t *testing.T) {
	tests := []struct {
		name, version, body string
		end                 func(c *session)
		status              int
		text                string
	}{
		{"a cancelled call", lastSession, callBody(1, "stubborn", "{}"), func(c *session) { c.post(cancelFirst) }, 202, ""},
		{"a call of a session that ended", lastSession, callBody(1, "stubborn", "{}"), func(c *session) { c.do(http.MethodDelete) }, 404, "no such session"},
		{"a batch of which one is cancelled", "2025-03-26", "[" + ping(2) + "," + callBody(1, "stubborn", "{}") + "]",
			func(c *session) { c.post(cancelFirst) }, 200, `"id":2`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench()
			b.stubborn()
			s := open(t, b, nil)
			c := s.join(tt.version)
			answer := make(chan response, 1)
			go func() { answer <- c.post(tt.body) }() // awaited below
			b.running(t)
			if strings.HasPrefix(tt.body, "[") { // the ping may still be on its way
				eventually(t, "the ping is answered", func() bool { return c.post(ping(2)).status == 200 })
			}
			tt.end(c)
			res := receive(t, answer)
			if res.status != tt.status || !strings.Contains(res.body, tt.text) {
				t.Errorf("got %d %s, want %d and %q", res.status, res.body, tt.status, tt.text)
			}
			if !res.last {
				t.Error("the connection stays, and is of no use before the tool is done")
			}
			s.callTool("hello", "{}").wantText(t, "hello")
			close(b.proceed)
		})
	}
}

func TestABatchThatCancelsItsOwn(t *testing.T) {
	b := newBench()
	close(b.proceed)
	c := open(t, b, nil).join("2025-03-26")
	for range 50 {
		if res := c.post("[" + callBody(1, "wait", "{}") + "," + cancelFirst + "]"); res.status != 202 || res.body != "" {
			t.Fatalf("got %d %q, want 202 and nothing", res.status, res.body)
		}
		all := answersOf(t, c.post("["+callBody(1, "wait", "{}")+","+cancelFirst+","+ping(2)+"]"))
		if _, ok := all["2"]; !ok || len(all) != 1 {
			t.Fatalf("got %v, want the answer to the other", all)
		}
	}
}

// What ends in good order leaves a connection that can be used again.
func TestConnectionsOfSessionsAreUsedAgain(t *testing.T) {
	c := open(t, newBench(), nil).join("2025-03-26")
	for _, body := range []string{
		callBody(1, "hello", "{}"), callBody(1, "count", "{}"), "[" + ping(1) + "," + ping(2) + "]", "[5,6]", `[` + callBody(1, "count", "{}") + `]`,
	} {
		c.post(body)
		again := false
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { again = i.Reused }})
		res, err := c.client.Do(c.request(ctx, http.MethodPost, ping(9), c.with(nil)...))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if !again {
			t.Errorf("after %s the connection was closed", body)
		}
	}
}

func TestABatchWhoseLastAnswerComesAfterACancellation(t *testing.T) {
	b := newBench()
	b.stubborn()
	later := make(chan struct{})
	b.AddTool(mcp.Tool{Name: "later"}, server.CallFunc(func(context.Context, *mcp.Call, nothing) (string, error) {
		<-later
		return "later", nil
	}))
	c := open(t, b, nil).join("2025-03-26")
	defer close(b.proceed) // the stubborn tool outlives the answer
	answer := make(chan response, 1)
	go func() { answer <- c.post("[" + callBody(1, "stubborn", "{}") + "," + callBody(2, "later", "{}") + "]") }() // awaited below
	b.running(t)
	c.post(cancelFirst)
	close(later)
	if all := answersOf(t, receive(t, answer)); len(all) != 1 || all["2"].Result == nil {
		t.Errorf("got %v, want the answer to the other", all)
	}
}
