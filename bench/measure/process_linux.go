package measure

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// CPU returns the processor time, user and system, that a process has used since
// it started: its CPU clock, which counts nanoseconds and all threads.
func CPU(pid int) (time.Duration, error) {
	const schedClock = 2 // CPUCLOCK_SCHED of the kernel's clock ids
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|schedClock), &ts); err != nil {
		return 0, fmt.Errorf("read the CPU clock of process %d: %w", pid, err)
	}
	return time.Duration(ts.Nano()), nil
}

// Memory is how much of a process is in main memory, in bytes.
type Memory struct{ Now, Peak int64 }

// MemoryOf reads the memory of a process.
func MemoryOf(pid int) (Memory, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return Memory{}, err
	}
	now, err := kilobytes(status, "VmRSS:")
	if err != nil {
		return Memory{}, err
	}
	peak, err := kilobytes(status, "VmHWM:")
	return Memory{Now: now, Peak: peak}, err
}

func kilobytes(status []byte, field string) (int64, error) {
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte(field)); ok {
			n, err := strconv.ParseInt(string(bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(rest), []byte("kB")))), 10, 64)
			return n << 10, err
		}
	}
	return 0, fmt.Errorf("no field %s", field)
}
