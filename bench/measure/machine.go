package measure

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// Machine says what figures were measured on, without saying whose it is.
type Machine struct {
	System string // such as linux/amd64
	CPU    string // the processor's model; empty: not known
	Cores  int
	Go     string
	Node   string // empty: there is none
	Load   string // the average number of processes that wanted to run lately; empty: not known
}

// ThisMachine describes the machine that the program runs on.
func ThisMachine() Machine {
	m := Machine{System: runtime.GOOS + "/" + runtime.GOARCH, Cores: runtime.NumCPU(), Go: runtime.Version()}
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range bytes.Lines(info) {
			if name, value, ok := bytes.Cut(line, []byte(":")); ok && string(bytes.TrimSpace(name)) == "model name" {
				m.CPU = string(bytes.TrimSpace(value))
				break
			}
		}
	}
	if loads, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.Load, _, _ = strings.Cut(string(loads), " ")
	}
	if out, err := exec.Command("node", "--version").Output(); err == nil {
		m.Node = strings.TrimPrefix(strings.TrimSpace(string(out)), "v")
	}
	return m
}
