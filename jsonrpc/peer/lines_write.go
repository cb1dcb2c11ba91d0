package peer

import (
	"bytes"
	"context"
	"fmt"
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
	l.addLocked(message)
	if l.writing {
		return nil
	}
	if ctx.Done() == nil {
		return l.flushLocked()
	}
	return l.flushAsideLocked(ctx)
}

func (l *lines) addLocked(message []byte) {
	from := len(l.pending)
	l.pending = append(l.pending, message...)
	keepOnOneLine(l.pending[from:])
	l.pending = append(l.pending, '\n')
}

// Hold adds a message to those that wait; see gatherer.
func (l *lines) Hold(message []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.err != nil || len(l.pending)+len(message) > maxHeld {
		return false
	}
	l.addLocked(message)
	return true
}

// Flush writes what waits, unless somebody does.
func (l *lines) Flush() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.writing || len(l.pending) == 0 {
		return nil
	}
	return l.flushLocked()
}

// flushAsideLocked flushes on another goroutine and waits for its first write,
// since a write cannot be interrupted when ctx ends. The message stays on its
// way then.
func (l *lines) flushAsideLocked(ctx context.Context) error {
	wrote := l.flushOnLocked()
	l.mu.Unlock()
	defer l.mu.Lock()
	select {
	case err := <-wrote:
		return err
	case <-ctx.Done():
		return nil
	}
}

// flushOnLocked flushes on another goroutine. The channel gets the fate of what is
// pending now.
func (l *lines) flushOnLocked() <-chan error {
	wrote := make(chan error, 1)
	l.writing = true
	go func() { // ends when nothing is pending; Close makes a write that is stuck fail
		l.mu.Lock()
		defer l.mu.Unlock()
		wrote <- l.writeLocked()
		l.drainLocked()
	}()
	return wrote
}

// flushLocked writes until nothing is pending, and returns the fate of what was
// when it began.
func (l *lines) flushLocked() error {
	l.writing = true
	err := l.writeLocked()
	l.drainLocked()
	return err
}

func (l *lines) drainLocked() {
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
