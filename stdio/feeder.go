package stdio

import (
	"bytes"
	"context"
	"os"
	"sync"

	"github.com/bossman-mcp/bossman/jsonrpc/peer"
)

// feeder writes messages to a child's input from a goroutine of its own, so that
// a child that does not read holds up neither its callers nor its end.
type feeder struct {
	file *os.File
	done sync.WaitGroup

	mu      sync.Mutex
	pending []byte
	room    chan struct{} // closed and replaced when pending was taken
	ready   sync.Cond     // there is something to do
	err     error         // no more can be written
}

// maxQueued is how many bytes may wait for a child that is not reading.
const maxQueued = 1 << 20

func newFeeder(file *os.File) *feeder {
	f := &feeder{file: file, room: make(chan struct{})}
	f.ready.L = &f.mu
	f.done.Go(f.write) // wait waits for it
	return f
}

func (f *feeder) send(ctx context.Context, message []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.pending) > maxQueued && f.err == nil {
		room := f.room
		f.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
		}
		f.mu.Lock()
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
	f.ready.Signal()
	return nil
}

func (f *feeder) write() {
	var spare []byte
	for {
		f.mu.Lock()
		for len(f.pending) == 0 && f.err == nil {
			f.ready.Wait()
		}
		if f.err != nil {
			f.mu.Unlock()
			return
		}
		batch := f.pending
		f.pending = spare[:0]
		close(f.room)
		f.room = make(chan struct{})
		f.mu.Unlock()
		if _, err := f.file.Write(batch); err != nil {
			f.end(err)
			return
		}
		spare = batch
		if cap(spare) > maxQueued {
			spare = nil
		}
	}
}

// end keeps the first reason and wakes everybody.
func (f *feeder) end(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
		close(f.room)
		f.room = make(chan struct{})
	}
	f.ready.Signal()
}

// close closes the input, also under a write that is stuck.
func (f *feeder) close() {
	f.flush()
	f.end(peer.ErrClosed)
	_ = f.file.Close()
}

// flush gives what is pending a moment to leave: a notification that was sent
// just before the end should arrive.
func (f *feeder) flush() {
	f.mu.Lock()
	room, waiting := f.room, len(f.pending) > 0 && f.err == nil
	f.mu.Unlock()
	if waiting {
		ctx, cancel := context.WithTimeout(context.Background(), flushTime)
		defer cancel()
		select {
		case <-room:
		case <-ctx.Done():
		}
	}
}

func (f *feeder) wait() { f.done.Wait() }
