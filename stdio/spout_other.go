//go:build !linux

package stdio

import "os"

// lendLocked reports that the output cannot be lent.
func (*spout) lendLocked() bool { return false }

func (*spout) takeBackLocked() {}

func (*spout) readSoonLocked([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }
