//go:build unix

package server_test

import "syscall"

// makePipe makes a named pipe, which blocks whoever opens it.
func makePipe(path string) error { return syscall.Mkfifo(path, 0o600) }
