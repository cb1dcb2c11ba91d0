//go:build unix

package schema_test

import (
	"syscall"
	"time"
)

// processorTime returns the time that the processor has spent on this program.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
