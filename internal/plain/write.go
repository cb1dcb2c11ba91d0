package plain

import (
	"math"
	"reflect"
	"strconv"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// Append appends the JSON of v, which is of the codec's type. It reports false if
// package json should be asked, because it may fail.
func (c *Codec) Append(dst []byte, v reflect.Value) ([]byte, bool) {
	if c == nil {
		return dst, false
	}
	switch c.kind {
	case reflect.Bool:
		return strconv.AppendBool(dst, v.Bool()), true
	case reflect.String:
		return jsonscan.AppendValid(dst, v.String())
	case reflect.Float64:
		return AppendFloat(dst, v.Float())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.AppendUint(dst, v.Uint(), 10), true
	case reflect.Pointer:
		if v.IsNil() {
			return append(dst, "null"...), true
		}
		return c.elem.Append(dst, v.Elem())
	case reflect.Slice:
		return c.appendSlice(dst, v)
	case reflect.Struct:
		return c.appendStruct(dst, v)
	}
	return strconv.AppendInt(dst, v.Int(), 10), true
}

func (c *Codec) appendSlice(dst []byte, v reflect.Value) (_ []byte, ok bool) {
	dst = append(dst, '[')
	for i := range v.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, ok = c.elem.Append(dst, v.Index(i)); !ok {
			return dst, false
		}
	}
	return append(dst, ']'), true
}

func (c *Codec) appendStruct(dst []byte, v reflect.Value) (_ []byte, ok bool) {
	dst = append(dst, '{')
	from := len(dst)
	for i := range c.fields {
		f := &c.fields[i]
		value := v.Field(f.index)
		if f.omitZero && value.IsZero() {
			continue
		}
		if len(dst) > from {
			dst = append(dst, ',')
		}
		if dst, ok = f.codec.Append(append(dst, f.key...), value); !ok {
			return dst, false
		}
	}
	return append(dst, '}'), true
}

// AppendFloat writes a number as ECMAScript does, which RFC 8785 asks for: the
// shortest digits that mean it, with an exponent only if it is very large or very
// small. It reports false for what is no number of JSON's.
func AppendFloat(dst []byte, f float64) ([]byte, bool) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return dst, false
	}
	if whole := int64(f); -1e15 < f && f < 1e15 && float64(whole) == f && (whole != 0 || !math.Signbit(f)) {
		return strconv.AppendInt(dst, whole, 10), true
	}
	size := math.Abs(f)
	if n := int64(f); float64(n) == f && 0 < size && size < 1<<53 { // the usual case, and the digits are the same
		return strconv.AppendInt(dst, n, 10), true
	}
	if size == 0 || 1e-6 <= size && size < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64), true
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	if at := len(dst) - 2; dst[at] == '0' && dst[at-1] == '-' { // of an exponent such as e-07
		dst = append(dst[:at], dst[at+1])
	}
	return dst, true
}
