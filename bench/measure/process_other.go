//go:build !linux

package measure

import (
	"errors"
	"time"
)

var errUnsupported = errors.New("processes are measured on Linux only")

// CPU returns the processor time of a process; on this system, an error.
func CPU(int) (time.Duration, error) { return 0, errUnsupported }

// Memory is how much of a process is in main memory, in bytes.
type Memory struct{ Now, Peak int64 }

// MemoryOf reads the memory of a process; on this system it returns an error.
func MemoryOf(int) (Memory, error) { return Memory{}, errUnsupported }
