package fleet

import (
	"errors"
	"fmt"
	"time"

	"github.com/bossman-mcp/bossman/client"
)

// State is how a server is doing.
type State string

// The states of a server.
const (
	StateIdle     State = "idle"     // not started: nobody needed it yet
	StateStarting State = "starting" // on its way
	StateReady    State = "ready"    // it answers
	StateFailing  State = "failing"  // it failed, and will be tried again soon
	StateDown     State = "down"     // it was given up, until Options.Rest is over
	StateDisabled State = "disabled" // its configuration says so
	StateInvalid  State = "invalid"  // its configuration cannot be used
	StateClosed   State = "closed"   // it was removed, or the fleet was closed
)

// Status is how a server was doing when it was asked for.
type Status struct {
	Name     string
	State    State
	Err      error     // why it failed last; nil if it is ready or never failed
	Since    time.Time // when it came into this state
	Restarts int       // how often it was tried again
	Server   client.ServerInfo
}

// Errors of servers that are not asked. They come in a [*ServerError].
var (
	ErrUnknown  = errors.New("no such server")
	ErrDisabled = errors.New("disabled by the configuration")
	ErrDenied   = errors.New("denied by the configuration")
	ErrDown     = errors.New("given up")
	ErrClosed   = errors.New("closed")
)

// ServerError is an error with the name of the server that it is about. What it
// wraps is the error of package client, or one of this package's.
type ServerError struct {
	Server string
	Err    error
}

func (e *ServerError) Error() string { return fmt.Sprintf("server %q: %v", e.Server, e.Err) }

// Unwrap returns the reason.
func (e *ServerError) Unwrap() error { return e.Err }

// about adds the name of the server to an error, if there is one.
func about(server string, err error) error {
	var known *ServerError
	if err == nil || errors.As(err, &known) {
		return err
	}
	return &ServerError{Server: server, Err: err}
}
