package streamable_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/internal/sse"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/streamable"
)

// manyWords is how often the tool chatter speaks: more than connections and
// streams hold.
const manyWords = 10_000

// newChatter returns a server whose tool chatter speaks without a pause, after it
// has let its client go if release is set. What it is told when it is done comes
// to ended.
func newChatter(size int, release bool) *bench {
	b := newBench()
	word := strings.Repeat("a", size)
	b.AddTool(mcp.Tool{Name: "chatter"}, server.CallFunc(func(ctx context.Context, c *mcp.Call, _ nothing) (string, error) {
		if release {
			c.Release()
			<-b.proceed
		}
		var err error
		for i := 0; i < manyWords && err == nil; i++ {
			err = c.Progress(ctx, float64(i+1), manyWords, word)
		}
		b.ended <- err
		return "done", err
	}))
	return b
}

func TestProgressWaitsForAClientThatReadsSlowly(t *testing.T) {
	for _, version := range append([]string{"2024-11-05"}, sessionVersions...) {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			c := open(t, newChatter(1000, false), nil).join(version)
			e := c.stream(http.MethodPost, callBody(1, "chatter", "{}"))
			words := 0
			for m := e.message(); m.ID == nil; m = e.message() {
				if words++; words%500 == 0 {
					time.Sleep(2 * time.Millisecond) // the client is slow
				}
			}
			e.ended()
			if words != manyWords {
				t.Errorf("%d notifications came, want %d", words, manyWords)
			}
		})
	}
}

func TestProgressGoesOnWithoutAClient(t *testing.T) {
	b := newChatter(10, true)
	c := open(t, b, nil).join(lastSession)
	e := c.stream(http.MethodPost, callBody(1, "chatter", "{}"))
	prime := e.take()
	e.ended()
	close(b.proceed)
	if err := receive(t, b.ended); err != nil {
		t.Errorf("the tool was told %v", err)
	}
	if words := c.fetchWords(prime.ID); words == 0 || words > 1000 {
		t.Errorf("%d notifications were kept, want some and 1000 at most", words)
	}
}

func TestProgressGoesOnWhenAClientDoesNotRead(t *testing.T) {
	b := newChatter(4000, false)
	c := open(t, b, &streamable.Options{WriteTimeout: time.Second}).join(lastSession)
	prime := c.begin(callBody(1, "chatter", "{}")) // and reads no further
	if err := receive(t, b.ended); err != nil {
		t.Errorf("the tool was told %v", err)
	}
	if words := c.fetchWords(prime.ID); words == 0 || words == manyWords {
		t.Errorf("%d notifications were kept, want some and not all", words)
	}
}

// undated hides that its connection can have deadlines, and be taken over.
type undated struct {
	http.ResponseWriter
	http.Flusher
}

func TestProgressGoesOnWhenAConnectionHasNoDeadlines(t *testing.T) {
	b := newChatter(4000, false)
	wrap := func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.ServeHTTP(undated{w, w.(http.Flusher)}, r)
		})
	}
	c := openBehind(t, b, &streamable.Options{WriteTimeout: 100 * time.Millisecond}, wrap).join(lastSession)
	c.begin(callBody(1, "chatter", "{}"))
	if err := receive(t, b.ended); err != nil {
		t.Errorf("the tool was told %v", err)
	}
}

func TestProgressThatWaitsEndsWithTheCall(t *testing.T) {
	b := newChatter(4000, false)
	c := open(t, b, nil).join(lastSession)
	c.begin(callBody(1, "chatter", "{}"))
	time.Sleep(200 * time.Millisecond) // until the connection is full
	c.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if err := receive(t, b.ended); err == nil {
		t.Error("the tool was told nothing")
	}
}

// begin sends a request, reads the first event of its answer, and no more until
// the test is over.
func (c *session) begin(body string) sse.Event {
	c.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	res, err := c.client.Do(c.request(ctx, http.MethodPost, body, c.with(nil)...))
	if err != nil {
		cancel()
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		cancel()
		res.Body.Close()
	})
	event, err := sse.NewDecoder(res.Body, 0).Next()
	if err != nil {
		c.t.Fatal(err)
	}
	return event
}

// fetchWords takes up a stream and counts what comes before the answer, which
// must come.
func (c *session) fetchWords(after string) (words int) {
	c.t.Helper()
	e := c.stream(http.MethodGet, "", "Last-Event-ID: "+after)
	for m := e.message(); m.ID == nil; m = e.message() {
		words++
	}
	e.ended()
	return words
}
