package stdio

import (
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// flushTime is how long the last messages to a child may take.
const flushTime = 100 * time.Millisecond

// tail keeps the end of what a child writes on standard error.
type tail struct {
	also  io.Writer     // gets all of it; nil: nobody
	whole chan struct{} // closed when there will be no more

	mu  sync.Mutex
	end []byte
}

// maxTail is how much of it is kept, in bytes.
const maxTail = 4 << 10

// read takes everything until the end of r.
func (t *tail) read(r io.Reader) {
	defer close(t.whole)
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		t.add(buf[:n])
		if err != nil {
			return
		}
	}
}

func (t *tail) add(p []byte) {
	if t.also != nil && len(p) > 0 {
		if _, err := t.also.Write(p); err != nil {
			t.also = nil // whoever wanted it is gone
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(p) >= maxTail {
		t.end = append(t.end[:0], p[len(p)-maxTail:]...)
		return
	}
	if over := len(t.end) + len(p) - maxTail; over > 0 {
		t.end = append(t.end[:0], t.end[over:]...)
	}
	t.end = append(t.end, p...)
}

// text returns the tail as whole lines where it can.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := string(t.end)
	if len(text) == maxTail {
		if _, rest, ok := strings.Cut(text, "\n"); ok {
			text = rest
		}
	}
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\ufffd")
	}
	return strings.TrimSpace(text)
}
