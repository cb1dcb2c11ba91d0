package mcptest

import (
	"bytes"
	"io"
	"mime"
	"net/http"

	"github.com/bossman-mcp/bossman/internal/sse"
)

// RoundTripper records at the client's end of an HTTP connection: what is really
// sent and received. A call that is cancelled by hanging up has no message for
// that. For next nil it uses http.DefaultTransport.
func (r *Recorder) RoundTripper(next http.RoundTripper) http.RoundTripper {
	if next == nil {
		next = http.DefaultTransport
	}
	return &roundTripper{next, r}
}

// roundTripper is an HTTP transport that is listened to.
type roundTripper struct {
	next     http.RoundTripper
	recorder *Recorder
}

// RoundTrip notes the request's message before it is sent. An answer that is one
// JSON text is read and noted before it is returned, a stream while it is read.
func (t *roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil && req.Body != http.NoBody {
		message, err := io.ReadAll(req.Body)
		_ = req.Body.Close()
		if err != nil {
			return nil, err
		}
		if len(message) > 0 {
			t.recorder.note(Client, string(message))
		}
		req = req.Clone(req.Context())
		req.Body = io.NopCloser(bytes.NewReader(message))
	}
	res, err := t.next.RoundTrip(req)
	if err != nil {
		return res, err
	}
	switch kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind {
	case "application/json":
		message, err := io.ReadAll(res.Body)
		if len(message) > 0 {
			t.recorder.note(Server, string(message))
		}
		res.Body = &body{io.MultiReader(bytes.NewReader(message), &failing{err}), res.Body}
	case "text/event-stream":
		res.Body = &body{io.TeeReader(res.Body, &overheard{recorder: t.recorder}), res.Body}
	}
	return res, nil
}

// body is a response's body that is read from somewhere else.
type body struct {
	io.Reader
	io.Closer
}

// failing reads nothing: its error, or the end.
type failing struct{ err error }

// Read returns the error.
func (f *failing) Read([]byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return 0, io.EOF
}

// overheard takes an event stream as it is read, and notes each message when its
// event is complete.
type overheard struct {
	recorder *Recorder
	pending  []byte // the start of an event
}

// Write never fails.
func (o *overheard) Write(p []byte) (int, error) {
	for _, c := range p {
		if c == '\r' { // line breaks are \n, or \r\n; none stands inside a message
			continue
		}
		o.pending = append(o.pending, c)
		if c == '\n' && bytes.HasSuffix(o.pending, []byte("\n\n")) {
			o.event()
		}
	}
	return len(p), nil
}

func (o *overheard) event() {
	event, err := sse.NewDecoder(bytes.NewReader(o.pending), 0).Next()
	o.pending = nil
	if err == nil && len(event.Data) > 0 && (event.Name == "" || event.Name == "message") {
		o.recorder.note(Server, string(event.Data))
	}
}
