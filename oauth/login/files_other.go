//go:build (!unix && !windows) || solaris || aix

package login

import (
	"errors"
	"os"
)

// tryLock fails: without locks, two processes would use up each other's refresh
// tokens.
func tryLock(*os.File) (bool, error) { return false, errors.ErrUnsupported }
