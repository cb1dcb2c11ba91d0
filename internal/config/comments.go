// Package config reads what people write by hand: JSON with comments, values
// with variables in them, and names with slips. It reads no file and no
// environment, and runs nothing.
package config

import (
	"bytes"
	"errors"
)

// Plain returns text without what editors allow in JSON: comments, commas before
// a closing bracket, and a byte order mark. Spaces take their place, so that
// offsets in later errors are those of text, which is not changed. It checks
// nothing else.
func Plain(text []byte) ([]byte, error) {
	p := plainer{in: text, out: bytes.Clone(text), comma: -1}
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		p.blank(0, 3)
		p.at = 3
	}
	for p.at < len(p.in) {
		if err := p.step(); err != nil {
			return nil, err
		}
	}
	return p.out, nil
}

type plainer struct {
	in, out []byte
	at      int
	comma   int // the last, if only space and comments followed; else -1
}

func (p *plainer) step() error {
	c := p.in[p.at]
	switch c {
	case ' ', '\t', '\r', '\n':
		p.at++
		return nil
	case '/':
		return p.comment()
	case '"':
		p.skipString()
		p.comma = -1
		return nil
	case ',':
		p.comma = p.at
		p.at++
		return nil
	case '}', ']':
		if p.comma >= 0 {
			p.out[p.comma] = ' '
		}
	}
	p.comma = -1
	p.at++
	return nil
}

// skipString moves behind a string, or to the end if it has none.
func (p *plainer) skipString() {
	for p.at++; p.at < len(p.in); p.at++ {
		switch p.in[p.at] {
		case '\\':
			p.at++
		case '"':
			p.at++
			return
		}
	}
	p.at = len(p.in)
}

func (p *plainer) comment() error {
	rest := p.in[p.at:]
	var end int
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		if end = bytes.IndexByte(rest, '\n'); end < 0 {
			end = len(rest)
		}
	case bytes.HasPrefix(rest, []byte("/*")):
		if end = bytes.Index(rest[2:], []byte("*/")); end < 0 {
			return errors.New("a comment has no end")
		}
		end += len("/**/")
	default:
		p.comma = -1 // no comment: for the parser to refuse
		p.at++
		return nil
	}
	p.blank(p.at, p.at+end)
	p.at += end
	return nil
}

// blank writes spaces, and keeps the lines.
func (p *plainer) blank(from, to int) {
	for i := from; i < to; i++ {
		if p.out[i] != '\n' {
			p.out[i] = ' '
		}
	}
}
