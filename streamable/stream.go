package streamable

import (
	"bytes"
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
// reader, a connection, delivers them.
type stream struct {
	s     *session
	no    uint64 // within the session; 0 for what belongs to no POST
	batch bool   // the POST's answers are an array
	post  reader // the POST itself
	call  call   // of the POST, unless it is a batch

	mu      sync.Mutex
	seq     uint64  // of the newest message
	taken   uint64  // of the newest message that a reader has taken to deliver it
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

// maxPending is how many messages wait for a client that does not read; beyond
// it the oldest notifications are dropped.
const maxPending = 1000

// attach makes a connection the stream's reader, once it is ready. If there is
// one already, it is replaced or, unless takeOver, stays: then attach returns nil.
func (st *stream) attach(x *exchange, takeOver bool) *reader {
	rd := new(reader)
	rd.init(st, x)
	st.mu.Lock()
	defer st.mu.Unlock()
	old := st.reader
	if old != nil && !takeOver {
		return nil
	}
	st.reader = rd
	st.letGo = false
	if old != nil {
		old.wakeLocked()
	}
	return rd
}

func (st *stream) wakeLocked() {
	if st.reader != nil {
		st.reader.wakeLocked()
	}
}

// say adds a notification or, if must, a question. It reports whether anybody
// may still hear it.
func (st *stream) say(text []byte, must bool) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.reader != nil && st.reader.missedLocked() { // nobody will hear of what is said from here on
		st.closed = true
	}
	if st.closed {
		return false
	}
	st.spoke = true
	if st.no == 0 && !must && st.repeatsLocked(text) {
		return true
	}
	st.addLocked(text, must)
	st.wakeLocked()
	return true
}

// repeatsLocked reports whether the same notification is waiting already. One that
// is on its way does not count: what it tells of may have changed since.
func (st *stream) repeatsLocked(text []byte) bool {
	for _, e := range st.pending {
		if e.seq > st.taken && bytes.Equal(e.text, text) {
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
}

// expect counts one more request that will be answered here.
func (st *stream) expect() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.waiting++
	if st.spoke { // it is a stream from the beginning
		st.wakeLocked()
	}
}

// answer adds the response to one request; nil if it was cancelled and will get
// none. Without an event stream the POST's own goroutine will come for it.
func (st *stream) answer(text []byte) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.waiting--
	if text != nil && !st.closed {
		st.addLocked(text, true)
	}
	if st.spoke || text == nil {
		st.wakeLocked()
	}
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

// prime tells the client how to take up the stream if it breaks, in revisions
// that want that.
func (st *stream) prime(f *feed) error {
	if !st.s.rev.EarlyClose {
		return nil
	}
	return f.event(&sse.Event{ID: eventID(st.no, 0), HasID: true, Retry: f.e.opts.Retry, Data: []byte{}})
}

// refuseOver answers a request whose session ended meanwhile.
func (s *session) refuseOver(x *exchange) {
	if x.e.gate.isClosed() {
		x.busy(jsonrpc.ID{}, "the server is shutting down")
		return
	}
	x.refuse(http.StatusNotFound, jsonrpc.ID{}, errNoSession)
}
