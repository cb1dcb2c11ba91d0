package deferred_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/deferred"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/streamable"
)

func TestOverHTTPTheWorkOutlivesItsRequest(t *testing.T) {
	f := newFixture(t, &deferred.Options{PollInterval: 50 * time.Millisecond})
	endpoint := streamable.Handler(f.s, nil)
	web := httptest.NewServer(endpoint)
	defer web.Close()
	var requests http.Transport
	defer requests.CloseIdleConnections()
	connect := func() *client.Client {
		c, err := client.Connect(t.Context(), streamable.Dial(web.URL, &streamable.DialOptions{Client: &http.Client{Transport: &requests}}), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	handles, results := make(chan string, 1), make(chan string, 2)
	call := func(result *mcp.CallToolResult, err error) {
		if err != nil {
			results <- err.Error()
			return
		}
		results <- client.TextOf(result.Content)
	}
	first, second := connect(), connect()
	go func() { // results awaits it
		told := false
		call(first.CallTool(t.Context(), "wait", nil, &client.CallOptions{OnDeferred: func(d *mcp.Deferred) {
			if !told {
				told = true
				handles <- d.ID
			}
		}}))
	}()
	id := <-handles
	requests.CloseIdleConnections() // the request that began the work is over
	go func() { call(second.Await(t.Context(), id, nil)) }()
	time.Sleep(100 * time.Millisecond)
	close(f.open)
	for range 2 {
		if got := <-results; got != "waited" {
			t.Errorf("got %q", got)
		}
	}
}
