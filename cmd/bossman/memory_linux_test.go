package main_test

import (
	"fmt"
	"os"
	"strings"
)

// memory returns how much of the process is in memory, in KiB.
func (p *process) memory() int {
	p.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		p.t.Fatal(err)
	}
	for entry := range strings.Lines(string(status)) {
		var kib int
		if n, _ := fmt.Sscanf(entry, "VmRSS: %d kB", &kib); n == 1 {
			return kib
		}
	}
	p.t.Fatal("no VmRSS in the status of the process")
	return 0
}
