package peer

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"time"
)

// lender is a [Transport] whose messages a caller can receive for itself.
type lender interface {
	// Lend says who receives from now on: whoever calls, by ReceiveSoon, or again
	// one goroutine, by Receive. It reports whether that is possible, which the
	// latter always is. Only whoever receives may call it.
	Lend(on bool) bool
	// ReceiveSoon is Receive for a message that comes within a millisecond or so.
	// If none does, the error is os.ErrDeadlineExceeded and nothing is lost: what
	// has come of a message is kept for whoever receives next.
	ReceiveSoon(ctx context.Context) ([]byte, error)
	// Ready reports whether a message is at hand. Only whoever receives may ask.
	Ready() bool
}

// loan is how the reader of a connection lets callers receive for themselves. When
// one call is in flight at a time, its answer is the next message, for which the
// caller can wait as well as the reader can; then neither a goroutine nor a thread
// has to be woken. So after a number of such calls the reader steps aside.
//
// A caller receives one message. Is it the answer, then the reading is free for the
// next caller. If it is anything else or does not come soon, if more has come or
// others wait for answers, the reader gets the reading back, and with it what is
// not the caller's to take. The reader also takes it back when no caller came for a
// term: what the other side says unasked is never late by more than two terms.
type loan struct {
	lender lender        // nil: the transport is none, and nothing is lent
	holder atomic.Int32  // who may receive
	back   chan struct{} // gets one when the reading goes back to the reader
	uses   atomic.Uint64 // how often a caller received

	// Of whoever may receive.
	left  *received // what a caller leaves for the reader
	since time.Time // when the reader last thought of lending
}

// received is what the transport returned.
type received struct {
	message []byte
	err     error
}

// Who may receive. It is the reader's until it says nobody, and a caller's from
// then until the caller says nobody or gives it back.
const (
	theReader int32 = iota
	nobody
	aCaller
)

const (
	// manyLone is after how many lone calls the reader lends, if they came quickly.
	manyLone = 32
	// term is how long the reader waits for the next caller.
	term = 2 * time.Millisecond
)

func (l *loan) open(t Transport) {
	l.lender, _ = t.(lender)
	l.back = make(chan struct{}, 1)
}

// receive returns the next message for the reader, perhaps after it has lent the
// reading for a while.
func (p *Peer) receive(ctx context.Context) ([]byte, error) {
	if p.loan.lender != nil && p.worthLending() {
		p.lend()
		if left := p.loan.left; left != nil {
			p.loan.left = nil
			return left.message, left.err
		}
	}
	return p.transport.Receive(ctx)
}

// worthLending reports whether calls have been lone for some time, one quickly after
// the other.
func (p *Peer) worthLending() bool {
	if p.table.lone.Load() < manyLone {
		return false
	}
	p.table.lone.Store(0)
	now := time.Now()
	quick := now.Sub(p.loan.since) < manyLone*term
	p.loan.since = now
	return quick
}

// lend lets callers receive until the reading comes back, unless it cannot.
func (p *Peer) lend() {
	l := &p.loan
	if l.lender.Ready() || !l.lender.Lend(true) {
		return
	}
	if p.table.vacate(l) {
		l.await()
	}
	l.lender.Lend(false)
}

// await waits until the reading is the reader's again.
func (l *loan) await() {
	timer := time.NewTimer(term)
	defer timer.Stop()
	for seen := l.uses.Load(); ; {
		select {
		case <-l.back:
			return
		case <-timer.C:
		}
		uses := l.uses.Load()
		if uses == seen && l.holder.CompareAndSwap(nobody, theReader) {
			return
		}
		seen = uses
		timer.Reset(term)
	}
}

// recall gives the reading back to the reader if nobody uses it.
func (l *loan) recall() {
	if l.holder.CompareAndSwap(nobody, aCaller) {
		l.giveBack()
	}
}

// giveBack is called by whoever has the reading in place of the reader.
func (l *loan) giveBack() {
	l.holder.Store(theReader)
	l.back <- struct{}{}
}

// lead receives the answer to a call in place of the reader, if nobody does, and
// reports whether it has come. Otherwise the reader sees to it. It does not take
// much longer than a millisecond, so ctx need not end it.
func (p *Peer) lead(ctx context.Context, o *outgoing) bool {
	l := &p.loan
	if l.holder.Load() != nobody || ctx.Err() != nil || !l.holder.CompareAndSwap(nobody, aCaller) {
		return false
	}
	l.uses.Add(1)
	came := len(o.done) > 0 // by the reader, before it lent: nothing else will come
	answered := came || p.takeAnswer(ctx, o)
	if !answered || l.lender.Ready() || !p.table.vacate(l) {
		l.giveBack()
	}
	return answered && !came // what has come is waited for as ever
}

// takeAnswer receives one message and reports whether it is the answer to a call.
// What is no answer at all is left for the reader.
func (p *Peer) takeAnswer(ctx context.Context, o *outgoing) bool {
	message, err := p.loan.lender.ReceiveSoon(ctx)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	if err == nil {
		if m, bad := p.parser.Parse(message); isAnswer(&m) {
			return p.settle(&m, bad) == o
		}
	}
	p.loan.left = &received{message, err}
	return false
}
