package stdio

import (
	"os"
	"sync"
)

// spout is what a child writes, for one reader at a time. A read usually waits with
// the help of the runtime's poller, which has another thread see to it and a
// goroutine woken. While it is lent, a read waits by itself, for a moment at most.
type spout struct {
	mu     sync.Mutex // held by a read while it is lent
	file   *os.File   // nil while it is lent
	fd     int        // while it is lent: its descriptor, which the poller does not know
	closed bool
	waits  int // how many more reads may wait while it is lent; the reader's own
}

func newSpout(file *os.File) *spout { return &spout{file: file} }

// Read reads what is there, or waits for it. While the output is lent, it returns
// os.ErrDeadlineExceeded if nothing comes in a moment. It says the same of the end,
// which whoever reads afterwards will see too.
func (s *spout) Read(p []byte) (int, error) {
	s.mu.Lock()
	switch {
	case s.closed:
		s.mu.Unlock()
		return 0, os.ErrClosed
	case s.file == nil:
		defer s.mu.Unlock()
		return s.readSoonLocked(p)
	}
	file := s.file
	s.mu.Unlock()
	return file.Read(p)
}

// Close ends reads that wait.
func (s *spout) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.takeBackLocked()
	return s.file.Close()
}

// lend lets reads wait for a moment only, and reports whether it can.
func (s *spout) lend() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.closed && (s.file == nil || s.lendLocked())
}

// takeBack lets reads wait for as long as it takes.
func (s *spout) takeBack() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.takeBackLocked()
}
