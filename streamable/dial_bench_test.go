package streamable_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/streamable"
)

// canned is a transport that answers every request with the id that the body
// has, without a network.
type canned struct{ kind, before, after string }

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	text := c.before + string(cannedID(body)) + c.after
	res := respond(200, c.kind, text)
	if c.kind == "application/json" {
		res.ContentLength = int64(len(text))
	}
	return res, nil
}

// cannedID finds the id of a message that begins as ours do.
func cannedID(body []byte) []byte {
	const begin = len(`{"jsonrpc":"2.0","id":`)
	end := begin
	for body[end] != ',' {
		end++
	}
	return body[begin:end]
}

const (
	cannedBefore = `{"jsonrpc":"2.0","id":`
	cannedAfter  = `,"result":{"resultType":"complete","content":[{"type":"text","text":"{\"sum\":3}"}],"structuredContent":{"sum":3},"isError":false}}`
)

// benchCalls makes calls through a connection and a peer, one after the other.
func benchCalls(b *testing.B, d *streamable.Dialer) {
	b.Helper()
	tr, err := d.Dial(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	p := peer.New(tr, nobody{}, &peer.Options{Quiet: true})
	over := make(chan error, 1)
	go func() { over <- p.Run(context.Background()) }() // awaited below
	defer func() {
		_ = p.Close()
		<-over
	}()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	params := toolCall("add", true)
	b.ReportAllocs()
	for b.Loop() {
		var result jsontext.Value
		if err := p.Call(ctx, mcp.MethodCallTool, params, &result); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDialedCall is one call of the stateless era. Over "nothing" it counts
// what the dialer and the peer cost; over "net/http" also the client and the
// server of the standard library.
func BenchmarkDialedCall(b *testing.B) {
	logger := slog.New(slog.DiscardHandler)
	for _, t := range []struct {
		name string
		canned
	}{
		{"json", canned{"application/json", cannedBefore, cannedAfter}},
		{"stream", canned{"text/event-stream", "data: " + cannedBefore, cannedAfter + "\n\n"}},
	} {
		b.Run("nothing/"+t.name, func(b *testing.B) {
			benchCalls(b, streamable.Dial("http://server.test/mcp", &streamable.DialOptions{Client: &http.Client{Transport: t.canned}, Logger: logger}))
		})
		b.Run("net/http/"+t.name, func(b *testing.B) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				w.Header()["Content-Type"] = []string{t.kind}
				_, _ = io.WriteString(w, t.before+string(cannedID(body))+t.after)
			}))
			defer srv.Close()
			benchCalls(b, streamable.Dial(srv.URL, &streamable.DialOptions{Logger: logger}))
		})
	}
}

// BenchmarkBareCall is the same POST by net/http alone, to compare with.
func BenchmarkBareCall(b *testing.B) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		w.Header()["Content-Type"] = []string{"application/json"}
		_, _ = io.WriteString(w, cannedBefore+"1"+cannedAfter)
	}))
	defer srv.Close()
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	defer client.CloseIdleConnections()
	body := []byte(selfDescribed(1, mcp.MethodCallTool, `"name":"add","arguments":{"region":"west ","n":1},`))
	b.ReportAllocs()
	for b.Loop() {
		bareCall(b, client, srv.URL, body)
	}
}

func bareCall(b *testing.B, client *http.Client, url string, body []byte) {
	req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "x", "Mcp-Method": mcp.MethodCallTool, "Mcp-Name": "add",
	} {
		req.Header.Set(name, value)
	}
	res, err := client.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	_, _ = io.ReadAll(res.Body)
	_ = res.Body.Close()
}
