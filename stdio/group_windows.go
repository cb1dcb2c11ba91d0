package stdio

import (
	"fmt"
	"os/exec"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a child and everything it started: a job object.
type group struct{ job windows.Handle }

// start starts the program in a new job that ends with us.
func (g *group) start(cmd *exec.Cmd) error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return fmt.Errorf("create job object: %w", err)
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))); err != nil {
		_ = windows.CloseHandle(job)
		return fmt.Errorf("limit job object: %w", err)
	}
	if err := cmd.Start(); err != nil {
		_ = windows.CloseHandle(job)
		return err
	}
	g.job = job
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(cmd.Process.Pid))
	if err == nil {
		_ = windows.AssignProcessToJobObject(job, process) // a child that ended already needs no job
		_ = windows.CloseHandle(process)
	}
	return nil
}

// terminate ends the job: Windows has no signal to ask by.
func (g *group) terminate() { _ = windows.TerminateJobObject(g.job, 1) }

// kill ends the job, if any of it is left.
func (g *group) kill() { _ = windows.TerminateJobObject(g.job, 1) }

// release gives the job back.
func (g *group) release() { _ = windows.CloseHandle(g.job) }
