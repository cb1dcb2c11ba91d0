package peer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Transport carries whole messages. It is the seam between a [Peer] and what
// moves the bytes: pipes, sockets, memory.
type Transport interface {
	// Send delivers one message. Peers call it from many goroutines at once. It
	// may block while the other side is not reading, and must not keep message
	// after it returns.
	Send(ctx context.Context, message []byte) error
	// Receive waits for the next message, which then belongs to the caller. It
	// returns io.EOF when the other side will send no more, and an error that
	// wraps ErrTooLong for a message that was cut: the next call goes on with
	// the message after it. Only one goroutine receives.
	Receive(ctx context.Context) ([]byte, error)
	// Close ends both directions and makes blocked calls return. Closing twice
	// is no error.
	Close() error
}

// ErrTooLong marks a message over the size limit. It was skipped; the
// connection is intact.
var ErrTooLong = errors.New("message too long")

// ErrClosed is what calls on a closed connection return.
var ErrClosed = errors.New("connection closed")

// MaxLine is the longest line that [Lines] takes unless told otherwise: 16 MiB.
const MaxLine = 16 << 20

// Lines frames messages as lines of r and w, as the stdio transport does. A
// line over maxLine bytes (0: [MaxLine]) is skipped to its end and reported as
// [ErrTooLong]. Empty lines are passed over. Close closes r and w where they
// can be closed.
//
// Messages that are sent while another goroutine is writing leave together in
// its next write.
func Lines(r io.Reader, w io.Writer, maxLine int) Transport {
	if maxLine <= 0 {
		maxLine = MaxLine
	}
	l := &lines{r: r, w: w, in: bufio.NewReaderSize(r, 64<<10), max: maxLine}
	l.room.L = &l.mu
	return l
}

type lines struct {
	r   io.Reader
	w   io.Writer
	in  *bufio.Reader
	max int

	mu      sync.Mutex
	room    sync.Cond // pending got smaller, or err was set
	pending []byte    // lines waiting for the writer
	spare   []byte    // the buffer the writer is not using
	writing bool      // some goroutine is in write
	err     error     // the first failed write, or ErrClosed
}

// maxPending is how many bytes may wait for a writer before Send blocks.
const maxPending = 1 << 20

func (l *lines) Send(_ context.Context, message []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.writing && len(l.pending) > maxPending && l.err == nil {
		l.room.Wait()
	}
	if l.err != nil {
		return l.err
	}
	from := len(l.pending)
	l.pending = append(l.pending, message...)
	keepOnOneLine(l.pending[from:])
	l.pending = append(l.pending, '\n')
	if !l.writing {
		l.flushLocked()
	}
	return l.err
}

// flushLocked writes until nothing is pending. It gives up the lock while it
// writes, so that others can add to the next write.
func (l *lines) flushLocked() {
	l.writing = true
	for len(l.pending) > 0 && l.err == nil {
		batch := l.pending
		l.pending, l.spare = l.spare[:0], nil
		l.mu.Unlock()
		_, err := l.w.Write(batch)
		l.mu.Lock()
		if cap(batch) <= maxPending {
			l.spare = batch
		}
		if err != nil && l.err == nil {
			l.err = fmt.Errorf("write message: %w", err)
		}
		l.room.Broadcast()
	}
	l.writing = false
}

// keepOnOneLine turns line breaks into blanks. Between JSON's tokens they mean
// the same; inside a JSON string a raw line break cannot stand.
func keepOnOneLine(message []byte) {
	for _, lineBreak := range []byte("\n\r") {
		for rest := message; ; {
			i := bytes.IndexByte(rest, lineBreak)
			if i < 0 {
				break
			}
			rest[i] = ' '
			rest = rest[i+1:]
		}
	}
}

func (l *lines) Receive(context.Context) ([]byte, error) {
	for {
		line, err := l.line()
		if err != nil {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

// line reads up to the next line break, or to the end of input.
func (l *lines) line() ([]byte, error) {
	var line []byte
	for {
		part, err := l.in.ReadSlice('\n')
		if len(line)+len(part) > l.max+1 {
			return nil, l.skipLine(err)
		}
		if err == nil || errors.Is(err, bufio.ErrBufferFull) {
			line = append(line, part...)
			if err == nil {
				return line, nil
			}
			continue
		}
		if line = append(line, part...); len(line) > 0 && errors.Is(err, io.EOF) {
			return line, nil
		}
		return nil, err
	}
}

// skipLine reads to the end of a line that is too long. err is what reading its
// last part gave.
func (l *lines) skipLine(err error) error {
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = l.in.ReadSlice('\n')
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return fmt.Errorf("%w: a line may have %d bytes", ErrTooLong, l.max)
}

func (l *lines) Close() error {
	l.mu.Lock()
	if l.err == nil {
		l.err = ErrClosed
	}
	l.room.Broadcast()
	l.mu.Unlock()
	var errs []error
	for _, end := range []any{l.r, l.w} {
		if c, ok := end.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}
