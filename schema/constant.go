package schema

import (
	"bytes"
	"maps"
	"slices"
	"strconv"

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
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner) == text
	}
	return jsonscan.Unquote(raw) == text
}

// appendKey appends a text that is the same for equal values only. The value is
// one that the library decodes to: its numbers are texts with a String method.
func appendKey(dst []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(dst, 'n')
	case bool:
		return strconv.AppendBool(dst, v)
	case string:
		return appendSized(append(dst, 's'), v)
	case []any:
		dst = append(appendInt(append(dst, '['), len(v)), ':')
		for _, item := range v {
			dst = appendKey(dst, item)
		}
		return dst
	case map[string]any:
		dst = append(appendInt(append(dst, '{'), len(v)), ':')
		for _, name := range sortedNames(v) {
			dst = appendKey(appendSized(dst, name), v[name])
		}
		return dst
	case interface{ String() string }:
		return append(newDecimal([]byte(v.String())).appendKey(append(dst, '#')), ';')
	}
	return dst
}

func appendSized(dst []byte, s string) []byte {
	return append(append(appendInt(dst, len(s)), ':'), s...)
}

func appendInt(dst []byte, n int) []byte { return strconv.AppendInt(dst, int64(n), 10) }

func sortedNames(v map[string]any) []string { return slices.Sorted(maps.Keys(v)) }

// unquoted returns what stands between the quotes of a raw JSON string.
func unquoted(raw []byte) []byte { return raw[1:max(1, len(raw)-1)] }
