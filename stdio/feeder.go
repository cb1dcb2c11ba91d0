package stdio

import (
	"bytes"
	"context"
	"os"
	"sync"

	"github.com/bossman-mcp/bossman/jsonrpc/peer"
)

// feeder writes messages to a child's input. Whoever sends writes, as long as the
// pipe takes it at once; what it does not take is left to a goroutine, so that a
// child that does not read holds up neither its callers nor its end.
type feeder struct {
	file *os.File
	try  func(p []byte) (int, error) // writes what fits without waiting
	done sync.WaitGroup

	mu      sync.Mutex
	pending []byte
	spare   []byte        // a buffer that nobody uses
	rest    []byte        // what the pipe did not take, before pending
	busy    bool          // somebody writes, or rest is not empty
	ready   sync.Cond     // there is something for the goroutine to do
	changed chan struct{} // closed at the next change of what is above; nil while nobody waits
	err     error         // no more can be written
}

// maxQueued is how many bytes may wait for a child that is not reading.
const maxQueued = 1 << 20

func newFeeder(file *os.File) *feeder {
	f := &feeder{file: file, try: writeAtOnce(file)}
	f.ready.L = &f.mu
	f.done.Go(f.write) // wait waits for it
	return f
}

func (f *feeder) send(ctx context.Context, message []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.pending)+len(f.rest) > maxQueued && f.err == nil {
		f.waitLocked(ctx.Done())
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if f.err != nil {
		return f.err
	}
	from := len(f.pending)
	f.pending = append(f.pending, message...)
	for i := bytes.IndexByte(f.pending[from:], '\n'); i >= 0; i = bytes.IndexByte(f.pending[from:], '\n') {
		f.pending[from+i] = ' ' // between JSON's tokens a blank is as good
	}
	f.pending = append(f.pending, '\n')
	if f.busy {
		return nil
	}
	f.busy = true
	f.writeOnceLocked()
	return nil
}

// writeOnceLocked writes what the pipe takes at once, and leaves the rest to the
// goroutine. It gives up the lock while it writes.
func (f *feeder) writeOnceLocked() {
	for len(f.pending) > 0 && f.err == nil {
		batch := f.takeLocked()
		f.mu.Unlock()
		n, err := f.try(batch)
		f.mu.Lock()
		switch {
		case err != nil:
			f.endLocked(err)
		case n < len(batch):
			f.rest = batch[n:]
			f.ready.Signal()
			return // busy until that is written
		}
		f.giveBackLocked(batch)
	}
	f.busy = false
}

// write writes what the pipe did not take, and waits for it.
func (f *feeder) write() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		for len(f.rest) == 0 && f.err == nil {
			f.ready.Wait()
		}
		for f.err == nil && (len(f.rest) > 0 || len(f.pending) > 0) {
			batch := f.rest
			if len(batch) == 0 {
				batch = f.takeLocked()
			}
			f.mu.Unlock()
			_, err := f.file.Write(batch)
			f.mu.Lock()
			f.rest = nil
			if err != nil {
				f.endLocked(err)
			}
			f.giveBackLocked(batch)
		}
		if f.err != nil {
			return
		}
		f.busy = false
	}
}

func (f *feeder) takeLocked() []byte {
	batch := f.pending
	f.pending, f.spare = f.spare[:0], nil
	return batch
}

func (f *feeder) giveBackLocked(batch []byte) {
	if cap(batch) <= maxQueued {
		f.spare = batch[:0]
	}
	f.wakeLocked()
}

// waitLocked gives up the lock until something changed or enough is closed.
func (f *feeder) waitLocked(enough <-chan struct{}) {
	if f.changed == nil {
		f.changed = make(chan struct{})
	}
	changed := f.changed
	f.mu.Unlock()
	defer f.mu.Lock()
	select {
	case <-changed:
	case <-enough:
	}
}

func (f *feeder) wakeLocked() {
	if f.changed != nil {
		close(f.changed)
		f.changed = nil
	}
}

// endLocked keeps the first reason and wakes everybody.
func (f *feeder) endLocked(err error) {
	if f.err == nil {
		f.err = err
	}
	f.wakeLocked()
	f.ready.Signal()
}

// close closes the input, also under a write that is stuck.
func (f *feeder) close() {
	f.mu.Lock()
	f.flushLocked()
	f.endLocked(peer.ErrClosed)
	f.mu.Unlock()
	_ = f.file.Close()
}

// flushLocked gives what is pending a moment to leave: a notification that was
// sent just before the end should arrive.
func (f *feeder) flushLocked() {
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	for f.busy && f.err == nil && ctx.Err() == nil {
		f.waitLocked(ctx.Done())
	}
}

func (f *feeder) wait() { f.done.Wait() }
