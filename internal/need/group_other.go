//go:build !unix

package need

import "os/exec"

// ownGroup does nothing: this system has no process groups to kill.
func ownGroup(*exec.Cmd) {}

// killGroup kills the program alone.
func killGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }
