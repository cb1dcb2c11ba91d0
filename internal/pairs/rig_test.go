package pairs_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
	"github.com/bossman-mcp/bossman/mcptest"
	"github.com/bossman-mcp/bossman/stdio"
	"github.com/bossman-mcp/bossman/streamable"
)

// patience is how long a test waits for what should happen at once.
const patience = 10 * time.Second

var quiet = slog.New(slog.DiscardHandler)

// side is a client or a server: its name in stories, and the revisions that it
// speaks.
type side struct{ name, revisions string }

// isOldest reports whether a side knows no other HTTP than the pair of endpoints
// of the oldest revision.
func (s side) isOldest() bool { return s.revisions == revision.All()[0].Name }

// rig is a server, the way to it, and a recorder on that way.
type rig struct {
	t         testing.TB
	recording bytes.Buffer
	recorder  *mcptest.Recorder
	dialer    client.Dialer
	http      *journal // nil over standard input and output
	close     func()   // ends the server, which must be at rest
}

// newRig serves h in the given form: "stdio" or "http".
func newRig(t testing.TB, form string, h mcp.Handler, from, to side) *rig {
	t.Helper()
	r := &rig{t: t}
	r.recorder = mcptest.NewRecorder(&r.recording)
	if form == "stdio" {
		d := &lines{handler: h, revisions: to.revisions, recorder: r.recorder}
		r.dialer = d
		r.close = func() {
			for _, ended := range d.served {
				if err := <-ended; err != nil {
					t.Errorf("serve: %v", err)
				}
			}
		}
		return r
	}
	r.overHTTP(h, from, to)
	return r
}

// lines dials a server on pipes in place of standard input and output.
type lines struct {
	handler   mcp.Handler
	revisions string
	recorder  *mcptest.Recorder
	served    []chan error // of each connection
}

// Dial starts a server.
func (d *lines) Dial(context.Context) (peer.Transport, error) {
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	ended := make(chan error, 1)
	d.served = append(d.served, ended)
	go func() { // awaited by the rig's close
		err := stdio.Serve(context.Background(), d.handler, &stdio.Options{In: toServer, Out: fromServer, Revision: d.revisions, Logger: quiet})
		_ = fromServer.Close()
		ended <- err
	}()
	return d.recorder.ClientSide(peer.Lines(toClient, fromClient, 0)), nil
}

// overHTTP serves over HTTP: a server of the oldest revision has nothing but its
// pair of endpoints, and a client of that revision wants nothing else.
func (r *rig) overHTTP(h mcp.Handler, from, to side) {
	e := streamable.Handler(h, &streamable.Options{Revision: to.revisions, Logger: quiet})
	mux := http.NewServeMux()
	mux.Handle("/mcp", e)
	mux.Handle("/sse", e.SSE())
	path := "/mcp"
	if from.isOldest() || to.isOldest() {
		path = "/sse"
	}
	srv := httptest.NewServer(mux)
	transport := &http.Transport{}
	r.http = &journal{next: r.recorder.RoundTripper(transport)}
	r.dialer = streamable.Dial(srv.URL+path, &streamable.DialOptions{
		Client: &http.Client{Transport: r.http}, SSE: from.isOldest(), Logger: quiet,
	})
	r.close = func() {
		r.await("the server to forget everything", func() bool { return e.Stats() == streamable.Stats{} })
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := e.Shutdown(ctx); err != nil {
			r.t.Errorf("shut down: %v", err)
		}
		transport.CloseIdleConnections()
		srv.Close()
	}
}

// await waits for what no message tells of.
func (r *rig) await(what string, done func() bool) {
	r.t.Helper()
	for end := time.Now().Add(patience); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// journal notes each HTTP request and what became of it.
type journal struct {
	next http.RoundTripper

	mu      sync.Mutex
	entries []string
}

// RoundTrip notes a request when it is sent, so that they stand in that order.
func (j *journal) RoundTrip(req *http.Request) (*http.Response, error) {
	entry := req.Method
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		message, err := io.ReadAll(body)
		if err != nil {
			return nil, err
		}
		if entry += " " + jsonscan.Unquote(jsonscan.Get(message, "method")); entry == "POST " {
			entry += "an answer"
		}
	}
	for _, name := range []string{"Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Session-Id"} {
		if req.Header.Get(name) != "" {
			entry += " +" + strings.TrimPrefix(name, "Mcp-")
		}
	}
	j.mu.Lock()
	at := len(j.entries)
	j.entries = append(j.entries, entry+": given up")
	j.mu.Unlock()
	res, err := j.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	entry = fmt.Sprintf("%s: %d %s", entry, res.StatusCode, res.Header.Get("Content-Type"))
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries[at] = strings.TrimSpace(entry)
	return res, nil
}

// last returns the end of the last entry that begins like that, empty if there is
// none.
func (j *journal) last(request string) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, entry := range slices.Backward(j.entries) {
		if strings.HasPrefix(entry, request) {
			return entry[strings.LastIndex(entry, ":")+1:]
		}
	}
	return ""
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return "HTTP:\n  " + strings.Join(j.entries, "\n  ") + "\n"
}
