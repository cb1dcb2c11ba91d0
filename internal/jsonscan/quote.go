package jsonscan

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// Unquote returns the Go string of a raw JSON string, and "" for anything else.
func Unquote(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	inner := raw[1 : len(raw)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	return string(appendUnescaped(make([]byte, 0, len(inner)), inner))
}

// appendUnescaped appends the text between a string's quotes with its escapes
// resolved.
func appendUnescaped(dst, inner []byte) []byte {
	for {
		n := bytes.IndexByte(inner, '\\')
		if n < 0 || n+1 >= len(inner) {
			return append(dst, inner...)
		}
		dst = append(dst, inner[:n]...)
		inner = inner[n:]
		if inner[1] != 'u' {
			dst = append(dst, unescape[inner[1]])
			inner = inner[2:]
			continue
		}
		r, ok := hex4(inner)
		if !ok {
			return append(dst, inner...)
		}
		inner = inner[6:]
		if utf16.IsSurrogate(r) {
			low, _ := hex4(inner)
			r = utf16.DecodeRune(r, low)
			inner = inner[min(6, len(inner)):]
		}
		dst = utf8.AppendRune(dst, r)
	}
}

var unescape = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// AppendQuote appends s as a JSON string. It escapes what JSON requires and no
// more; bytes that are no UTF-8 become U+FFFD.
func AppendQuote(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		b := s[i]
		if b < utf8.RuneSelf {
			if plain[b] {
				i++
				continue
			}
			dst = append(dst, s[from:i]...)
			dst = appendEscape(dst, b)
			i++
			from = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			dst = append(dst, s[from:i]...)
			dst = append(dst, "\ufffd"...)
			from = i + 1
		}
		i += size
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

func appendEscape(dst []byte, b byte) []byte {
	const hex = "0123456789abcdef"
	switch b {
	case '"', '\\':
		return append(dst, '\\', b)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hex[b>>4], hex[b&15])
}

// plain marks the ASCII bytes that stand for themselves in a JSON string.
var plain = func() (t [utf8.RuneSelf]bool) {
	for b := range t {
		t[b] = b >= ' ' && b != '"' && b != '\\'
	}
	return t
}()
