package streamable

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/bossman-mcp/bossman/internal/lifetime"
	"github.com/bossman-mcp/bossman/internal/sse"
)

// feed is an answer that is an event stream. Many may write to it: it sees to it
// that they take turns.
type feed struct {
	e *Endpoint

	mu   sync.Mutex    // one writes at a time
	x    *exchange     // what it is written to, without line
	line *line         // what it is written to since the connection was taken over
	over bool          // cut was called
	quit chan struct{} // closed by cut while keep waits
}

// stream begins an event stream. From here on the answer is written by way of
// the feed only.
func (x *exchange) stream() *feed {
	h := x.w.Header()
	h["Content-Type"] = typeEvents
	h["Cache-Control"] = noCache
	h["X-Accel-Buffering"] = unbuffered
	x.w.WriteHeader(http.StatusOK)
	return &feed{e: x.e, x: x}
}

// send writes a part of the stream and sees it off.
func (f *feed) send(text []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sendLocked(text)
}

func (f *feed) sendLocked(text []byte) error {
	if f.line != nil {
		return f.line.send(text, f.e.opts.WriteTimeout)
	}
	f.x.patience()
	if _, err := f.x.w.Write(text); err != nil {
		return err
	}
	return f.x.control.Flush()
}

// event writes one event.
func (f *feed) event(event *sse.Event) error {
	buf := buffers.Get().(*[]byte)
	*buf = event.Append((*buf)[:0])
	err := f.send(*buf)
	putBuffer(buf)
	return err
}

// message writes one JSON-RPC message as an event.
func (f *feed) message(text []byte) error {
	return f.event(&sse.Event{Name: "message", Data: text})
}

// comment keeps a stream alive to which nothing was written for the time quiet, if
// that is known. It does not wait for others who write.
func (f *feed) comment(quiet time.Duration) error {
	if !f.mu.TryLock() {
		return nil
	}
	defer f.mu.Unlock()
	if f.line != nil && time.Since(f.line.written) < quiet {
		return nil
	}
	return f.sendLocked([]byte(sse.KeepAlive))
}

// cut ends the stream from this side: keep comes to its end.
func (f *feed) cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return
	}
	f.over = true
	switch {
	case f.line != nil:
		f.line.conn.Interrupt()
	case f.quit != nil:
		close(f.quit)
	}
}

func (f *feed) isOver() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.over
}

// keep holds the stream open until the client hangs up or cut is called; an
// endless one also until the endpoint shuts down. Then it calls end, once.
// Closing tells end that the endpoint shuts down, and that the client can hear
// last words. After end nothing may be written.
//
// Where it can, keep takes the connection over and returns at once: then the
// request is over for net/http, its context too, while the stream goes on.
// Otherwise it waits for the end.
func (f *feed) keep(endless bool, end func(closing bool)) {
	if f.takeOver(endless, end) {
		return
	}
	end(f.wait(endless))
}

// wait returns when the stream is to end, and whether that is because the
// endpoint shuts down.
func (f *feed) wait(endless bool) (closing bool) {
	f.mu.Lock()
	f.quit = make(chan struct{})
	if f.over {
		close(f.quit)
	}
	f.mu.Unlock()
	var shutdown <-chan struct{}
	if endless {
		shutdown = f.e.gate.closing
	}
	beat := newBeat(f.e.opts.KeepAlive)
	defer beat.Stop()
	for {
		select {
		case <-f.x.r.Context().Done():
			return false
		case <-f.quit:
			return false
		case <-shutdown:
			return true
		case <-beat.C:
			if f.comment(0) != nil {
				return false
			}
			beat.Reset(f.e.opts.KeepAlive)
		}
	}
}

// newBeat returns a timer that fires after d, or never if d is negative.
func newBeat(d time.Duration) *time.Timer {
	t := time.NewTimer(max(d, 0))
	if d < 0 {
		t.Stop()
	}
	return t
}

// lasting returns a context for what a stream is opened for. It ends with life,
// which ends when the request does, unless the stream outlives the request by keep.
func (x *exchange) lasting(life *lifetime.End) context.Context {
	x.outlive = context.AfterFunc(x.r.Context(), life.Cancel)
	return life.With(x.r.Context())
}
