package mcptest

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// width is the longest line that layout makes, where strings allow it.
const width = 120

// layout writes a message for people: on one line if it fits, else broken into
// lines of which all but the first are indented.
func layout(text string) string {
	flat := jsontext.Value(text)
	if err := flat.Compact(); err != nil {
		return text // not JSON: as it is
	}
	p := &printer{}
	p.value(flat, 2, 0)
	return p.buf.String()
}

// printer fills lines with JSON.
type printer struct {
	buf bytes.Buffer
	col int
}

func (p *printer) write(text []byte) {
	p.buf.Write(text)
	p.col += len(text)
}

func (p *printer) newline(indent int) {
	p.buf.WriteByte('\n')
	p.buf.Write(bytes.Repeat([]byte{' '}, indent))
	p.col = indent
}

// value writes a compact value. Lines that it begins have the given indent;
// closing is how many brackets will follow on its last line.
func (p *printer) value(flat jsontext.Value, indent, closing int) {
	if p.col+len(flat)+closing <= width {
		p.write(flat)
		return
	}
	switch jsonscan.KindOf(flat) {
	case jsonscan.Object:
		p.items('{', '}', p.members(flat), indent, closing)
	case jsonscan.Array:
		var items []item
		for value := range jsonscan.Elements(flat) {
			items = append(items, item{value: value})
		}
		p.items('[', ']', items, indent, closing)
	default:
		p.write(flat)
	}
}

// item is an element of an array, or a member of an object with its name.
type item struct{ name, value []byte }

// members returns those of an object, names as they were written.
func (p *printer) members(flat jsontext.Value) (items []item) {
	dec := jsontext.NewDecoder(bytes.NewReader(flat), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	_, err := dec.ReadToken()
	for err == nil && dec.PeekKind() == jsontext.KindString {
		var name, value jsontext.Value
		if name, err = dec.ReadValue(); err == nil {
			name = append(name.Clone(), ':')
			value, err = dec.ReadValue()
			items = append(items, item{name, value.Clone()})
		}
	}
	return items // all of them: the text is JSON
}

// items writes a container that does not fit on its line: each item on the line
// of the one before if there is room, else on a new one.
func (p *printer) items(opening, end byte, items []item, indent, closing int) {
	p.write([]byte{opening})
	broken := false // the item before took several lines
	for i, it := range items {
		if i > 0 {
			p.write([]byte{','})
		}
		tail := 1 // the comma, or the brackets
		if i == len(items)-1 {
			tail = closing + 1
		}
		size := len(it.name) + len(it.value) + tail
		switch {
		case broken, len(it.name) == 0 && size > width/3:
			p.newline(indent)
		case p.col+size <= width: // it fits here
		case indent+size <= width, p.col > width*2/3:
			p.newline(indent)
		}
		p.write(it.name)
		before := p.buf.Len()
		p.value(it.value, indent+2, tail)
		broken = bytes.IndexByte(p.buf.Bytes()[before:], '\n') >= 0
	}
	p.write([]byte{end})
}
