package schema

import (
	"bytes"
	"strconv"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// shape is an inferred schema before it is text. Numbers are kept as they will
// be written; empty means absent.
type shape struct {
	verbatim []byte // of a Describer; only the meaning counts beside it
	ref      string
	types    typeSet
	meaning
	form
	limits
	parts
	definitions []member
}

type meaning struct {
	title, description string
	enum               []string // JSON texts
	fallback           string   // the default, as JSON text
	header             string
}

// form is of strings.
type form struct {
	format, contentEncoding, pattern string
	minLen, maxLen                   string
}

type limits struct {
	min, max           string
	minItems, maxItems string
}

type parts struct {
	items      *shape
	properties []member
	required   []string
	closed     bool
	additional *shape
}

// member is a property or a definition.
type member struct {
	name  string
	shape *shape
}

// append writes the schema: first what a value is, then what it means, then what
// limits it, then its parts.
func (s *shape) append(dst []byte) []byte {
	o := objectWriter{append(dst, '{')}
	if s.verbatim != nil {
		return s.appendVerbatim(dst)
	}
	o.text("$ref", s.ref)
	s.appendTypes(&o)
	o.text("title", s.title)
	o.text("description", s.description)
	if s.enum != nil {
		o.name("enum")
		o.strings(s.enum, func(dst []byte, raw string) []byte { return append(dst, raw...) })
	}
	o.raw("default", s.fallback)
	o.text("format", s.format)
	o.text("contentEncoding", s.contentEncoding)
	o.text("pattern", s.pattern)
	o.raw("minLength", s.minLen)
	o.raw("maxLength", s.maxLen)
	o.raw("minimum", s.min)
	o.raw("maximum", s.max)
	o.raw("minItems", s.minItems)
	o.raw("maxItems", s.maxItems)
	o.text("x-mcp-header", s.header)
	if s.items != nil {
		o.name("items")
		o.out = s.items.append(o.out)
	}
	if len(s.properties) > 0 {
		o.members("properties", s.properties)
		o.name("required")
		o.strings(s.required, jsonscan.AppendQuote)
	}
	if s.closed {
		o.raw("additionalProperties", "false")
	} else if s.additional != nil {
		o.name("additionalProperties")
		o.out = s.additional.append(o.out)
	}
	if len(s.definitions) > 0 {
		o.members("$defs", s.definitions)
	}
	return append(o.out, '}')
}

func (s *shape) appendTypes(o *objectWriter) {
	switch names := s.types.names(); len(names) {
	case 0:
	case 1:
		o.text("type", names[0])
	default:
		if names[0] == "null" { // reads better last
			names = append(names[1:], "null")
		}
		o.name("type")
		o.strings(names, jsonscan.AppendQuote)
	}
}

// appendVerbatim writes a type's own schema, with a description of the field in
// front if there is one and the schema has none.
func (s *shape) appendVerbatim(dst []byte) []byte {
	if jsonscan.KindOf(s.verbatim) != jsonscan.Object {
		return append(dst, s.verbatim...)
	}
	o := objectWriter{append(dst, '{')}
	for _, extra := range []struct{ word, text string }{{"title", s.title}, {"description", s.description}, {"x-mcp-header", s.header}} {
		if jsonscan.Get(s.verbatim, extra.word) == nil {
			o.text(extra.word, extra.text)
		}
	}
	rest := bytes.TrimLeft(s.verbatim[1:], " \t\r\n")
	if len(o.out) > len(dst)+1 && rest[0] != '}' {
		o.out = append(o.out, ',')
	}
	return append(o.out, rest...)
}

// objectWriter writes the members of one object.
type objectWriter struct {
	out []byte
}

func (o *objectWriter) name(name string) {
	if o.out[len(o.out)-1] != '{' {
		o.out = append(o.out, ',')
	}
	o.out = append(jsonscan.AppendQuote(o.out, name), ':')
}

func (o *objectWriter) text(name, value string) {
	if value != "" {
		o.name(name)
		o.out = jsonscan.AppendQuote(o.out, value)
	}
}

func (o *objectWriter) raw(name, value string) {
	if value != "" {
		o.name(name)
		o.out = append(o.out, value...)
	}
}

func (o *objectWriter) strings(list []string, write func([]byte, string) []byte) {
	o.out = append(o.out, '[')
	for i, s := range list {
		if i > 0 {
			o.out = append(o.out, ',')
		}
		o.out = write(o.out, s)
	}
	o.out = append(o.out, ']')
}

func (o *objectWriter) members(name string, list []member) {
	o.name(name)
	inner := objectWriter{append(o.out, '{')}
	for _, m := range list {
		inner.name(m.name)
		inner.out = m.shape.append(inner.out)
	}
	o.out = append(inner.out, '}')
}

// hasHeader reports whether a member here or below has a header.
func (s *shape) hasHeader() bool {
	if s.header != "" {
		return true
	}
	for _, m := range s.properties {
		if m.shape.hasHeader() {
			return true
		}
	}
	return false
}

// within reports whether a number lies within the bounds of the shape.
func (s *shape) within(number string) bool {
	d := newDecimal([]byte(number))
	return (s.min == "" || d.cmp(newDecimal([]byte(s.min))) >= 0) && (s.max == "" || d.cmp(newDecimal([]byte(s.max))) <= 0)
}

// refers reports whether the shape cannot stand without its surroundings.
func (s *shape) refers() bool {
	if s.ref != "" || s.items != nil && s.items.refers() || s.additional != nil && s.additional.refers() {
		return true
	}
	for _, m := range s.properties {
		if m.shape.refers() {
			return true
		}
	}
	return false
}

// isNumber reports whether text is a JSON number.
func isNumber(text string) bool {
	return jsonscan.Check([]byte(text), 1) == nil && jsonscan.KindOf([]byte(text)) == jsonscan.Number
}

// isCount reports whether text is a whole number from 0 up, in plain digits.
func isCount(text string) bool {
	n, err := strconv.ParseUint(text, 10, 53)
	return err == nil && strconv.FormatUint(n, 10) == text
}
