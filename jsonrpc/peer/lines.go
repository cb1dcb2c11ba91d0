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
// behind.
//
// Messages that are sent while another goroutine is writing leave together in
// its next write, whose failure only later messages report.
func Lines(r io.Reader, w io.Writer, maxLine int) Transport {
	if maxLine <= 0 {
		maxLine = MaxLine
	}
	return &lines{r: r, w: w, in: bufio.NewReaderSize(r, 64<<10), max: maxLine}
}

type lines struct {
	r   io.Reader
	w   io.Writer
	in  *bufio.Reader
	max int

	skip bool // the rest of a line that was too long comes next; the receiver's own

	mu      sync.Mutex
	pending []byte        // lines waiting for the writer
	spare   []byte        // the buffer the writer is not using
	writing bool          // some goroutine writes, and will until nothing is pending
	closed  bool          // Close was called: nothing is added to pending
	err     error         // the first failed write, or ErrClosed: nothing is written any more
	changed chan struct{} // closed at the next change of what is above; nil while nobody waits
}

const (
	// maxPending is how many bytes may wait for a writer before Send blocks.
	maxPending = 1 << 20
	// maxWrite is how many bytes go into one write, so that Close can tell a slow
	// reader from none.
	maxWrite = 256 << 10
)

func (l *lines) Send(ctx context.Context, message []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.writing && len(l.pending) > maxPending && !l.closed && ctx.Err() == nil {
		l.waitLocked(ctx.Done())
	}
	switch {
	case l.closed:
		return ErrClosed
	case l.err != nil:
		return l.err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	from := len(l.pending)
	l.pending = append(l.pending, message...)
	keepOnOneLine(l.pending[from:])
	l.pending = append(l.pending, '\n')
	if l.writing {
		return nil
	}
	l.writing = true
	if ctx.Done() == nil {
		err := l.writeLocked()
		l.flushLocked()
		return err
	}
	return l.flushAsideLocked(ctx)
}

// flushAsideLocked flushes on another goroutine and waits for its first write,
// since a write cannot be interrupted when ctx ends. The message stays on its
// way then.
func (l *lines) flushAsideLocked(ctx context.Context) error {
	wrote := make(chan error, 1)
	go func() { // ends when nothing is pending; Close makes a write that is stuck fail
		l.mu.Lock()
		defer l.mu.Unlock()
		wrote <- l.writeLocked()
		l.flushLocked()
	}()
	l.mu.Unlock()
	defer l.mu.Lock()
	select {
	case err := <-wrote:
		return err
	case <-ctx.Done():
		return nil
	}
}

// flushLocked writes until nothing is pending.
func (l *lines) flushLocked() {
	for len(l.pending) > 0 && l.writeLocked() == nil {
	}
	l.pending = l.pending[:0] // what will never be written
	l.writing = false
	l.wakeLocked()
}

// writeLocked writes what is pending now; nil means that all of it was written.
// It gives up the lock while it writes, so that others can add to the next
// write.
func (l *lines) writeLocked() error {
	batch := l.pending
	l.pending, l.spare = l.spare[:0], nil
	rest := batch
	for len(rest) > 0 && l.err == nil {
		n := min(len(rest), maxWrite)
		l.mu.Unlock()
		_, err := l.w.Write(rest[:n])
		l.mu.Lock()
		switch {
		case err == nil:
			rest = rest[n:]
		case l.err == nil:
			l.err = fmt.Errorf("write message: %w", err)
		}
		l.wakeLocked()
	}
	if cap(batch) <= maxPending {
		l.spare = batch
	}
	if len(rest) == 0 {
		return nil
	}
	return l.err
}

// waitLocked gives up the lock until something changed, which it reports, or
// enough is closed.
func (l *lines) waitLocked(enough <-chan struct{}) bool {
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	changed := l.changed
	l.mu.Unlock()
	defer l.mu.Lock()
	select {
	case <-changed:
		return true
	case <-enough:
		return false
	}
}

func (l *lines) wakeLocked() {
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
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

func (l *lines) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

// line reads up to the next line break, or to the end of input. A long line is
// gathered in parts: growing one buffer would need the memory several times.
func (l *lines) line() ([]byte, error) {
	if l.skip {
		if err := l.skipLine(); err != nil {
			return nil, err
		}
	}
	var parts [][]byte
	size := 0
	for {
		part, err := l.in.ReadSlice('\n')
		full := errors.Is(err, bufio.ErrBufferFull)
		if err == nil {
			part = part[:len(part)-1]
		}
		if size += len(part); size > l.max {
			l.skip = err != nil
			return nil, fmt.Errorf("%w: a line may have %d bytes", ErrTooLong, l.max)
		}
		switch {
		case full:
			parts = append(parts, bytes.Clone(part))
		case err == nil || errors.Is(err, io.EOF) && size > 0:
			if parts == nil {
				return bytes.Clone(part), nil
			}
			return slices.Concat(append(parts, part)...), nil
		default:
			return nil, err
		}
	}
}

// skipLine reads to the end of a line that was too long.
func (l *lines) skipLine() error {
	for {
		_, err := l.in.ReadSlice('\n')
		if err == nil {
			l.skip = false
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
	end := time.Now().Add(time.Second)
	for moving := true; l.writing && moving && time.Now().Before(end); {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		moving = l.waitLocked(ctx.Done())
		cancel()
	}
	l.err = ErrClosed
	return true
}

// same reports whether a and b are one, as the two sides of a socket are.
func same(a, b any) bool { return reflect.ValueOf(a).Comparable() && a == b }
