package parked

import (
	"net"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/bossman-mcp/bossman/internal/errands"
)

// sockets is the table of a lot's descriptors. The epoll that watches them, and
// its goroutine, exist only while there are any.
type sockets struct {
	ends errands.Queue // tells owners

	mu   sync.Mutex
	poll *poll // nil while the table is empty
}

// park moves a connection to a descriptor that the runtime's poller does not know.
// If that fails, the connection is as it was.
func (t *sockets) park(conn *net.TCPConn) (Conn, bool) {
	fd, err := duplicate(conn)
	if err != nil {
		return nil, false
	}
	s := &socket{table: t, fd: fd}
	if err := t.add(s); err != nil {
		_ = unix.Close(fd)
		return nil, false
	}
	_ = conn.Close()
	return s, true
}

// duplicate returns another descriptor of the connection. It does not block
// either, and no child process gets it.
func duplicate(conn *net.TCPConn) (fd int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = raw.Control(func(old uintptr) {
		fd, failed = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0)
	})
	if err == nil {
		err = failed
	}
	return fd, err
}

func (t *sockets) add(s *socket) error {
	t.mu.Lock()
	err := t.addLocked(s)
	idle := t.idleLocked()
	t.mu.Unlock()
	idle.stop()
	return err
}

func (t *sockets) addLocked(s *socket) error {
	if t.poll == nil {
		p, err := newPoll()
		if err != nil {
			return err
		}
		t.poll = p
		go p.run(t) // stop waits for it
	}
	return t.poll.add(s)
}

// remove forgets a socket, whose descriptor may be closed and used again from then
// on. The caller stops what it returns, without holding a lock.
func (t *sockets) remove(s *socket) *poll {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.poll.remove(s)
	return t.idleLocked()
}

// idleLocked takes the epoll out if it watches nothing; nil if it is needed.
func (t *sockets) idleLocked() *poll {
	p := t.poll
	if p == nil || p.watched > 0 {
		return nil
	}
	t.poll = nil
	return p
}

// find returns the socket that an event is about, nil if it was removed since.
func (t *sockets) find(p *poll, e *unix.EpollEvent) *socket {
	t.mu.Lock()
	defer t.mu.Unlock()
	return p.find(e)
}
