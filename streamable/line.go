package streamable

import (
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bossman-mcp/bossman/internal/deadline"
	"github.com/bossman-mcp/bossman/internal/errands"
	"github.com/bossman-mcp/bossman/internal/parked"
)

// line is a connection that was taken over from net/http in the midst of an
// event stream. It carries the rest of that stream and nothing after it.
//
// For net/http a request that stays open costs two goroutines, of which one has
// a deep stack, and its buffers. A line costs what package parked says.
type line struct {
	conn    parked.Conn
	end     func(closing bool) // see keep
	endless bool               // the endpoint's shutdown ends it
	written time.Time          // when it last had something to say; of feed.mu
	place   int                // among the endpoint's lines; of lines.mu
}

// mayTakeOver reports whether the connection can be taken over: only if [Run]
// serves the endpoint, since http.Server.Close will not know of the connection;
// only in HTTP/1.1, where a stream is sent in chunks; and only from net/http's own
// writer, since one that wraps it may change what passes.
func (x *exchange) mayTakeOver() bool {
	return x.e.lines.allowed.Load() && x.r.ProtoMajor == 1 && x.r.ProtoMinor == 1 && x.ownWriter()
}

// ownWriter reports whether the answer goes straight to net/http's connection,
// and that can be had.
func (x *exchange) ownWriter() bool {
	_, ok := x.w.(http.Hijacker)
	writer := reflect.TypeOf(x.w)
	return ok && writer.Kind() == reflect.Pointer && writer.Elem().PkgPath() == "net/http"
}

// takeOver makes a line of the connection and reports whether that was possible.
// All that was written must have been flushed.
func (f *feed) takeOver(endless bool, end func(closing bool)) bool {
	if !f.x.mayTakeOver() {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	conn, _, err := f.x.w.(http.Hijacker).Hijack() // what the client sent after its request is not looked at
	if err != nil {
		return false
	}
	conn = deadline.Release(conn)
	if f.x.outlive != nil {
		f.x.outlive()
	}
	f.x.w, f.x.r, f.x.control, f.x.outlive = nil, nil, http.ResponseController{}, nil // else they would stay as long as the stream
	f.x = nil
	f.line = &line{conn: f.e.lines.lot.Park(conn), end: end, endless: endless, written: time.Now()}
	if f.over {
		f.line.conn.Interrupt()
	}
	f.e.gate.enter() // until Ended is done, so Shutdown waits for that
	f.e.lines.add(f)
	f.line.conn.Watch(f)
	return true
}

// lastChunk ends the body of an answer that is sent in chunks.
const lastChunk = "0\r\n\r\n"

// sever closes the connection of a stream whose request is still being served, in
// good order if there is still somebody there. Of a connection that is not
// net/http's own it does nothing.
func (f *feed) sever() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.x.ownWriter() {
		return
	}
	conn, _, err := f.x.w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	if f.x.r.ProtoAtLeast(1, 1) {
		_ = conn.SetWriteDeadline(time.Now().Add(f.e.opts.WriteTimeout))
		_, _ = io.WriteString(conn, lastChunk)
	}
	_ = conn.Close()
}

// Ended ends a stream on a line: nothing more is to be expected of its connection.
func (f *feed) Ended(gone bool) {
	defer f.e.gate.leave()
	defer f.e.lines.remove(f)
	if gone {
		f.line.conn.Close() // so that no write waits for anybody
		f.line.end(false)
		return
	}
	f.line.end(!f.isOver())
	f.mu.Lock()
	defer f.mu.Unlock()
	_ = f.line.write([]byte(lastChunk), f.e.opts.WriteTimeout)
	f.line.conn.Close()
}

// send writes text as a chunk.
func (ln *line) send(text []byte, patience time.Duration) error {
	buf := buffers.Get().(*[]byte)
	defer putBuffer(buf)
	chunk := strconv.AppendUint((*buf)[:0], uint64(len(text)), 16)
	chunk = append(append(append(chunk, "\r\n"...), text...), "\r\n"...)
	*buf = chunk
	return ln.write(chunk, patience)
}

func (ln *line) write(text []byte, patience time.Duration) error {
	ln.written = time.Now()
	return ln.conn.Write(text, patience)
}

// lines is the table of an endpoint's lines. One timer keeps them all alive, and
// runs only while there are any.
type lines struct {
	e       *Endpoint
	allowed atomic.Bool   // by Run
	lot     parked.Lot    // has the connections
	remarks errands.Queue // the comments that are due

	mu     sync.Mutex
	open   []*feed // each at the place of its line
	closed bool
	beat   *time.Timer // nil while it does not run
}

// add enters a feed. The timer looks at it four times in the time after which a
// comment is due, and sends one if three of them were quiet, so that none is late.
func (t *lines) add(f *feed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f.line.place = len(t.open)
	t.open = append(t.open, f)
	if t.closed && f.line.endless {
		f.line.conn.Interrupt()
	}
	if every := t.e.opts.KeepAlive; every > 0 && t.beat == nil {
		t.beat = time.AfterFunc(every/4, t.keepAlive)
	}
}

func (t *lines) remove(f *feed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := len(t.open) - 1
	t.open[f.line.place] = t.open[last]
	t.open[f.line.place].line.place = f.line.place
	t.open[last] = nil
	t.open = t.open[:last]
	if len(t.open) > 0 {
		return
	}
	t.open = nil // it may be long
	if t.beat != nil {
		t.beat.Stop()
		t.beat = nil
	}
}

// keepAlive sends a comment to each line that has been quiet for long.
func (t *lines) keepAlive() {
	t.mu.Lock()
	all := slices.Clone(t.open)
	if t.beat != nil {
		t.beat.Reset(t.e.opts.KeepAlive / 4)
	}
	t.mu.Unlock()
	for _, f := range all {
		t.remarks.Add(func() {
			if f.comment(t.e.opts.KeepAlive*3/4) != nil {
				f.cut()
			}
		})
	}
}

// close interrupts the lines that end with the endpoint.
func (t *lines) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for _, f := range t.open {
		if f.line.endless {
			f.line.conn.Interrupt()
		}
	}
}

// sever closes the connections of all lines.
func (t *lines) sever() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.open {
		f.line.conn.Close()
	}
}
