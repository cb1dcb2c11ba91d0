//go:build unix && !solaris && !aix

package login

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes the file's lock if nobody has it. Closing the file gives it back.
func tryLock(file *os.File) (bool, error) {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return false, nil
	}
	return err == nil, err
}
