package peer

import (
	"sync/atomic"
	"time"
)

// pace is what is known of how long requests of one kind take.
type pace struct {
	trust atomic.Int32 // that the next is short; one for each that was
}

const (
	// short is how long a request may take that the reading goroutine answers
	// itself: less than it costs others to wait for it. A long request may take
	// shortEach longer for each byte of its params, as reading it does, up to
	// shortMost: what was just read is at hand here, and nowhere else.
	short     = 50 * time.Microsecond
	shortEach = time.Nanosecond
	shortMost = patience / 4
	// enough is the trust that it takes, and most the trust there can be. A request
	// that was not short costs enough of it: one of them among many is an accident,
	// of a machine that is busy perhaps.
	enough = 4
	most   = 2 * enough
	// maxKinds is how many kinds are told apart. Those that come later have a
	// goroutine for each request: names that somebody makes up cost no memory.
	maxKinds = 1_000
)

// isShort reports whether the next request may be expected to be short. Of a kind
// that is not known it is not.
func (p *pace) isShort() bool { return p != nil && p.trust.Load() >= enough }

// note learns from a request of so many bytes that took so long. Of many at once some
// may count as one.
func (p *pace) note(took time.Duration, size int) {
	if p == nil {
		return
	}
	trust := p.trust.Load()
	next := min(trust+1, most)
	if took >= min(short+time.Duration(size)*shortEach, shortMost) {
		next = max(trust-enough, 0)
	}
	if next != trust {
		p.trust.CompareAndSwap(trust, next)
	}
}

// tooLong notes that a request holds others up.
func (p *pace) tooLong() {
	if p != nil {
		p.trust.Store(0)
	}
}

// paces are those of one connection, by kind. They belong to whoever reads.
type paces map[string]*pace

// of returns the pace of a kind, nil if there are too many kinds. A nil kind is
// that of the method.
func (ps paces) of(method string, kind []byte) *pace {
	var p *pace
	if kind != nil {
		p = ps[string(kind)]
	} else {
		p = ps[method]
	}
	if p != nil || len(ps) >= maxKinds {
		return p
	}
	p = new(pace)
	if kind != nil {
		method = string(kind)
	}
	ps[method] = p
	return p
}
