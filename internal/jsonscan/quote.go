package jsonscan

import (
	"bytes"
	"math/bits"
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

// plainText returns how many bytes at the start of s stand for themselves in a
// JSON string: ASCII that needs no escape. It takes them eight at a time.
func plainText(s string) int {
	n := 0
	for ; len(s)-n >= 8; n += 8 {
		b := s[n : n+8]
		if at := firstSpecial(uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56); at < 8 {
			return n + at
		}
	}
	for n < len(s) && isPlain(s[n]) {
		n++
	}
	return n
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

// firstSpecial returns which of eight bytes, the first being the lowest, is the
// first that needs a second look in a JSON string: a quote, a backslash, a
// control character, or no ASCII. It returns 8 if none does. A byte that borrows
// from its neighbours spoils those above it only, so the lowest mark is true.
func firstSpecial(x uint64) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote := x ^ ones*'"'
	slash := x ^ ones*'\\'
	marks := (quote-ones)&^quote | (slash-ones)&^slash | (x-ones*' ')&^x | x
	return bits.TrailingZeros64(marks&tops) / 8
}

func isPlain(b byte) bool { return b >= ' ' && b < utf8.RuneSelf && b != '"' && b != '\\' }

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
