//go:build unix

package stdio

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// output is standard output without the signal that package os raises, and dies of,
// when nobody reads it any more. It is for one writer at a time.
type output struct {
	*os.File
	raw  syscall.RawConn
	once func(fd uintptr) bool // write
	rest []byte                // of what is being written
	err  error
}

// newOutput returns a writer to f, which is standard output or like it.
func newOutput(f *os.File) io.WriteCloser {
	raw, err := f.SyscallConn()
	if err != nil {
		return f // writing will say the same
	}
	o := &output{File: f, raw: raw}
	o.once = o.write
	return o
}

// Write writes all of p.
func (o *output) Write(p []byte) (int, error) {
	o.rest, o.err = p, nil
	for len(o.rest) > 0 && o.err == nil {
		if err := o.raw.Write(o.once); err != nil {
			o.err = err
		}
	}
	n := len(p) - len(o.rest)
	o.rest = nil
	if o.err != nil {
		return n, &os.PathError{Op: "write", Path: o.Name(), Err: o.err}
	}
	return n, nil
}

// write writes what it can. It reports false if there is to be waited first.
func (o *output) write(fd uintptr) bool {
	n, err := syscall.Write(int(fd), o.rest)
	switch {
	case errors.Is(err, syscall.EAGAIN):
		return false
	case errors.Is(err, syscall.EINTR):
		return true
	case n == 0 && err == nil:
		err = io.ErrUnexpectedEOF
	}
	o.rest, o.err = o.rest[max(n, 0):], err
	return true
}
