package plain

import (
	"reflect"
	"strconv"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// Read sets v, which is addressable, zero, and of the codec's type, from strict
// JSON. It reports false if package json should be asked: it may fail, or have
// its own idea of the value. Then v may be half set.
func (c *Codec) Read(text []byte, v reflect.Value) bool {
	return c != nil && c.read(jsonscan.Trim(text), v, reading{})
}

// ReadExact is Read that is sure, besides, that the text fits the schema which
// package schema infers from the type, and that the schema has no default for what
// is missing. It reports false as well if the schema should be asked. Of a string in
// the text that is known the end need not be looked for; it may be nil.
func (c *Codec) ReadExact(text []byte, known jsonscan.Known, v reflect.Value) bool {
	return c.Exact() && c.read(jsonscan.Trim(text), v, reading{known, true})
}

// reading is how text is read.
type reading struct {
	known jsonscan.Known
	exact bool // see ReadExact
}

func (c *Codec) read(text []byte, v reflect.Value, how reading) bool {
	kind := jsonscan.KindOf(text)
	switch c.kind {
	case reflect.Bool:
		v.SetBool(kind == jsonscan.Bool && text[0] == 't')
		return kind == jsonscan.Bool
	case reflect.String:
		if kind != jsonscan.String {
			return false
		}
		v.SetString(jsonscan.Unquote(text))
		return true
	case reflect.Pointer:
		if kind == jsonscan.Null {
			return !how.exact
		}
		v.Set(reflect.New(c.elem.typ))
		return c.elem.read(text, v.Elem(), how)
	case reflect.Slice:
		return kind == jsonscan.Array && c.readSlice(text, v, how)
	case reflect.Struct:
		return kind == jsonscan.Object && c.readStruct(text, v, how)
	}
	return kind == jsonscan.Number && c.readNumber(text, v)
}

func (c *Codec) readNumber(text []byte, v reflect.Value) bool {
	switch c.kind {
	case reflect.Float64:
		f, err := strconv.ParseFloat(string(text), 64)
		v.SetFloat(f)
		return err == nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := strconv.ParseUint(string(text), 10, c.typ.Bits())
		v.SetUint(n)
		return err == nil
	}
	n, err := strconv.ParseInt(string(text), 10, c.typ.Bits())
	v.SetInt(n)
	return err == nil
}

func (c *Codec) readSlice(text []byte, v reflect.Value, how reading) bool {
	v.Set(reflect.MakeSlice(c.typ, 0, 0))
	n := 0
	for item := range how.known.Elements(text) {
		if n == v.Cap() {
			v.Grow(max(4, n))
		}
		v.SetLen(n + 1)
		if !c.elem.read(item, v.Index(n), how) {
			return false
		}
		n++
	}
	return true
}

func (c *Codec) readStruct(text []byte, v reflect.Value, how reading) bool {
	next, seen := 0, uint64(0)
	for name, value := range how.known.Members(text) {
		i := c.find(name, next)
		if i < 0 {
			if how.exact {
				return false
			}
			continue // package json passes over it too
		}
		f := &c.fields[i]
		if !f.codec.read(value, v.Field(f.index), how) {
			return false
		}
		if how.exact && seen&(1<<i) != 0 { // only in text that was not checked
			return false
		}
		seen |= 1 << i
		next = i + 1
	}
	return !how.exact || seen&c.required == c.required
}

// find returns which of the fields has the name, -1 if none. Members mostly come
// in the order of the fields, so there is one to try first.
func (c *Codec) find(name []byte, first int) int {
	if first < len(c.fields) && c.fields[first].name == string(name) {
		return first
	}
	for i := range c.fields {
		if c.fields[i].name == string(name) {
			return i
		}
	}
	return -1
}
