// Package measure reads what the system knows about a process and about the
// machine.
package measure
