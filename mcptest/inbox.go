package mcptest

import (
	"errors"
	"slices"
	"sync"
	"time"
)

// inbox holds the lines that came and that nobody took yet.
type inbox struct {
	mu      sync.Mutex
	lines   []string
	ended   bool          // no more will come
	changed chan struct{} // closed and replaced at every change
}

var (
	errEnded   = errors.New("the connection has ended")
	errTimeout = errors.New("nothing came in time")
)

func newInbox() *inbox { return &inbox{changed: make(chan struct{})} }

func (b *inbox) add(line string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, line)
	b.changeLocked()
}

func (b *inbox) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	b.changeLocked()
}

func (b *inbox) changeLocked() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// take removes and returns the first line that is wanted, and waits for it as
// long as wait. Nil wants any line.
func (b *inbox) take(wait time.Duration, wanted func(line string) bool) (string, error) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		b.mu.Lock()
		for i, line := range b.lines {
			if wanted == nil || wanted(line) {
				b.lines = slices.Delete(b.lines, i, i+1)
				b.mu.Unlock()
				return line, nil
			}
		}
		ended, changed := b.ended, b.changed
		b.mu.Unlock()
		if ended {
			return "", errEnded
		}
		select {
		case <-changed:
		case <-timer.C:
			return "", errTimeout
		}
	}
}

// unread returns what nobody took yet.
func (b *inbox) unread() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.lines)
}
