package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/jsonrpc"
)

// Exit codes, as `bossman exit-codes` lists them.
const (
	exitOK      = 0
	exitError   = 1 // what was asked for could not be done
	exitUsage   = 2 // the command line is wrong
	exitTool    = 3 // a tool failed
	exitRefused = 4 // the server answered with an error
	exitTimeout = 5 // no answer came in time
)

const exitCodesText = `0  done; for a server: the client closed the connection, or SIGINT or SIGTERM came
1  what was asked for could not be done; the reason is on standard error
2  the command line is wrong, or the arguments do not fit the tool
3  the tool was called and failed; what it said is printed
4  the server refused the request with an error of the protocol
5  the server did not answer in time`

// errToolFailed is the error of a call whose tool failed; what it said is printed.
var errToolFailed = errors.New("the tool failed")

// exitCode tells errors apart for scripts.
func exitCode(err error) int {
	var (
		usage *usageError
		wire  *jsonrpc.Error
		local *client.LocalError
	)
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage):
		return exitUsage
	case errors.Is(err, errToolFailed):
		return exitTool
	case errors.Is(err, context.DeadlineExceeded):
		return exitTimeout
	case errors.As(err, &wire) && !errors.As(err, &local):
		return exitRefused
	}
	return exitError
}

// interruptible ends a context when the user has had enough.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
}
