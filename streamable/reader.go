package streamable

import (
	"context"
	"net/http"
	"sync"
)

// reader is a connection that delivers a stream: the POST that the stream belongs
// to, whose answer is JSON if all its requests are answered before anything else
// is said; or a GET. It works, on a goroutine of its own, only while there is
// something to do.
type reader struct {
	st *stream
	x  *exchange
	// feed is what is written to, nil while a POST may still be answered with
	// JSON.
	feed  *feed
	ctx   context.Context // of the feed, but never cancelled
	stays bool            // it cannot hang up before the POST's calls are over
	last  uint64          // the newest message that was delivered

	// Of st.mu, as feed is.
	idle    sync.Cond // signals a change of the following
	ready   bool      // it may work
	working bool      // the goroutine exists
	awaited bool      // the POST's calls are over
	through bool      // the POST is answered
	stuck   bool      // nobody waits for it to deliver
	orphan  bool      // a call of the POST was cancelled, and may run on
}

func (rd *reader) init(st *stream, x *exchange) {
	rd.st, rd.x = st, x
	rd.idle.L = &st.mu
}

// start makes the reader of a batch ready.
func (rd *reader) start() {
	rd.st.mu.Lock()
	defer rd.st.mu.Unlock()
	rd.ready = true
	if rd.st.spoke || rd.st.closed {
		rd.wakeLocked()
	}
}

func (rd *reader) wakeLocked() {
	if rd.ready && !rd.working && !rd.through {
		rd.working = true
		go rd.work() // whoever detaches the reader waits for it
	}
}

// missedLocked reports whether the client of a POST hung up before it was told
// anything.
func (rd *reader) missedLocked() bool {
	return rd.feed == nil && rd.ready && rd.x.r.Context().Err() != nil
}

// conclude returns when a POST is answered whose calls are over.
func (rd *reader) conclude() {
	st := rd.st
	st.mu.Lock()
	defer st.mu.Unlock()
	rd.awaited = true
	if rd.ready && !rd.working {
		rd.working = true
		st.mu.Unlock()
		rd.work()
		st.mu.Lock()
	}
	for !rd.through {
		rd.idle.Wait()
	}
}

// detach takes the reader off its stream; afterwards it does not work.
func (rd *reader) detach() {
	st := rd.st
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.reader == rd {
		st.reader = nil
		st.makeRoomLocked()
	}
	rd.ready = false
	for rd.working {
		rd.idle.Wait()
	}
}

// todo is what a reader has to do next.
type todo int

const (
	wait     todo = iota // until it is woken
	begin                // an event stream
	write                // what is pending
	finished             // all is said
	hangUp               // and the client will come back
	lost                 // the stream is over, or another connection has it
)

// next returns what to do. After wait the reader does not work.
func (rd *reader) next() (todo, []event) {
	st := rd.st
	st.mu.Lock()
	defer st.mu.Unlock()
	next := rd.todoLocked()
	events := st.pending[:len(st.pending):len(st.pending)]
	switch next {
	case wait:
		rd.working = false
		rd.idle.Broadcast()
	case write:
		events = portion(events)
		st.taken = events[len(events)-1].seq
	}
	return next, events
}

// maxPortion is how many bytes are written at once, so that a slow client is given
// the write timeout for little more than that.
const maxPortion = 64 << 10

// portion returns the first of some events: one at least.
func portion(events []event) []event {
	size := 0
	for i := range events {
		if size += len(events[i].text); size > maxPortion && i > 0 {
			return events[:i:i]
		}
	}
	return events
}

func (rd *reader) todoLocked() todo {
	st := rd.st
	if st.closed || st.reader != rd {
		return lost
	}
	if rd.feed == nil {
		switch {
		case st.spoke:
			return begin
		case st.waiting == 0:
			return finished
		}
		return wait
	}
	for len(st.pending) > 0 && st.pending[0].seq <= rd.last {
		st.pending = st.pending[1:]
	}
	rd.stuck = false
	if len(st.pending) < maxAhead {
		st.makeRoomLocked()
	}
	switch {
	case len(st.pending) > 0:
		return write
	case st.waiting == 0 && st.no != 0:
		return finished
	case st.letGo && !rd.stays:
		return hangUp
	}
	return wait
}

