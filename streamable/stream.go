package streamable

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bossman-mcp/bossman/internal/sse"
	"github.com/bossman-mcp/bossman/jsonrpc"
)

// stream is a sequence of messages of a session to its client: those that belong
// to one POST, or those that belong to none. It outlives connections. Messages
// gather here until the reader, a connection, delivers them; who waits for room
// does so only while there is one.
type stream struct {
	s     *session
	no    uint64 // within the session; 0 for what belongs to no POST
	batch bool   // the POST's answers are an array
	post  reader // the POST itself

	mu      sync.Mutex
	seq     uint64        // of the newest message
	taken   uint64        // of the newest message that a reader has taken to deliver it
	pending []event       // not yet delivered, oldest first
	waiting int           // requests of the POST that have no answer yet
	spoke   bool          // it must be an event stream: something besides answers was said, or all are
	letGo   bool          // the reader should hang up, and the client come back
	closed  bool          // nobody will read any more
	reader  *reader       // the connection that delivers now, nil for none
	room    chan struct{} // closed when there may be room again; nil if nobody waits for that
}

// event is one message on a stream.
type event struct {
	seq  uint64
	text []byte
	must bool // an answer or a question, without which the other side would wait for ever
}

const (
	// maxAhead is how many messages a call may be ahead of a client that reads.
	maxAhead = 200
	// maxPending is how many messages wait for a client that is not there; beyond
	// it the oldest notifications are dropped.
	maxPending = 1000
)

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

// await returns when there is room for another notification, or nobody there to
// make any. It ends with ctx, and gives a reader up that delivers nothing for the
// write timeout: a connection without deadlines must not hold a call for ever.
func (st *stream) await(ctx context.Context) error {
	room := st.crowded()
	if room == nil {
		return nil
	}
	late := time.NewTimer(st.s.e.opts.WriteTimeout)
	defer late.Stop()
	for ; room != nil; room = st.crowded() {
		select {
		case <-room:
			late.Reset(st.s.e.opts.WriteTimeout)
		case <-late.C:
			st.giveUp()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// crowded returns nil, or what is closed when there may be room again.
func (st *stream) crowded() <-chan struct{} {
	st.mu.Lock()
	defer st.mu.Unlock()
	if len(st.pending) < maxAhead || st.closed || st.reader == nil || st.reader.stuck || st.reader.missedLocked() {
		return nil
	}
	if st.room == nil {
		st.room = make(chan struct{})
	}
	return st.room
}

// giveUp lets nobody wait for the reader until it delivers something.
func (st *stream) giveUp() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.reader != nil {
		st.reader.stuck = true
	}
}

// makeRoomLocked lets those look again who wait for room.
func (st *stream) makeRoomLocked() {
	if st.room != nil {
		close(st.room)
		st.room = nil
	}
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
		st.dropLocked()
	}
	st.seq++
	st.pending = append(st.pending, event{st.seq, text, must})
}

// dropLocked drops the oldest notification. A reader may be looking at the rest.
func (st *stream) dropLocked() {
	switch i := slices.IndexFunc(st.pending, func(e event) bool { return !e.must }); i {
	case -1:
	case 0:
		st.pending = st.pending[1:]
	default:
		st.pending = append(st.pending[:i:i], st.pending[i+1:]...)
	}
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
// none. Without an event stream the POST's own goroutine will come for it, unless
// it may be held by a call that was cancelled.
func (st *stream) answer(text []byte) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.waiting--
	if text != nil && !st.closed {
		st.addLocked(text, true)
	}
	st.post.orphan = st.post.orphan || text == nil
	if st.spoke || st.post.orphan {
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
	st.makeRoomLocked()
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
