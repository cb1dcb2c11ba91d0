package peer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// MaxLine is the longest line that [Lines] takes unless told otherwise: 16 MiB.
const MaxLine = 16 << 20

// Lines frames messages as lines of r and w, as the stdio transport does. A
// line over maxLine bytes (0: [MaxLine]) is reported as [ErrTooLong] and skipped
// to its end. Empty lines are passed over. Close lets what was sent be written,
// for as long as that moves and for a second at most, then closes r and w where
// they can be closed; a read or write that this does not interrupt is left
// behind. After a read of r that gave up, as one with a deadline does, the next
// Receive goes on with the same line.
//
// Messages that are sent while another goroutine is writing leave together in
// its next write, whose failure only later messages report.
func Lines(r io.Reader, w io.Writer, maxLine int) Transport {
	if maxLine <= 0 {
		maxLine = MaxLine
	}
	l := &lines{r: r, w: w, in: bufio.NewReaderSize(r, readAhead), max: maxLine}
	l.turn.L = &l.mu
	return l
}

type lines struct {
	r   io.Reader
	w   io.Writer
	in  *bufio.Reader
	max int

	begun begun // the receiver's own

	mu      sync.Mutex
	pending []byte        // lines waiting for the writer, or for one if they are held back
	spare   []byte        // the buffer the writer is not using
	writing bool          // some goroutine writes, and will until nothing is pending
	rested  time.Time     // when a goroutine that only writes was last done
	waiting int           // long messages that wait for their turn
	turn    sync.Cond     // nobody writes, or nothing will be written any more
	closed  bool          // Close was called: nothing is added to pending
	err     error         // the first failed write, or ErrClosed: nothing is written any more
	changed chan struct{} // closed at the next change of what is above; nil while nobody waits
}

// begun is what has come of a line whose end has not. A long line is gathered in
// parts: growing one buffer would need the memory several times.
type begun struct {
	parts [][]byte
	size  int
	skip  bool // it is too long, and passed over
}

const (
	// readAhead is how many bytes are read at once, at most. Lines that are no longer
	// need not be put together from parts.
	readAhead = 128 << 10
	// maxPending is how many bytes may wait for a writer before Send blocks.
	maxPending = 1 << 20
	// maxWrite is how many bytes go into one write, so that Close can tell a slow
	// reader from none.
	maxWrite = 256 << 10
	// maxHeld is how many bytes are held back for one write. More save nothing.
	maxHeld = 16 << 10
	// rush is how soon after the last write another message is one of several.
	rush = 100 * time.Microsecond
)

func (l *lines) Receive(context.Context) ([]byte, error) {
	for {
		line, err := l.line()
		switch {
		case l.isClosed():
			return nil, ErrClosed
		case err != nil:
			return nil, err
		}
		if line = jsonscan.Trim(line); len(line) > 0 {
			return line, nil
		}
	}
}

// Ready reports whether a whole line, or one that is too long, has been read.
func (l *lines) Ready() bool {
	n := l.in.Buffered()
	if n == 0 {
		return false
	}
	ahead, _ := l.in.Peek(n) // what is buffered can be peeked at
	return bytes.IndexByte(ahead, '\n') >= 0
}

func (l *lines) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

// line reads up to the next line break, or to the end of input.
func (l *lines) line() ([]byte, error) {
	if l.begun.skip {
		if err := l.skipLine(); err != nil {
			return nil, err
		}
	}
	for {
		part, err := l.in.ReadSlice('\n')
		if err == nil {
			part = part[:len(part)-1]
		}
		if l.begun.size += len(part); l.begun.size > l.max {
			l.begun = begun{skip: err != nil}
			return nil, fmt.Errorf("%w: a line may have %d bytes", ErrTooLong, l.max)
		}
		if err == nil || errors.Is(err, io.EOF) && l.begun.size > 0 {
			return l.begun.end(part), nil
		}
		if len(part) > 0 {
			l.begun.parts = append(l.begun.parts, bytes.Clone(part))
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
}

// end returns the line whose last part has come.
func (b *begun) end(last []byte) (line []byte) {
	if b.parts == nil {
		line = bytes.Clone(last)
	} else {
		line = slices.Concat(append(b.parts, last)...)
	}
	*b = begun{}
	return line
}

// skipLine reads to the end of a line that was too long.
func (l *lines) skipLine() error {
	for {
		_, err := l.in.ReadSlice('\n')
		if err == nil {
			l.begun.skip = false
			return nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

func (l *lines) Close() error {
	if !l.stop() {
		return nil
	}
	var errs []error
	if c, ok := l.r.(io.Closer); ok {
		errs = append(errs, c.Close())
	}
	if c, ok := l.w.(io.Closer); ok && !same(l.r, l.w) {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// stop ends sending and reports whether it was the first to do so. What was sent
// before is written for up to a second, unless a write gets stuck.
func (l *lines) stop() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.closed = true
	l.wakeLocked()
	if len(l.pending) > 0 && !l.writing { // it was held back
		l.flushOnLocked()
	}
	end := time.Now().Add(time.Second)
	for moving := true; l.writing && moving && time.Now().Before(end); {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		moving = l.waitLocked(ctx.Done())
		cancel()
	}
	l.err = ErrClosed
	l.turn.Broadcast()
	return true
}

// same reports whether a and b are one, as the two sides of a socket are.
func same(a, b any) bool { return reflect.ValueOf(a).Comparable() && a == b }
