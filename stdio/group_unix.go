//go:build unix

package stdio

import (
	"os/exec"
	"syscall"
)

// group is a child and everything it started: a process group.
type group struct{ id int }

// start starts the program as the leader of a new group.
func (g *group) start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	g.id = cmd.Process.Pid
	return nil
}

// terminate tells the group to end.
func (g *group) terminate() { _ = syscall.Kill(-g.id, syscall.SIGTERM) }

// kill ends the group, if any of it is left.
func (g *group) kill() { _ = syscall.Kill(-g.id, syscall.SIGKILL) }

// release gives back what the group holds: nothing here.
func (g *group) release() {}