// work does what is to do.
func (rd *reader) work() {
	for {
		switch next, events := rd.next(); next {
		case wait:
			return
		case begin:
			rd.begin()
		case write:
			if rd.write(events) != nil {
				rd.leave()
				return
			}
		case finished:
			if rd.feed == nil {
				rd.answer(events)
				return
			}
			rd.st.s.dropStream(rd.st)
			rd.leave()
			return
		case hangUp, lost:
			rd.leave()
			return
		}
	}
}

// rest says that the reader has done its last work; through, that the POST is
// answered.
func (rd *reader) rest(through bool) {
	rd.st.mu.Lock()
	defer rd.st.mu.Unlock()
	rd.ready, rd.working, rd.through = false, false, rd.through || through
	rd.idle.Broadcast()
}

// leave ends the connection's part in the stream.
func (rd *reader) leave() {
	if rd.feed != nil {
		rd.feed.cut()
		rd.rest(false)
		return
	}
	rd.farewell()
	rd.st.s.refuseOver(rd.x)
	rd.x.flush()
	rd.rest(true)
}

// farewell prepares the answer to a POST whose calls still run: the connection is
// of no use before they are over.
func (rd *reader) farewell() {
	rd.st.mu.Lock()
	defer rd.st.mu.Unlock()
	if !rd.awaited {
		rd.x.w.Header().Set("Connection", "close")
	}
}

// answer answers a POST with JSON, or not at all if its requests were cancelled.
func (rd *reader) answer(events []event) {
	rd.farewell()
	switch {
	case len(events) == 0:
		rd.x.status(http.StatusAccepted)
	case !rd.st.batch:
		rd.x.measure(events[0].text)
		rd.x.json(http.StatusOK, events[0].text)
	default:
		body := []byte{'['}
		for i, e := range events {
			if i > 0 {
				body = append(body, ',')
			}
			body = append(body, e.text...)
		}
		body = append(body, ']')
		rd.x.measure(body)
		rd.x.json(http.StatusOK, body)
	}
	rd.x.flush() // the request's goroutine may be busy for long
	rd.rest(true)
}

// begin makes the answer to a POST an event stream.
func (rd *reader) begin() {
	rd.st.mu.Lock()
	leaving := rd.st.letGo
	rd.st.mu.Unlock()
	if leaving {
		rd.farewell()
	}
	f := rd.x.stream()
	rd.st.s.keepStream(rd.st)
	rd.st.mu.Lock()
	rd.feed, rd.ctx, rd.stays = f, context.WithoutCancel(rd.x.r.Context()), !rd.x.ownWriter()
	rd.st.mu.Unlock()
	go rd.hold() // conclude waits for it
	if rd.st.prime(f) != nil {
		f.cut()
	}
}

// hold keeps the stream of a POST open until all is said or the client is gone.
// If calls of the POST still run then, which happens on its goroutine, the
// connection is closed under them.
func (rd *reader) hold() {
	rd.feed.wait(false)
	rd.detach()
	rd.st.mu.Lock()
	running := rd.st.waiting > 0
	rd.st.mu.Unlock()
	if running {
		rd.feed.sever()
	}
	rd.st.s.leaveStream(rd.st)
	rd.rest(true)
}

// follow delivers the stream to a GET, beginning after the message last, and
// calls end when that is over, which may be after it has returned.
func (rd *reader) follow(f *feed, last uint64, end func()) {
	st := rd.st
	st.mu.Lock()
	rd.feed, rd.ctx = f, context.WithoutCancel(rd.x.r.Context())
	rd.x = nil // the feed has it, while it is needed
	rd.last, rd.ready = last, true
	rd.wakeLocked()
	st.mu.Unlock()
	f.keep(st.no == 0, func(bool) {
		rd.detach()
		st.s.leaveStream(st)
		end()
	})
}

// write delivers events and hands them to the store.
func (rd *reader) write(events []event) error {
	st := rd.st
	buf := buffers.Get().(*[]byte)
	defer putBuffer(buf)
	text := (*buf)[:0]
	for _, e := range events {
		text = st.appendEvent(text, e.seq, e.text)
	}
	*buf = text
	if err := rd.feed.send(text); err != nil {
		return err
	}
	rd.last = events[len(events)-1].seq
	if !st.s.rev.Resume {
		return nil
	}
	for _, e := range events {
		if err := st.s.e.opts.Events.Append(rd.ctx, st.s.id, st.no, e.seq, e.text); err != nil {
			st.s.e.log.Error("keep an event", "error", err)
		}
	}
	return nil
}
