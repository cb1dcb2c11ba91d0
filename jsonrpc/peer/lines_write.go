package peer

import (
	"bytes"
	"context"
	"fmt"
	"time"
)

func (l *lines) Send(ctx context.Context, message []byte) error {
	return l.SendParts(ctx, nil, message, nil)
}

// SendParts sends the message that the parts make together; see gatherer.
func (l *lines) SendParts(ctx context.Context, head, body, tail []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	long := len(body) > maxHeld && ctx.Done() == nil && isOneLine(body)
	for l.writing && len(l.pending) > maxPending && !l.closed && ctx.Err() == nil {
		l.waitLocked(ctx.Done())
	}
	if long {
		l.awaitTurnLocked()
	}
	if err := l.refuseLocked(ctx); err != nil {
		return err
	}
	l.addLocked(head)
	if long {
		if len(tail) > 0 || body[len(body)-1] != '\n' {
			tail = append(bytes.Clone(tail), '\n')
		}
		return l.writeThroughLocked(body, tail)
	}
	l.addLocked(body)
	l.endLocked(tail)
	if l.writing {
		return nil
	}
	if ctx.Done() == nil {
		return l.flushLocked()
	}
	return l.flushAsideLocked(ctx)
}

// SendSoon sends one of several messages; see gatherer.
func (l *lines) SendSoon(ctx context.Context, message []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.writing && len(l.pending) > maxHeld && !l.closed && ctx.Err() == nil {
		l.waitLocked(ctx.Done())
	}
	if err := l.refuseLocked(ctx); err != nil {
		return err
	}
	l.endLocked(message)
	switch {
	case l.writing:
		return nil
	case time.Since(l.rested) > rush:
		return l.flushAsideLocked(ctx)
	}
	l.flushOnLocked()
	return nil
}

// refuseLocked returns why a message cannot be sent, or nil.
func (l *lines) refuseLocked(ctx context.Context) error {
	switch {
	case l.closed:
		return ErrClosed
	case l.err != nil:
		return l.err
	}
	return ctx.Err()
}

// addLocked adds a part of a line to what is pending.
func (l *lines) addLocked(part []byte) {
	from := len(l.pending)
	l.pending = append(l.pending, part...)
	keepOnOneLine(l.pending[from:])
}

// endLocked adds the last part of a line.
func (l *lines) endLocked(part []byte) {
	l.addLocked(part)
	l.pending = append(l.pending, '\n')
}

// Hold adds a message to those that wait; see gatherer.
func (l *lines) Hold(message []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.err != nil || len(l.pending)+len(message) > maxHeld {
		return false
	}
	l.endLocked(message)
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
		l.rested = time.Now()
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

// drainLocked writes what is pending, but for what a long message that waits will
// write.
func (l *lines) drainLocked() {
	for len(l.pending) > 0 && (l.waiting == 0 || l.closed) && l.writeLocked() == nil {
	}
	if l.err != nil {
		l.pending = l.pending[:0] // it will never be written
	}
	l.writing = false
	l.turn.Signal()
	l.wakeLocked()
}

// awaitTurnLocked waits until nobody writes. A long message is worth that: to
// leave it to another it would have to be copied.
func (l *lines) awaitTurnLocked() {
	l.waiting++
	for l.writing && l.err == nil {
		l.turn.Wait()
	}
	l.waiting--
	if l.closed || l.err != nil {
		l.turn.Signal() // this one will write nothing
	}
}

// writeThroughLocked writes what is pending, the body from where it is and the rest
// of its line, and then what was sent meanwhile.
func (l *lines) writeThroughLocked(body, tail []byte) error {
	l.writing = true
	err := l.writeLocked()
	if err == nil {
		err = l.writeOutLocked(body)
	}
	if err == nil {
		err = l.writeOutLocked(tail)
	}
	l.drainLocked()
	return err
}

// writeLocked writes what is pending now; nil means that all of it was written.
// It gives up the lock while it writes, so that others can add to the next
// write.
func (l *lines) writeLocked() error {
	batch := l.pending
	l.pending, l.spare = l.spare[:0], nil
	err := l.writeOutLocked(batch)
	if cap(batch) <= maxPending {
		l.spare = batch
	}
	return err
}

func (l *lines) writeOutLocked(rest []byte) error {
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

// isOneLine reports whether a message has no line breaks, except perhaps at its end.
func isOneLine(message []byte) bool {
	message = bytes.TrimSuffix(message, []byte("\n"))
	return bytes.IndexByte(message, '\n') < 0 && bytes.IndexByte(message, '\r') < 0
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
