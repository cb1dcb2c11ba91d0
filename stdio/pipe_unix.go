//go:build unix

package stdio

import (
	"errors"
	"os"
	"syscall"
)

// writeAtOnce returns a function that writes to a pipe what fits into it now. It
// takes less without an error when the pipe is full.
func writeAtOnce(pipe *os.File) func(p []byte) (int, error) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return func([]byte) (int, error) { return 0, nil } // a goroutine can wait for it all the same
	}
	w := &onceWriter{raw: raw}
	w.bound = w.write
	return w.try
}

// onceWriter writes once to a file that does not block. It is for one at a time,
// and makes nothing for each write.
type onceWriter struct {
	raw   syscall.RawConn
	bound func(fd uintptr) bool // write

	p   []byte
	n   int
	err error
}

func (w *onceWriter) try(p []byte) (int, error) {
	w.p, w.n, w.err = p, 0, nil
	failed := w.raw.Write(w.bound)
	w.p = nil
	switch {
	case failed != nil:
		return w.n, failed
	case errors.Is(w.err, syscall.EAGAIN), errors.Is(w.err, syscall.EINTR):
		return 0, nil
	}
	return max(w.n, 0), w.err
}

func (w *onceWriter) write(fd uintptr) bool {
	w.n, w.err = syscall.Write(int(fd), w.p)
	return true // whatever came of it
}
