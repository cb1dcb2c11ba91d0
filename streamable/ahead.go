package streamable

import (
	"context"
	"sync"
	"time"

	"github.com/bossman-mcp/bossman/internal/sse"
)

// ahead is by how much a call is ahead of its client: what it said and is not yet
// written. Of several notifications the first is written by the call itself, before
// it goes on. Those that follow at once gather, and are written together by a
// goroutine that exists only while there are any. So a call that reports in a loop
// does not pay for a write each, and one that reports now and then is heard at once.
// All of it belongs to the answer's lock.
type ahead struct {
	text    []byte    // events that wait
	spare   []byte    // the buffer that is not in use
	writing bool      // somebody writes, and will until nothing waits
	moved   sync.Cond // text was taken, or nobody writes any more
	rested  time.Time // when somebody last did
	err     error     // the first failed write: nothing is written any more
}

const (
	// maxAheadBytes is how much may wait; then the call does too.
	maxAheadBytes = 16 << 10
	// rush is how soon after the last write another notification is one of several.
	rush = 100 * time.Microsecond
)

// tell sends a notification of a call that is answered by a. The first makes the
// answer an event stream.
func (a *answer) tell(ctx context.Context, method string, params any) error {
	buf, err := notification(method, params)
	defer putBuffer(buf)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	h := a.aheadLocked()
	for h.writing && len(h.text) > maxAheadBytes {
		h.moved.Wait()
	}
	switch {
	case a.done:
		return context.Canceled
	case ctx.Err() != nil:
		return ctx.Err()
	case h.err != nil:
		return h.err
	}
	a.streamLocked()
	h.add(*buf)
	switch {
	case h.writing:
	case time.Since(h.rested) > rush:
		a.writeLocked(h)
		return h.err
	default:
		h.writing = true
		go a.write(h) // settleLocked waits for it
	}
	return nil
}

func (a *answer) aheadLocked() *ahead {
	if a.ahead == nil {
		a.ahead = &ahead{}
		a.ahead.moved.L = &a.mu
	}
	return a.ahead
}

// add makes an event of a message.
func (h *ahead) add(message []byte) {
	h.text = (&sse.Event{Name: "message", Data: message}).Append(h.text)
}

func (a *answer) write(h *ahead) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.writeLocked(h)
}

// writeLocked writes until nothing waits. It gives up the lock while it does, so that
// more can be said.
func (a *answer) writeLocked(h *ahead) {
	h.writing = true
	for len(h.text) > 0 && h.err == nil {
		text := h.text
		h.text = h.spare[:0]
		h.moved.Broadcast()
		a.mu.Unlock()
		err := a.feed.send(text)
		a.mu.Lock()
		h.spare, h.err = text, err
	}
	h.text, h.writing, h.rested = h.text[:0], false, time.Now()
	h.moved.Broadcast()
}

// settleLocked returns when all that was said is written, or cannot be.
func (a *answer) settleLocked() {
	for a.ahead != nil && a.ahead.writing {
		a.ahead.moved.Wait()
	}
}
