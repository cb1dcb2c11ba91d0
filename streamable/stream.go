package streamable

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/bossman-mcp/bossman/internal/sse"
	"github.com/bossman-mcp/bossman/jsonrpc"
)

// stream is a sequence of messages of a session to its client: those that belong
// to one POST, or those that belong to none. It outlives connections. Who has
// something to say never waits for the client: messages gather here until the
// goroutine of a connection, the reader, writes them.
type stream struct {
	s  *session
	no uint64 // within the session; 0 for what belongs to no POST

	mu      sync.Mutex
	seq     uint64  // of the newest message
	pending []event // not yet delivered, oldest first
	waiting int     // requests of the POST that have no answer yet
	spoke   bool    // it must be an event stream: something besides answers was said, or all are
	letGo   bool    // the reader should hang up, and the client come back
	closed  bool    // nobody will read any more
	reader  *reader // the connection that delivers now, nil for none
}

// event is one message on a stream.
type event struct {
	seq  uint64
	text []byte
	must bool // an answer or a question, without which the other side would wait for ever
}

// reader is a connection that delivers a stream.
type reader struct {
	wake chan struct{} // has room for one: look at the stream again
	gone chan struct{} // closed when another connection took over
}

// maxPending is how many messages wait for a client that does not read; beyond
// it the oldest notifications are dropped.
const maxPending = 1000

// attach makes a connection the stream's reader. If there is one already, it is
// replaced or, unless takeOver, stays: then attach returns nil.
func (st *stream) attach(takeOver bool) *reader {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.reader != nil {
		if !takeOver {
			return nil
		}
		close(st.reader.gone)
	}
	st.reader = &reader{wake: make(chan struct{}, 1), gone: make(chan struct{})}
	st.letGo = false
	return st.reader
}

func (st *stream) detach(rd *reader) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.reader == rd {
		st.reader = nil
	}
}

func (st *stream) wakeLocked() {
	if st.reader != nil {
		select {
		case st.reader.wake <- struct{}{}:
		default:
		}
	}
}

// say adds a notification or, if must, a question. It reports whether anybody
// may still hear it.
func (st *stream) say(text []byte, must bool) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.closed {
		return false
	}
	st.spoke = true
	if st.no == 0 && !must && st.repeatsLocked(text) {
		return true
	}
	st.addLocked(text, must)
	return true
}

// repeatsLocked reports whether the same notification is waiting already.
func (st *stream) repeatsLocked(text []byte) bool {
	for _, e := range st.pending {
		if bytes.Equal(e.text, text) {
			return true
		}
	}
	return false
}

func (st *stream) addLocked(text []byte, must bool) {
	if len(st.pending) >= maxPending {
		for i, e := range st.pending {
			if !e.must {
				st.pending = append(st.pending[:i:i], st.pending[i+1:]...)
				break
			}
		}
	}
	st.seq++
	st.pending = append(st.pending, event{st.seq, text, must})
	st.wakeLocked()
}

// expect counts one more request that will be answered here.
func (st *stream) expect() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.waiting++
}

// answer adds the response to one request; nil if it will get none.
func (st *stream) answer(text []byte) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.waiting--
	if text != nil && !st.closed {
		st.addLocked(text, true)
	}
	st.wakeLocked()
}

// release asks the reader to hang up; the client will come back.
func (st *stream) release() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if !st.closed {
		st.spoke, st.letGo = true, true
		st.wakeLocked()
	}
}

// close drops what is pending and ends the reader.
func (st *stream) close() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.closed, st.pending = true, nil
	st.wakeLocked()
}

// state is what a reader has to do next.
type state int

const (
	wait     state = iota // until it is woken
	write                 // what is pending
	finished              // all is delivered, and nothing more will come
	hangUp                // and the client will come back
	lost                  // the stream is over, or another connection has it
)

// next returns what a reader that delivered up to last has to do.
func (st *stream) next(rd *reader, last uint64) (state, []event) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.closed || st.reader != rd {
		return lost, nil
	}
	for len(st.pending) > 0 && st.pending[0].seq <= last {
		st.pending = st.pending[1:]
	}
	switch {
	case len(st.pending) > 0:
		return write, st.pending[:len(st.pending):len(st.pending)]
	case st.waiting == 0 && st.no != 0:
		return finished, nil
	case st.letGo:
		return hangUp, nil
	}
	return wait, nil
}

