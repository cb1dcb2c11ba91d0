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
	dst, _ = AppendValid(dst, s)
	return dst
}

// AppendValid is [AppendQuote] that also reports whether s was UTF-8.
func AppendValid(dst []byte, s string) (_ []byte, valid bool) {
	dst, valid = append(dst, '"'), true
	for {
		n := plainText(s)
		dst = append(dst, s[:n]...)
		if s = s[n:]; s == "" {
			return append(dst, '"'), valid
		}
		if s[0] < utf8.RuneSelf {
			dst = appendEscape(dst, s[0])
			s = s[1:]
			continue
		}
		n = foreignText(s)
		if n == 0 {
			dst, s, valid = append(dst, "\ufffd"...), s[1:], false
		}
		dst = append(dst, s[:n]...)
		s = s[n:]
	}
}

// foreignText returns how many bytes at the start of s are UTF-8 beyond ASCII.
func foreignText(s string) int {
	n := 0
	for n < len(s) && s[n] >= utf8.RuneSelf {
		r, size := utf8.DecodeRuneInString(s[n:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return n
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
