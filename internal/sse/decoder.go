package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// MaxEvent is the largest event that a [Decoder] takes unless told otherwise:
// 16 MiB.
const MaxEvent = 16 << 20

// MaxRetry is the longest wait that a [Decoder] reports; what asks for more gets
// this.
const MaxRetry = time.Hour

// ErrTooLong marks an event over the cap. Nothing after it can be read.
var ErrTooLong = errors.New("event too long")

// Decoder reads events from a stream, in order, each as soon as its last byte is
// there.
type Decoder struct {
	r   io.Reader
	max int

	buf     []byte // read, not yet taken: buf[from:]
	from    int
	scanned int // buf[from:scanned] holds no line break

	afterCR bool // a line feed now belongs to the last line break
	begun   bool // the first bytes were looked at for a byte order mark
	failed  error
}

// NewDecoder returns a decoder of r that refuses an event of more than maxEvent
// bytes, comments not counted (0: [MaxEvent]).
func NewDecoder(r io.Reader, maxEvent int) *Decoder {
	if maxEvent <= 0 {
		maxEvent = MaxEvent
	}
	return &Decoder{r: r, max: maxEvent}
}

// Next returns the next block that has any field. It returns io.EOF at the end
// of the stream, where a block without its closing blank line is dropped, and an
// error that wraps [ErrTooLong] for an event over the cap. The event's Data
// belongs to the caller.
func (d *Decoder) Next() (Event, error) {
	var e Event
	size, fields := 0, false
	for {
		line, err := d.line(d.max - size)
		if err != nil {
			return Event{}, err
		}
		switch {
		case len(line) == 0 && fields:
			if e.Data != nil {
				e.Data = e.Data[:len(e.Data)-1] // the last line's break
			}
			return e, nil
		case len(line) == 0 || line[0] == ':':
		default:
			size += len(line)
			if e.take(line) {
				fields = true
			}
		}
	}
}

// take reads one field into the event and reports whether it is a known one.
func (e *Event) take(line []byte) bool {
	name, value, _ := bytes.Cut(line, []byte{':'})
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(name) {
	case "data":
		e.Data = append(append(e.Data, value...), '\n')
	case "event":
		e.Name = string(value)
	case "id":
		if bytes.IndexByte(value, 0) >= 0 {
			return false
		}
		e.ID, e.HasID = string(value), true
	case "retry":
		wait, ok := parseRetry(value)
		if !ok {
			return false
		}
		e.Retry = wait
	default:
		return false
	}
	return true
}

// parseRetry reads a number of milliseconds, of digits only.
func parseRetry(value []byte) (time.Duration, bool) {
	if len(value) == 0 {
		return 0, false
	}
	for _, c := range value {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	ms, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil || ms > MaxRetry.Milliseconds() { // digits fail only by being too many
		return MaxRetry, true
	}
	return time.Duration(ms) * time.Millisecond, true
}

// line returns the next line without its break, good until the next call. A
// comment may be any length and is returned as its colon; any other line may
// have room bytes.
func (d *Decoder) line(room int) ([]byte, error) {
	comment := false
	for {
		d.skipBreak()
		rest := d.buf[d.from:]
		if !comment && len(rest) > 0 && rest[0] == ':' {
			comment = true
		}
		if i := bytes.IndexAny(d.buf[d.scanned:], "\r\n"); i >= 0 {
			end := d.scanned + i
			line := d.buf[d.from:end]
			d.afterCR = d.buf[end] == '\r'
			d.from, d.scanned = end+1, end+1
			if comment {
				return []byte{':'}, nil
			}
			if len(line) > room {
				return nil, d.tooLong()
			}
			return line, nil
		}
		switch {
		case comment: // what was read of it is not needed
			d.from = len(d.buf)
		case len(rest) > room:
			return nil, d.tooLong()
		}
		d.scanned = len(d.buf)
		if err := d.fill(); err != nil {
			return nil, err
		}
	}
}

// skipBreak passes over the line feed of a CRLF whose carriage return has ended
// a line already.
func (d *Decoder) skipBreak() {
	if d.afterCR && d.from < len(d.buf) {
		d.afterCR = false
		if d.buf[d.from] == '\n' {
			d.from++
			d.scanned = max(d.scanned, d.from)
		}
	}
}

// tooLong ends the stream: where the next event would begin is not known.
func (d *Decoder) tooLong() error {
	d.buf, d.from, d.scanned = nil, 0, 0
	d.failed = fmt.Errorf("%w: an event may have %d bytes", ErrTooLong, d.max)
	return d.failed
}

// fill reads more. Once reading failed, it fails for ever.
func (d *Decoder) fill() error {
	if d.failed != nil {
		return d.failed
	}
	if d.from > 0 {
		n := copy(d.buf, d.buf[d.from:])
		d.buf, d.scanned, d.from = d.buf[:n], d.scanned-d.from, 0
	}
	if cap(d.buf)-len(d.buf) < 512 {
		d.buf = append(make([]byte, 0, max(4096, 2*cap(d.buf))), d.buf...)
	}
	n, err := d.r.Read(d.buf[len(d.buf):cap(d.buf)])
	d.buf = d.buf[:len(d.buf)+n]
	if err != nil {
		d.failed = err
	}
	if n == 0 && err != nil {
		return err
	}
	return d.dropMark(err)
}

// dropMark takes a byte order mark off the start of the stream.
func (d *Decoder) dropMark(err error) error {
	const mark = "\ufeff"
	if d.begun {
		return nil
	}
	if len(d.buf) < len(mark) && err == nil && bytes.HasPrefix([]byte(mark), d.buf) {
		return nil // it may still become one
	}
	d.begun = true
	if bytes.HasPrefix(d.buf, []byte(mark)) {
		d.from = len(mark)
		d.scanned = max(d.scanned, d.from)
	}
	return nil
}