// deliver writes the stream to a connection, beginning after the message last,
// until all is said or the client is gone. The caller detaches the reader.
func (st *stream) deliver(x *exchange, rd *reader, last uint64) {
	beat := newBeat(x.e.opts.KeepAlive)
	defer beat.Stop()
	var closing <-chan struct{} // when the endpoint shuts down: only for what has no end of its own
	if st.no == 0 {
		closing = x.e.gate.closing
	}
	for {
		switch todo, events := st.next(rd, last); todo {
		case write:
			if st.write(x, events) != nil {
				return
			}
			last = events[len(events)-1].seq
			continue
		case finished:
			st.s.dropStream(st)
			x.settle(nil)
			return
		case hangUp, lost:
			x.settle(nil)
			return
		}
		select {
		case <-rd.wake:
		case <-rd.gone:
		case <-x.r.Context().Done():
			return
		case <-closing:
			x.settle(nil)
			return
		case <-beat.C:
			if x.send([]byte(sse.KeepAlive)) != nil {
				return
			}
			beat.Reset(x.e.opts.KeepAlive)
		}
	}
}

// write delivers events and hands them to the store.
func (st *stream) write(x *exchange, events []event) error {
	buf := buffers.Get().(*[]byte)
	defer putBuffer(buf)
	text := (*buf)[:0]
	for _, e := range events {
		text = st.appendEvent(text, e.seq, e.text)
	}
	*buf = text
	if err := x.send(text); err != nil {
		return err
	}
	if !st.s.rev.Resume {
		return nil
	}
	for _, e := range events {
		if err := x.e.opts.Events.Append(context.WithoutCancel(x.r.Context()), st.s.id, st.no, e.seq, e.text); err != nil {
			x.e.log.Error("keep an event", "error", err)
		}
	}
	return nil
}

func (st *stream) appendEvent(dst []byte, seq uint64, text []byte) []byte {
	e := sse.Event{Name: "message", Data: text}
	if st.s.rev.Resume {
		e.ID, e.HasID = eventID(st.no, seq), true
	}
	return e.Append(dst)
}

// eventID names a message across all streams of a session.
func eventID(stream, seq uint64) string {
	return strconv.FormatUint(stream, 10) + "-" + strconv.FormatUint(seq, 10)
}

func parseEventID(id string) (stream, seq uint64, ok bool) {
	a, b, _ := strings.Cut(id, "-")
	stream, errA := strconv.ParseUint(a, 10, 64)
	seq, errB := strconv.ParseUint(b, 10, 64)
	return stream, seq, errA == nil && errB == nil && eventID(stream, seq) == id
}

// respond answers the POST that the stream belongs to: with JSON if all its
// requests are answered before anything else is said, else with an event stream.
func (st *stream) respond(x *exchange, rd *reader, batch bool) {
	for {
		st.mu.Lock()
		closed, spoke, waiting, pending := st.closed, st.spoke, st.waiting, st.pending
		st.mu.Unlock()
		switch {
		case closed:
			st.s.refuseOver(x)
			return
		case spoke:
			x.stream()
			st.s.keepStream(st)
			if x.prime(st) == nil {
				st.deliver(x, rd, 0)
			}
			st.detach(rd)
			st.s.leaveStream(st)
			return
		case waiting == 0 && len(pending) == 0: // all were cancelled
			x.status(http.StatusAccepted)
			return
		case waiting == 0:
			x.answers(pending, batch)
			return
		}
		select {
		case <-rd.wake:
		case <-x.r.Context().Done(): // the calls go on; nobody will hear of them
			st.close()
			return
		}
	}
}

// prime tells the client how to take up the stream if it breaks, in revisions
// that want that.
func (x *exchange) prime(st *stream) error {
	if !st.s.rev.EarlyClose {
		return nil
	}
	return x.message(&sse.Event{ID: eventID(st.no, 0), HasID: true, Retry: x.e.opts.Retry, Data: []byte{}})
}

// answers writes plain JSON: the one response, or those of a batch.
func (x *exchange) answers(events []event, batch bool) {
	if !batch {
		x.json(http.StatusOK, events[0].text)
		return
	}
	body := []byte{'['}
	for i, e := range events {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, e.text...)
	}
	x.json(http.StatusOK, append(body, ']'))
}

// refuseOver answers a request whose session ended meanwhile.
func (s *session) refuseOver(x *exchange) {
	if x.e.gate.isClosed() {
		x.busy(jsonrpc.ID{}, "the server is shutting down")
		return
	}
	x.refuse(http.StatusNotFound, jsonrpc.ID{}, errNoSession)
}
