//go:build unix

package need

import (
	"os/exec"
	"syscall"
)

// ownGroup gives the program a process group, and makes the end of its context
// kill the whole group: Node programs start others.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if cmd.Cancel != nil {
		cmd.Cancel = func() error { return killGroup(cmd) }
	}
}

// killGroup kills the program, which [ownGroup] prepared, and what it started.
func killGroup(cmd *exec.Cmd) error {
	return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}
