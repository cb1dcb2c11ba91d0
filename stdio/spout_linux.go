package stdio

import (
	"errors"
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// moment is how long a read waits while the output is lent: longer than short calls
// take, and not long for one that was cancelled, nor for a thread to sit there.
const moment = time.Millisecond

// lendLocked takes the output out of the poller: there it would wake a thread for
// each message all the same. With one processor there is nothing to gain: nobody
// else can run while a thread waits.
func (s *spout) lendLocked() bool {
	if runtime.GOMAXPROCS(0) == 1 {
		return false
	}
	fd, err := duplicate(s.file)
	if err != nil {
		return false
	}
	_ = s.file.Close() // and nobody has written to it
	s.file, s.fd = nil, fd
	return true
}

// duplicate returns another descriptor of a file, which children do not inherit.
func duplicate(file *os.File) (fd int, err error) {
	raw, err := file.SyscallConn()
	if err != nil {
		return 0, err
	}
	failed := raw.Control(func(old uintptr) {
		fd, err = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0)
	})
	return fd, errors.Join(failed, err)
}

// takeBackLocked has the poller know the output again.
func (s *spout) takeBackLocked() {
	if s.file != nil {
		return
	}
	s.file = os.NewFile(uintptr(s.fd), "output")
	if s.file.SetReadDeadline(time.Time{}) != nil { // the poller has no room
		_ = syscall.SetNonblock(s.fd, false) // then a thread waits, as long as it takes
	}
}

func (s *spout) readSoonLocked(p []byte) (int, error) {
	for s.waits > 0 {
		s.waits--
		ready, err := readable(s.fd)
		if ready {
			var n int
			if n, err = syscall.Read(s.fd, p); n > 0 {
				return n, nil
			}
		}
		if err != syscall.EINTR && err != syscall.EAGAIN {
			break
		}
	}
	return 0, os.ErrDeadlineExceeded
}

// readable waits a moment for something to read, or for the end.
func readable(fd int) (bool, error) {
	files := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(files[:], int(moment/time.Millisecond))
	return n > 0, err
}
