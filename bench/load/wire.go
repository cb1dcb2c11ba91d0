package load

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// wire is one HTTP/1.1 connection, on which requests leave as prepared bytes.
type wire struct {
	conn     net.Conn
	r        *bufio.Reader
	body     []byte // of the response read last
	deadline time.Time
}

// response is good until the next exchange on its wire.
type response struct {
	status  int
	session string
	events  bool // the body is an event stream
	body    []byte
}

func dial(addr string) (*wire, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &wire{conn: conn, r: bufio.NewReaderSize(conn, 16<<10)}, nil
}

// post returns the bytes of a POST. Headers are whole lines without their ends.
func post(addr string, body []byte, headers ...string) []byte {
	b := fmt.Appendf(nil, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"+
		"Accept: application/json, text/event-stream\r\nContent-Length: %d\r\n", addr, len(body))
	for _, h := range headers {
		b = append(append(b, h...), "\r\n"...)
	}
	return append(append(b, "\r\n"...), body...)
}

// exchange sends a request and reads the whole response.
func (w *wire) exchange(request []byte, patience time.Duration) (response, error) {
	if err := w.send(request, patience); err != nil {
		return response{}, err
	}
	r, err := w.readHead()
	if err != nil {
		return response{}, err
	}
	w.body = w.body[:0]
	switch {
	case r.chunked:
		for done := false; !done && err == nil; {
			done, err = w.readChunk()
		}
	case r.length >= 0:
		err = w.readBody(r.length)
	default:
		err = errors.New("a response of unknown length")
	}
	if err != nil {
		return response{}, fmt.Errorf("read response: %w", err)
	}
	if n := w.r.Buffered(); n > 0 {
		return response{}, fmt.Errorf("%d bytes follow the response", n)
	}
	r.body = w.body
	return r.response, nil
}

// send writes a request. The deadline is set now and then only, as it costs.
func (w *wire) send(request []byte, patience time.Duration) error {
	if now := time.Now(); w.deadline.Sub(now) < patience/2 {
		w.deadline = now.Add(patience)
		if err := w.conn.SetDeadline(w.deadline); err != nil {
			return err
		}
	}
	if _, err := w.conn.Write(request); err != nil {
		return fmt.Errorf("send request: %w", err)
	}
	return nil
}

// opening is a response up to its body.
type opening struct {
	response
	length  int // negative: not said
	chunked bool
}

func (w *wire) readHead() (opening, error) {
	o := opening{length: -1}
	for first := true; ; first = false {
		line, err := w.r.ReadSlice('\n')
		if err != nil {
			return o, fmt.Errorf("read response: %w", err)
		}
		line = bytes.TrimRight(line, "\r\n")
		if first {
			if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
				return o, fmt.Errorf("%q begins no response", line)
			}
			o.status, err = strconv.Atoi(string(line[9:12]))
			if err != nil {
				return o, fmt.Errorf("read status: %w", err)
			}
			if o.status == 202 || o.status == 204 {
				o.length = 0
			}
			continue
		}
		if len(line) == 0 {
			return o, nil
		}
		if err := o.header(line); err != nil {
			return o, err
		}
	}
}

// header takes note of the few headers that matter.
func (o *opening) header(line []byte) (err error) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimSpace(value)
	switch {
	case is(name, "content-length"):
		o.length, err = strconv.Atoi(string(value))
	case is(name, "transfer-encoding"):
		o.chunked = is(value, "chunked")
	case is(name, "content-type"):
		o.events = bytes.HasPrefix(value, []byte("text/event-stream"))
	case is(name, "mcp-session-id"):
		o.session = string(value)
	}
	return err
}

// is compares without regard to case. Lower is in lower case.
func is(name []byte, lower string) bool {
	if len(name) != len(lower) {
		return false
	}
	for i, c := range name {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// readBody appends n bytes to the body.
func (w *wire) readBody(n int) error {
	at := len(w.body)
	if cap(w.body)-at < n {
		w.body = append(make([]byte, 0, 2*(at+n)), w.body...)
	}
	w.body = w.body[:at+n]
	_, err := io.ReadFull(w.r, w.body[at:])
	return err
}

// readChunk appends a chunk to the body; the empty one is the last.
func (w *wire) readChunk() (last bool, err error) {
	line, err := w.r.ReadSlice('\n')
	if err != nil {
		return false, err
	}
	n, err := strconv.ParseInt(string(bytes.TrimRight(line, "\r\n")), 16, 32)
	if err != nil {
		return false, err
	}
	if err := w.readBody(int(n)); err != nil {
		return false, err
	}
	end, err := w.r.ReadSlice('\n')
	if err == nil && string(end) != "\r\n" {
		err = fmt.Errorf("a chunk ends with %q", end)
	}
	return n == 0, err
}

// messages calls f for each message in the response.
func (r response) messages(f func(msg []byte) error) error {
	if !r.events {
		return f(bytes.TrimSpace(r.body))
	}
	rest := r.body
	for len(rest) > 0 {
		line, after, _ := bytes.Cut(rest, []byte("\n"))
		rest = after
		data, ok := bytes.CutPrefix(bytes.TrimRight(line, "\r"), []byte("data:"))
		data = bytes.TrimPrefix(data, []byte(" "))
		if !ok || len(data) == 0 {
			continue
		}
		if err := f(data); err != nil {
			return err
		}
	}
	return nil
}
