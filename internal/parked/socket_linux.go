package parked

import (
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// socket is a connection that is nothing but a descriptor.
type socket struct {
	table  *sockets
	fd     int
	serial int32 // of the table's poll

	mu     sync.Mutex // held while fd is used, which never blocks; taken before the locks of others
	stray  int32      // bytes that came
	closed bool       // fd is somebody else's
	ended  bool       // the owner has been told, or will be by Watch
	gone   bool       // what it is told
	owner  Owner
	room   chan struct{} // closed when a write may go on; nil if none waits
}

func (s *socket) Watch(owner Owner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owner = owner
	if s.ended {
		s.table.ends.Add(s.tell)
	}
}

func (s *socket) Write(text []byte, patience time.Duration) error {
	var late *time.Timer
	for {
		rest, room, err := s.try(text)
		if err != nil {
			s.Close()
			return err
		}
		if room == nil {
			return nil
		}
		text = rest
		if late == nil {
			late = time.NewTimer(patience)
			defer late.Stop()
		}
		select {
		case <-room:
		case <-late.C:
			s.Close()
			return os.ErrDeadlineExceeded
		}
	}
}

// try writes what the system takes. If that is not all, it returns what to wait for
// before the rest is tried.
func (s *socket) try(text []byte) (rest []byte, room <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(text) > 0 {
		if s.closed {
			return nil, nil, net.ErrClosed
		}
		switch n, err := unix.Write(s.fd, text); err {
		case nil:
			text = text[n:]
		case unix.EINTR:
		case unix.EAGAIN:
			s.room = make(chan struct{})
			return text, s.room, nil
		default:
			return nil, nil, os.NewSyscallError("write", err)
		}
	}
	return nil, nil, nil
}

func (s *socket) Interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endLocked(false)
}

func (s *socket) Close() { s.close().stop() }

func (s *socket) close() (idle *poll) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	idle = s.table.remove(s)
	_ = unix.Close(s.fd)
	s.roomLocked()
	s.endLocked(true)
	return idle
}

// happened takes note of an event. What comes is read to scrap.
func (s *socket) happened(what uint32, scrap []byte) {
	const over = unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR
	s.mu.Lock()
	defer s.mu.Unlock()
	if what&^unix.EPOLLIN != 0 { // if it is over the write will see
		s.roomLocked()
	}
	if s.closed {
		return
	}
	if what&over != 0 || what&unix.EPOLLIN != 0 && !s.discardLocked(scrap) {
		s.endLocked(true)
	}
}

// discardLocked reads what has come and reports whether more may come.
func (s *socket) discardLocked(scrap []byte) bool {
	for s.stray < maxStray {
		switch n, err := unix.Read(s.fd, scrap); {
		case err == unix.EAGAIN:
			return true
		case err == unix.EINTR:
		case err != nil || n == 0:
			return false
		default:
			s.stray += int32(n)
		}
	}
	return false
}

func (s *socket) roomLocked() {
	if s.room != nil {
		close(s.room)
		s.room = nil
	}
}

// endLocked lets the owner be told.
func (s *socket) endLocked(gone bool) {
	if s.ended {
		return
	}
	s.ended, s.gone = true, gone
	if s.owner != nil {
		s.table.ends.Add(s.tell)
	}
}

func (s *socket) tell() { s.owner.Ended(s.gone) }
