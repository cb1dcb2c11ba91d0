package peer

import (
	"sync/atomic"
	"time"
)

// pace is what is known of how long requests of one kind take.
type pace struct {
	quick atomic.Int32 // how many in a row were short, up to trials
}

const (
	// short is how long a request may take that the reading goroutine answers
	// itself: less than it costs others to wait for it.
	short = 50 * time.Microsecond
	// trials is how many requests of a kind must have been short in a row.
	trials = 4
	// maxKinds is how many kinds are told apart. Those that come later have a
	// goroutine for each request: names that somebody makes up cost no memory.
	maxKinds = 1_000
)

// isShort reports whether the next request may be expected to be short. Of a kind
// that is not known it is not.
func (p *pace) isShort() bool { return p != nil && p.quick.Load() == trials }

// note learns from a request that took so long.
func (p *pace) note(took time.Duration) {
	if took >= short {
		p.tooLong()
	} else if p != nil {
		if quick := p.quick.Load(); quick < trials {
			p.quick.CompareAndSwap(quick, quick+1)
		}
	}
}

// tooLong notes that a request was not short, or is not going to be.
func (p *pace) tooLong() {
	if p != nil {
		p.quick.Store(0)
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
