package parked

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// poll is an epoll. Its own descriptor is waited for by the runtime's poller, so
// that its goroutine blocks no thread.
type poll struct {
	fd   int
	file *os.File // owns fd
	wait syscall.RawConn
	done chan struct{} // closed when run has returned

	// Of sockets.mu.
	byFD    []*socket
	watched int
	last    int32 // the serial of the newest socket
}

func newPoll() (*poll, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil { // else os.NewFile would not give it to the poller
		_ = unix.Close(fd)
		return nil, err
	}
	p := &poll{fd: fd, file: os.NewFile(uintptr(fd), "epoll"), done: make(chan struct{})}
	if p.wait, err = p.file.SyscallConn(); err == nil {
		err = p.file.SetReadDeadline(time.Time{}) // fails if the poller did not take it
	}
	if err != nil {
		_ = p.file.Close()
		return nil, err
	}
	return p, nil
}

// add watches a socket. An event comes when something changes, not while it lasts.
func (p *poll) add(s *socket) error {
	p.last++
	event := &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET, Fd: int32(s.fd), Pad: p.last}
	for len(p.byFD) <= s.fd {
		p.byFD = append(p.byFD, nil)
	}
	s.serial, p.byFD[s.fd] = p.last, s // first: an event may come at once
	if err := unix.EpollCtl(p.fd, unix.EPOLL_CTL_ADD, s.fd, event); err != nil {
		p.byFD[s.fd] = nil
		return err
	}
	p.watched++
	return nil
}

// remove does not rely on the close that follows: a child process that is just
// being started may have the socket, too.
func (p *poll) remove(s *socket) {
	_ = unix.EpollCtl(p.fd, unix.EPOLL_CTL_DEL, s.fd, nil)
	p.byFD[s.fd] = nil
	p.watched--
}

// find returns the socket of an event. One that came after its socket was removed
// has a serial that is nobody's, even if the descriptor is in use again.
func (p *poll) find(e *unix.EpollEvent) *socket {
	if s := p.byFD[e.Fd]; s != nil && s.serial == e.Pad {
		return s
	}
	return nil
}

// run tells sockets what happened to them, until stop.
func (p *poll) run(t *sockets) {
	defer close(p.done)
	events, scrap := make([]unix.EpollEvent, 64), make([]byte, 1024)
	for {
		n := 0
		err := p.wait.Read(func(fd uintptr) bool {
			n, _ = unix.EpollWait(int(fd), events, 0) // which cannot fail but by a signal
			return n > 0
		})
		if err != nil { // it was closed
			return
		}
		for i := range events[:n] {
			if s := t.find(p, &events[i]); s != nil {
				s.happened(events[i].Events, scrap)
			}
		}
	}
}

// stop ends run, waits for that, and closes the descriptor; nil has none.
func (p *poll) stop() {
	if p != nil {
		_ = p.file.Close()
		<-p.done
	}
}
