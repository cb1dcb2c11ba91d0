// Package deadline makes the deadlines of connections cheap to move.
//
// A server moves those of a connection several times a request, and hardly one ever
// passes. Each move costs the runtime a timer and two looks at the clock.
package deadline

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// Listener hands out connections as [Conn].
type Listener struct{ net.Listener }

// Accept waits for the next connection.
func (l Listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return New(c), nil
}

// Conn is a connection that takes note of the deadlines that are wanted, and leaves
// the real ones where they are as long as those are no later. If a real one passes
// too early, whoever waits moves it, and waits on.
type Conn struct {
	net.Conn
	in, out side
}

// New returns c with cheap deadlines. Nobody else may set any.
func New(c net.Conn) *Conn { return &Conn{Conn: c} }

// Release returns the connection behind c, with the deadlines that are wanted; c
// itself if it is no [Conn], which must not be used any more.
func Release(c net.Conn) net.Conn {
	lazy, ok := c.(*Conn)
	if !ok {
		return c
	}
	lazy.in.release(lazy.Conn.SetReadDeadline)
	lazy.out.release(lazy.Conn.SetWriteDeadline)
	return lazy.Conn
}

// SetDeadline is both of the following.
func (c *Conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetReadDeadline lets reads fail from t on.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.in.want(t, c.Conn.SetReadDeadline) }

// SetWriteDeadline lets writes fail from t on.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.out.want(t, c.Conn.SetWriteDeadline) }

// Read reads what there is, or waits for it.
func (c *Conn) Read(p []byte) (n int, err error) {
	if !c.in.begin(c.Conn.SetReadDeadline) {
		return 0, os.ErrDeadlineExceeded
	}
	defer c.in.end()
	for {
		if n, err = c.Conn.Read(p); err == nil || n > 0 || !c.in.early(err, c.Conn.SetReadDeadline) {
			return n, err
		}
	}
}

// Write writes all of p.
func (c *Conn) Write(p []byte) (n int, err error) {
	if !c.out.begin(c.Conn.SetWriteDeadline) {
		return 0, os.ErrDeadlineExceeded
	}
	defer c.out.end()
	for {
		m, err := c.Conn.Write(p[n:])
		if n += m; err == nil || !c.out.early(err, c.Conn.SetWriteDeadline) {
			return n, err
		}
	}
}

// CloseWrite closes one direction, if the connection can.
func (c *Conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// side is one direction of a connection.
type side struct {
	mu     sync.Mutex
	wanted time.Time // zero: none
	real   time.Time // zero: none
	busy   int       // reads, or writes, under way
}

// longAgo is after the deadlines by which a wait is interrupted, and before all
// others.
var longAgo = time.Unix(1000, 0)

// want takes note of a deadline. It counts at once for those who wait already.
func (s *side) want(t time.Time, set func(time.Time) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wanted = t
	if s.busy == 0 {
		return nil
	}
	return s.settleLocked(set)
}

// begin prepares for a wait, or reports that it would be interrupted at once.
func (s *side) begin(set func(time.Time) error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wanted.Before(longAgo) && !s.wanted.IsZero() {
		return false
	}
	_ = s.settleLocked(set) // whoever reads or writes sees what is wrong
	s.busy++
	return true
}

func (s *side) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy--
}

// release makes the real deadline the one that is wanted.
func (s *side) release(set func(time.Time) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = set(s.wanted) // whoever reads or writes sees what is wrong
}

// settleLocked moves the real deadline if it is later than the one that is wanted,
// or has interrupted something.
func (s *side) settleLocked(set func(time.Time) error) error {
	if s.real.Before(longAgo) {
		if s.real.Equal(s.wanted) {
			return nil
		}
	} else if s.wanted.IsZero() || !s.wanted.Before(s.real) {
		return nil
	}
	s.real = s.wanted
	return set(s.real)
}

// early reports whether err is of a deadline that passed too early. If so, it has
// moved that.
func (s *side) early(err error, set func(time.Time) error) bool {
	if timeout, ok := err.(net.Error); !ok || !timeout.Timeout() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.wanted.IsZero() && (s.wanted.Equal(s.real) || !time.Now().Before(s.wanted)) {
		return false
	}
	s.real = s.wanted
	return set(s.real) == nil
}
