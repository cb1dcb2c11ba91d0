//go:build unix

package sqlite_test

import (
	"os/signal"
	"syscall"
)

// limitFiles lets no file of this process grow beyond size, until restore is
// called. It reports false where that cannot be done.
func limitFiles(size uint64) (restore func(), ok bool) {
	signal.Ignore(syscall.SIGXFSZ)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return nil, false
	}
	limit := old
	limit.Cur = size
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return nil, false
	}
	return func() { syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old) }, true
}
