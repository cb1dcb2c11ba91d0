package load

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/go-json-experiment/json"
)

// Pipe is a server at the other end of two pipes, its standard input and output.
type Pipe struct {
	era Era
	in  *os.File // the server's input
	out *os.File
	buf []byte
	pos int // where the next message in buf begins
	end int // up to where buf is filled
}

// inlineBytes is how much may be out for requests to be written where answers are
// read: less than fits into a pipe, so that the write cannot wait for the server.
const inlineBytes = 48 << 10

// OpenPipe greets a server as its era wants. The caller closes the files.
func OpenPipe(in, out *os.File, era Era) (*Pipe, error) {
	p := &Pipe{era: era, in: in, out: out, buf: make([]byte, 256<<10)}
	if era != Legacy {
		return p, nil
	}
	greeting := append(Legacy.body(1, "initialize", initializeParams[1:len(initializeParams)-1], ""), '\n')
	if _, err := in.Write(greeting); err != nil {
		return nil, fmt.Errorf("greet the server: %w", err)
	}
	line, err := p.line(20 * time.Second)
	if err != nil {
		return nil, fmt.Errorf("greet the server: %w", err)
	}
	if err := checkGreeting(line); err != nil {
		return nil, err
	}
	_, err = in.Write([]byte(initialized + "\n"))
	return p, err
}

func checkGreeting(line []byte) error {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		return fmt.Errorf("read the server's greeting %s: %w", abridged(line), err)
	}
	if string(m.ID) != "1" || !bytes.Contains(m.Result, []byte(`"`+legacyDate+`"`)) {
		return fmt.Errorf("the server greets with %s, want a result with %s", abridged(line), legacyDate)
	}
	return nil
}

// next returns the next message that has already arrived, or nil.
func (p *Pipe) next() []byte {
	i := bytes.IndexByte(p.buf[p.pos:p.end], '\n')
	if i < 0 {
		return nil
	}
	line := p.buf[p.pos : p.pos+i]
	p.pos += i + 1
	return line
}

// fill reads more, at least a byte.
func (p *Pipe) fill(deadline time.Time) error {
	if p.pos > 0 {
		p.end = copy(p.buf, p.buf[p.pos:p.end])
		p.pos = 0
	}
	if p.end == len(p.buf) {
		p.buf = append(p.buf, make([]byte, len(p.buf))...)
	}
	if !deadline.IsZero() {
		if err := p.out.SetReadDeadline(deadline); err != nil {
			return err
		}
	}
	n, err := p.out.Read(p.buf[p.end:])
	p.end += n
	if n > 0 {
		return nil
	}
	return err
}

func (p *Pipe) line(patience time.Duration) ([]byte, error) {
	for {
		if line := p.next(); line != nil {
			return line, nil
		}
		if err := p.fill(time.Now().Add(patience)); err != nil {
			return nil, err
		}
	}
}

// Run sends work for as long as o says and waits for every answer.
func (p *Pipe) Run(w *Work, o Options) (Result, error) {
	o = o.withDefaults()
	r := &pipeRun{pipe: p, judge: newJudge(w), o: o, requests: w.requests(p.era), out: make(map[int]flight)}
	for i, body := range r.requests {
		r.requests[i] = append(body, '\n')
	}
	if o.InFlight*len(r.requests[0]) <= inlineBytes {
		r.write = func(b []byte) error { _, err := p.in.Write(b); return err }
	} else {
		sink := newSink(p.in)
		defer sink.stop()
		r.write = sink.write
	}
	return r.run()
}

// Finish closes the server's input and reads to the end of its output. That it
// says more than notifications is an error: a request was answered twice.
func (p *Pipe) Finish() error {
	if err := p.in.Close(); err != nil {
		return err
	}
	for {
		line, err := p.line(10 * time.Second)
		if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("wait for the server's end: %w", err)
		}
		if bytes.Contains(line, []byte(`"id"`)) {
			return fmt.Errorf("%w: %s", errNotOut, abridged(line))
		}
	}
}

// Once sends one request and checks its answer.
func (p *Pipe) Once(w *Work) error {
	request := append(w.requests(p.era)[0], '\n')
	if _, err := p.in.Write(request); err != nil {
		return fmt.Errorf("send a request: %w", err)
	}
	for {
		line, err := p.line(20 * time.Second)
		if err != nil {
			return fmt.Errorf("wait for the answer: %w", err)
		}
		v, err := newJudge(w).check(line, func(id int) int { return id - firstID })
		if err != nil || !v.other && !v.event {
			return err
		}
	}
}
