package peer

import (
	"context"
	"sync/atomic"
	"time"
)

// desk is the place where a connection is read; one goroutine sits there at a
// time. It answers requests that are known to be short itself, and writes those
// answers: that spares each a goroutine, and several share a write. While it is
// away from reading it is watched. If it stays away for longer than patience, or
// is about to wait for the other side, another goroutine takes the seat, and the
// one that left goes home when it is done. So a handler that turns slow, or a
// requester who does not read, holds up nobody for longer.
type desk struct {
	turn atomic.Uint64 // grows with every step; odd while the reader is away
	seat func()        // starts another reader

	// The reader's own, and of whoever takes its seat.
	about   *pace         // of what it is away for; nil: of no request
	holding bool          // an answer is held back
	spent   time.Duration // by requests since then

	watched atomic.Bool // the timer is set
	timer   *time.Timer
	seen    uint64 // turn when the timer went off last; the watcher's own
}

// patience is how long a reader may stay away; nearly twice that, until it shows.
const patience = time.Millisecond

// open prepares the desk; seat starts a goroutine that reads.
func (d *desk) open(seat func()) {
	d.seat = seat
	d.timer = time.AfterFunc(time.Hour, d.watch)
	d.timer.Stop()
}

// close ends the watch.
func (d *desk) close() {
	d.watched.Store(true)
	d.timer.Stop()
}

// leave is called by the reader before it does something else: about a request,
// or nil. The turn that it returns is for back.
func (d *desk) leave(about *pace) (turn uint64) {
	d.about = about
	turn = d.turn.Add(1)
	d.wake()
	return turn
}

// back returns the reader to its seat, unless it is taken: then it must not read.
func (d *desk) back(turn uint64) bool { return d.turn.CompareAndSwap(turn, turn+1) }

// away reports whether the reader is still the one that left.
func (d *desk) away(turn uint64) bool { return d.turn.Load() == turn }

// cede gives the reader's seat to another goroutine at once.
func (d *desk) cede() {
	d.about = nil
	d.handOver(d.turn.Add(1))
}

// free lets somebody read, for a caller that is going to wait for the other side:
// it may be what the reader is away for.
func (d *desk) free() { d.handOver(d.turn.Load()) }

// handOver is the one place where the reading changes hands.
func (d *desk) handOver(turn uint64) {
	if turn%2 == 0 || !d.turn.CompareAndSwap(turn, turn+1) {
		return
	}
	d.about.tooLong()
	d.spent = maxHold // what was held back has waited long enough
	d.seat()
}

// wake starts the watch, which ends by itself when nothing happens.
func (d *desk) wake() {
	if !d.watched.Load() && d.watched.CompareAndSwap(false, true) {
		d.timer.Reset(patience)
	}
}

// watch is what the timer does: a reader that is away for the same reason as the
// last time is replaced.
func (d *desk) watch() {
	turn := d.turn.Load()
	if turn == d.seen {
		d.handOver(turn)
	}
	quiet := turn == d.seen && turn%2 == 0
	d.seen = turn
	if !quiet {
		d.timer.Reset(patience)
		return
	}
	d.watched.Store(false)
	if d.turn.Load() != turn { // it left before it could see that nobody watches
		d.wake()
	}
}

// answerHere answers a request on the reading goroutine, and reports whether that
// still reads. It does not come back at all when the handler ends the goroutine.
func (p *Peer) answerHere(r *Request) (reading bool) {
	r.turn = p.desk.leave(r.pace)
	returned := false
	defer func() {
		if !returned {
			p.desk.handOver(r.turn)
		}
	}()
	p.answer(r)
	returned = true
	if !p.desk.back(r.turn) {
		p.flush() // what it left for the reader that it no longer is
		return false
	}
	p.desk.holding = p.desk.holding || r.held
	p.desk.spent += r.took
	return true
}

// gatherer is a [Transport] that can hold messages back, so that several leave in
// one write, and that takes long ones from where they are.
type gatherer interface {
	// SendParts is Send for the message that three parts make together. A body that
	// is long is written without being copied; without a tail it may end with its
	// line, which spares a write.
	SendParts(ctx context.Context, head, body, tail []byte) error
	// SendSoon is Send for one of several messages that the same side has to say. The
	// first is written before it returns; those that follow at once, soon after, several
	// in a write, whose failure only later messages report. It blocks if too much waits
	// to be written.
	SendSoon(ctx context.Context, message []byte) error
	// Hold takes a message, which leaves with the next that is sent, or with
	// Flush. It reports false if the message must be sent instead.
	Hold(message []byte) bool
	// Flush writes what is held back. It blocks while the other side is not
	// reading.
	Flush() error
	// Ready reports whether Receive has a message at hand, so that what is held
	// back can wait for its answer. Only the goroutine that receives may ask.
	Ready() bool
}

// maxHold is how long an answer may be held back, counted in the time that the
// requests after it take.
const maxHold = 100 * time.Microsecond

// hold leaves the answer to a request that the reader answers itself to be
// written with others, and reports whether it could.
func (p *Peer) hold(r *Request, answer []byte) bool {
	r.held = r.turn != 0 && p.gather != nil && p.desk.away(r.turn) && p.gather.Hold(answer)
	return r.held
}

// deliver writes what was held back, once there is nothing to wait for, and
// reports whether the goroutine still reads.
func (p *Peer) deliver() (reading bool) {
	d := &p.desk
	if !d.holding || d.spent < maxHold && p.gather.Ready() {
		return true
	}
	d.holding, d.spent = false, 0
	turn := d.leave(nil)
	p.flush()
	return d.back(turn)
}

func (p *Peer) flush() {
	if p.gather == nil {
		return
	}
	if err := p.gather.Flush(); err != nil {
		p.log.Debug("send response", "error", err)
	}
}
