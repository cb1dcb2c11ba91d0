package sse

import (
	"bytes"
	"strconv"
	"time"
)

// Event is one block of an event stream.
type Event struct {
	// Name is the event's type; empty means "message".
	Name string
	// ID is what the reader would send as Last-Event-ID from now on; see HasID.
	ID    string
	HasID bool // the block has an id, which may be empty
	// Data is nil when the block has no data at all; it may be empty.
	Data []byte
	// Retry is how long the reader should wait before it connects again; 0 when
	// the block does not say.
	Retry time.Duration
}

// KeepAlive is a comment: text that readers pass over.
const KeepAlive = ":\n\n"

// Append appends the event as it travels. Data is written as one line: line
// breaks in it become blanks, which in JSON mean the same. ID and Name must have
// none. Retry is rounded down to milliseconds.
func (e *Event) Append(dst []byte) []byte {
	if e.Name != "" {
		dst = appendField(dst, "event: ", e.Name)
	}
	if e.HasID {
		dst = appendField(dst, "id: ", e.ID)
	}
	if e.Retry > 0 {
		dst = append(dst, "retry: "...)
		dst = append(strconv.AppendInt(dst, e.Retry.Milliseconds(), 10), '\n')
	}
	if e.Data != nil {
		dst = append(dst, "data: "...)
		from := len(dst)
		dst = append(dst, e.Data...)
		keepOnOneLine(dst[from:])
		dst = append(dst, '\n')
	}
	return append(dst, '\n')
}

func appendField(dst []byte, name, value string) []byte {
	return append(append(append(dst, name...), value...), '\n')
}

func keepOnOneLine(text []byte) {
	for _, lineBreak := range []byte("\n\r") {
		for rest := text; ; {
			i := bytes.IndexByte(rest, lineBreak)
			if i < 0 {
				break
			}
			rest[i] = ' '
			rest = rest[i+1:]
		}
	}
}
