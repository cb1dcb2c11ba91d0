package mcptest

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/internal/lifecycle"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
)

// Recorder writes what passes through it as a transcript, section by section. It
// listens on a connection, by [Recorder.ServerSide], [Recorder.ClientSide] or
// [Recorder.RoundTripper], or in front of a handler, by [Recorder.Middleware]: one
// recorder in one place.
// State that a server hands to its client becomes a placeholder, since no later
// server would take it.
//
// A recording replays as it is when requests were made one after the other;
// otherwise the order of its sections may need a hand.
type Recorder struct {
	mu     sync.Mutex
	w      io.Writer
	err    error     // of the first write that failed
	opened bool      // the header is written
	ready  []Section // complete, waiting for the header
	now    Section   // the section that is being spoken
	open   int       // requests of the client without an answer
	states []string  // of requests, as the server wrote them

	sealer *lifecycle.Sealer
	calls  int               // through Middleware
	kept   map[string]string // state that a round left for the next, by roundKey
}

// NewRecorder returns a recorder that writes to w. The first lines wait until it
// is known which revision is spoken.
func NewRecorder(w io.Writer) *Recorder {
	return &Recorder{w: w, sealer: lifecycle.NewSealer(nil), kept: make(map[string]string)}
}

// ServerSide records at the server's end of a connection.
func (r *Recorder) ServerSide(t peer.Transport) peer.Transport {
	return &recorded{t, r, Server, Client}
}

// ClientSide records at the client's end of a connection.
func (r *Recorder) ClientSide(t peer.Transport) peer.Transport {
	return &recorded{t, r, Client, Server}
}

// Close writes what is left and returns the first error of the writer, which it
// does not close.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turnLocked()
	if !r.opened && len(r.ready) > 0 {
		r.openLocked(revision.Newest().Name)
	}
	return r.err
}

// recorded is a transport that is listened to.
type recorded struct {
	peer.Transport
	recorder  *Recorder
	out, back Kind // who speaks in Send and in Receive
}

func (t *recorded) Send(ctx context.Context, message []byte) error {
	t.recorder.note(t.out, string(message))
	return t.Transport.Send(ctx, message)
}

func (t *recorded) Receive(ctx context.Context) ([]byte, error) {
	message, err := t.Transport.Receive(ctx)
	if err == nil {
		t.recorder.note(t.back, string(message))
	}
	return message, err
}

// note takes one message.
func (r *Recorder) note(from Kind, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.noteLocked(from, text)
}

func (r *Recorder) noteLocked(from Kind, text string) {
	if r.now.Kind != from || r.now.Lines == nil {
		r.turnLocked()
		r.now = Section{Kind: from, AnyOrder: from == Server && r.open > 1}
	}
	text = r.hideLocked(from, keepOnOneLine(text))
	r.countLocked(text)
	r.now.Lines = append(r.now.Lines, Line{Text: text, layout: layout(text)})
	if !r.opened {
		if name := revisionIn(text); name != "" {
			r.openLocked(name)
		}
	}
}

func keepOnOneLine(text string) string {
	return strings.NewReplacer("\n", " ", "\r", " ").Replace(text)
}

// turnLocked ends the current section.
func (r *Recorder) turnLocked() {
	if r.now.Lines == nil {
		return
	}
	r.ready = append(r.ready, r.now)
	r.now = Section{}
	if r.opened {
		r.flushLocked()
	}
}

// openLocked writes the header and what waited for it.
func (r *Recorder) openLocked(name string) {
	r.opened = true
	r.writeLocked(fmt.Sprintf("A recording.\nrevision: %s\n\n", name))
	r.flushLocked()
}

func (r *Recorder) flushLocked() {
	story := Transcript{Sections: r.ready}
	r.writeLocked(string(story.format()))
	r.ready = nil
}

func (r *Recorder) writeLocked(text string) {
	if r.err == nil {
		_, r.err = io.WriteString(r.w, text)
	}
}

// countLocked keeps the number of the client's open requests.
func (r *Recorder) countLocked(text string) {
	for _, text := range append(batch(text), text) {
		m, err := jsonrpc.Parse([]byte(text))
		switch {
		case err != nil:
		case r.now.Kind == Client && m.IsRequest():
			r.open++
		case r.now.Kind == Server && m.IsResponse():
			r.open--
		}
	}
}

// hideLocked puts placeholders in the place of state.
func (r *Recorder) hideLocked(from Kind, text string) string {
	if from == Server {
		if state := jsonscan.Get(jsonscan.Get([]byte(text), "result"), "requestState"); len(state) > 2 {
			r.states = append(r.states, string(state))
		}
	}
	for i, state := range r.states {
		text = strings.ReplaceAll(text, state, fmt.Sprintf(`"{{state%d}}"`, i+1))
	}
	return text
}

// revisionIn returns the revision that a message settles, empty if it does not:
// the answer to initialize does, and a request that describes itself.
func revisionIn(text string) string {
	raw := []byte(text)
	meta := jsonscan.Get(jsonscan.Get(raw, "params"), "_meta")
	if name := jsonscan.Unquote(jsonscan.Get(meta, mcp.MetaProtocolVersion)); name != "" {
		return name
	}
	return jsonscan.Unquote(jsonscan.Get(jsonscan.Get(raw, "result"), "protocolVersion"))
}
