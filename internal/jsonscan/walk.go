package jsonscan

import (
	"bytes"
	"iter"
)

// Kind tells the six kinds of JSON values apart.
type Kind byte

// The kinds, and Invalid for text that starts like none of them.
const (
	Invalid Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

// String returns the kind's name in JSON Schema's words.
func (k Kind) String() string {
	return [...]string{"invalid", "null", "boolean", "number", "string", "array", "object"}[k]
}

// KindOf tells the kind of a raw value by its first byte.
func KindOf(raw []byte) Kind {
	if len(raw) == 0 {
		return Invalid
	}
	switch raw[0] {
	case '{':
		return Object
	case '[':
		return Array
	case '"':
		return String
	case 't', 'f':
		return Bool
	case 'n':
		return Null
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return Number
	}
	return Invalid
}

// Trim returns raw without the white space around it.
func Trim(raw []byte) []byte {
	for len(raw) > 0 && isSpace(raw[0]) {
		raw = raw[1:]
	}
	for len(raw) > 0 && isSpace(raw[len(raw)-1]) {
		raw = raw[:len(raw)-1]
	}
	return raw
}

// Members yields the name, unescaped, and the raw value of each member of an
// object, in order. It yields nothing when obj is no object. Both slices belong
// to obj, except for names that were written with escapes; appending to them
// copies.
func Members(obj []byte) iter.Seq2[[]byte, []byte] { return Known(nil).Members(obj) }

// Known is a string in a text, raw, that was found before. Its methods step over it
// without a look, which is worth much if it is long.
type Known []byte

// Members is [Members].
func (k Known) Members(obj []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		i := open(obj, '{')
		for i < len(obj) && obj[i] == '"' {
			end := k.stringEnd(obj, i)
			last := max(i+1, end-1)
			name := obj[i+1 : last : last]
			if bytes.IndexByte(name, '\\') >= 0 {
				name = appendUnescaped(nil, name)
			}
			i = skipSpace(obj, end)
			i = skipSpace(obj, i+1) // the colon
			end = k.valueEnd(obj, i)
			if end <= i || !yield(name, obj[i:end:end]) {
				return
			}
			i = skipSpace(obj, end)
			i = skipSpace(obj, i+1) // the comma, or the end
		}
	}
}

// Elements yields the raw value of each element of an array, in order, and
// nothing when arr is no array. The slices belong to arr; appending to them
// copies.
func Elements(arr []byte) iter.Seq[[]byte] { return Known(nil).Elements(arr) }

// Elements is [Elements].
func (k Known) Elements(arr []byte) iter.Seq[[]byte] {
	return func(yield func(value []byte) bool) {
		i := open(arr, '[')
		for i < len(arr) && arr[i] != ']' {
			end := k.valueEnd(arr, i)
			if end <= i || !yield(arr[i:end:end]) {
				return
			}
			i = skipSpace(arr, end)
			i = skipSpace(arr, i+1)
		}
	}
}

// Get returns the raw value of the named member of an object, nil when it has
// none.
func Get(obj []byte, name string) []byte {
	for n, value := range Members(obj) {
		if string(n) == name {
			return value
		}
	}
	return nil
}

// open returns where the first item of a container stands, or len(data).
func open(data []byte, bracket byte) int {
	i := skipSpace(data, 0)
	if i >= len(data) || data[i] != bracket {
		return len(data)
	}
	return skipSpace(data, i+1)
}

func skipSpace(data []byte, i int) int {
	for i < len(data) && isSpace(data[i]) {
		i++
	}
	return min(i, len(data))
}

// valueEnd returns where the value that starts at i ends.
func (k Known) valueEnd(data []byte, i int) int {
	if i >= len(data) {
		return len(data)
	}
	switch data[i] {
	case '"':
		return k.stringEnd(data, i)
	case '{', '[':
		return k.containerEnd(data, i)
	}
	for i < len(data) {
		switch data[i] {
		case ',', ']', '}', ' ', '\n', '\r', '\t':
			return i
		}
		i++
	}
	return i
}

func (k Known) containerEnd(data []byte, i int) int {
	depth := 0
	for i < len(data) {
		switch data[i] {
		case '"':
			i = k.stringEnd(data, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return i
}

// stringEnd returns where the string that starts at i ends, after its quote.
func (k Known) stringEnd(data []byte, i int) int {
	if len(k) > 0 && &data[i] == &k[0] {
		return min(i+len(k), len(data))
	}
	i++
	for {
		n := bytes.IndexByte(data[i:], '"')
		if n < 0 {
			return len(data)
		}
		end := i + n
		slashes := 0
		for end-1-slashes >= i && data[end-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return end + 1
		}
		i = end + 1
	}
}
