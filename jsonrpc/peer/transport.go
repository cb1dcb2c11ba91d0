package peer

import (
	"context"
	"errors"
)

// Transport carries whole messages. It is the seam between a [Peer] and what
// moves the bytes: pipes, sockets, memory.
type Transport interface {
	// Send delivers one message. Peers call it from many goroutines at once. It
	// may block while the other side is not reading, until ctx ends, and must not
	// keep message after it returns. An error means that the message is not
	// delivered; ErrClosed that none will be.
	Send(ctx context.Context, message []byte) error
	// Receive waits for the next message, which then belongs to the caller. It
	// returns io.EOF when the other side will send no more, and an error that
	// wraps ErrTooLong for a message that was cut: the next call goes on with
	// the message after it, as it does after a [*LostError]. Only one goroutine
	// receives.
	Receive(ctx context.Context) ([]byte, error)
	// Close ends both directions and makes blocked calls return. Closing twice
	// is no error.
	Close() error
}

// ErrTooLong marks a message over the size limit. It was skipped; the
// connection is intact.
var ErrTooLong = errors.New("message too long")

// ErrUnauthorized is what errors of [Transport] match when nothing could be had
// that proves who is calling: another request would fare no better.
var ErrUnauthorized = errors.New("not authorized")

// ErrClosed is what calls on a closed connection return.
var ErrClosed = errors.New("connection closed")
