package schema

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// constant is a value of the keywords const and enum, ready for comparison as
// JSON Schema compares: numbers by value, objects without order.
type constant struct {
	raw   []byte
	kind  jsonscan.Kind
	text  string // of a string
	inner *inner // of an array or an object
}

type inner struct {
	items   []constant
	members map[string]constant
}

func newConstant(raw []byte) constant {
	c := constant{raw: raw, kind: jsonscan.KindOf(raw)}
	switch c.kind {
	case jsonscan.String:
		c.text = jsonscan.Unquote(raw)
	case jsonscan.Array:
		c.inner = &inner{items: newConstants(raw)}
	case jsonscan.Object:
		c.inner = &inner{members: make(map[string]constant)}
		for name, value := range jsonscan.Members(raw) {
			c.inner.members[string(name)] = newConstant(value)
		}
	}
	return c
}

// newConstants returns the elements of an array. It is never nil.
func newConstants(array []byte) []constant {
	n := 0
	for range jsonscan.Elements(array) {
		n++
	}
	list := make([]constant, 0, n)
	for item := range jsonscan.Elements(array) {
		list = append(list, newConstant(item))
	}
	return list
}

// equals reports whether value is the constant. It allocates only for strings
// with escapes.
func (c *constant) equals(value []byte) bool {
	if jsonscan.KindOf(value) != c.kind {
		return false
	}
	switch c.kind {
	case jsonscan.Bool:
		return value[0] == c.raw[0]
	case jsonscan.Number:
		return bytes.Equal(value, c.raw) || newDecimal(value).cmp(newDecimal(c.raw)) == 0
	case jsonscan.String:
		return equalsText(value, c.text)
	case jsonscan.Array:
		return c.equalsArray(value)
	case jsonscan.Object:
		return c.equalsObject(value)
	}
	return true // null
}

func (c *constant) equalsArray(value []byte) bool {
	i := 0
	for item := range jsonscan.Elements(value) {
		if i == len(c.inner.items) || !c.inner.items[i].equals(item) {
			return false
		}
		i++
	}
	return i == len(c.inner.items)
}

func (c *constant) equalsObject(value []byte) bool {
	n := 0
	for name, member := range jsonscan.Members(value) {
		want, ok := c.inner.members[string(name)]
		if !ok || !want.equals(member) {
			return false
		}
		n++
	}
	return n == len(c.inner.members)
}

// equalsText reports whether a raw JSON string spells text.
func equalsText(raw []byte, text string) bool {
	inner := unquoted(raw)
	if len(inner) < len(text) || len(inner) > 6*len(text) { // an escape takes up to six bytes for one
		return false
	}
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner) == text
	}
	return jsonscan.Unquote(raw) == text
}

// appendKey appends a text that is the same for equal values only.
func appendKey(dst, value []byte) []byte {
	switch jsonscan.KindOf(value) {
	case jsonscan.Bool, jsonscan.Null:
		return append(dst, value[0])
	case jsonscan.Number:
		return append(newDecimal(value).appendKey(append(dst, '#')), ';')
	case jsonscan.String:
		return appendSized(append(dst, 's'), jsonscan.Unquote(value))
	case jsonscan.Array:
		dst = append(dst, '[')
		for item := range jsonscan.Elements(value) {
			dst = appendKey(dst, item)
		}
		return append(dst, ']')
	}
	var members []textMember
	for name, member := range jsonscan.Members(value) {
		members = append(members, textMember{string(name), member})
	}
	slices.SortFunc(members, func(a, b textMember) int { return strings.Compare(a.name, b.name) })
	dst = append(dst, '{')
	for _, m := range members {
		dst = appendKey(appendSized(dst, m.name), m.value)
	}
	return append(dst, '}')
}

func appendSized(dst []byte, s string) []byte {
	return append(append(appendInt(dst, len(s)), ':'), s...)
}

func appendInt(dst []byte, n int) []byte { return strconv.AppendInt(dst, int64(n), 10) }

// unquoted returns what stands between the quotes of a raw JSON string.
func unquoted(raw []byte) []byte { return raw[1:max(1, len(raw)-1)] }
