package jsonscan

import (
	"bytes"
	"slices"
	"strings"
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
	var b strings.Builder // it neither clears what it will fill nor copies it in the end
	b.Grow(len(inner))
	for {
		n := bytes.IndexByte(inner, '\\')
		if n < 0 {
			b.Write(inner)
			return b.String()
		}
		b.Write(inner[:n])
		var r rune
		if r, inner = unescapeFirst(inner[n:]); r < utf8.RuneSelf {
			b.WriteByte(byte(r))
		} else {
			b.WriteRune(r)
		}
	}
}

// appendUnescaped appends the text between a string's quotes with its escapes
// resolved.
func appendUnescaped(dst, inner []byte) []byte {
	for {
		n := bytes.IndexByte(inner, '\\')
		if n < 0 {
			return append(dst, inner...)
		}
		dst = append(dst, inner[:n]...)
		var r rune
		r, inner = unescapeFirst(inner[n:])
		dst = utf8.AppendRune(dst, r)
	}
}

// unescapeFirst resolves the escape at the start of text and returns what follows
// it. Of what is no escape, which only text has that was not checked, comes
// U+FFFD.
func unescapeFirst(text []byte) (rune, []byte) {
	if len(text) < 2 {
		return utf8.RuneError, nil
	}
	if text[1] != 'u' {
		return rune(unescape[text[1]]), text[2:]
	}
	r, ok := hex4(text)
	if !ok {
		return utf8.RuneError, text[2:]
	}
	text = text[6:]
	if utf16.IsSurrogate(r) {
		low, _ := hex4(text)
		return utf16.DecodeRune(r, low), text[min(6, len(text)):]
	}
	return r, text
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
	dst, valid = append(slices.Grow(dst, len(s)+2), '"'), true
	for {
		n := plainText(s)
		for n < len(s) && s[n] >= utf8.RuneSelf {
			foreign := foreignText(s[n:])
			if foreign == 0 {
				break
			}
			n += foreign
			n += plainText(s[n:])
		}
		dst = append(dst, s[:n]...)
		if s = s[n:]; s == "" {
			return append(dst, '"'), valid
		}
		if s[0] < utf8.RuneSelf {
			dst = appendEscape(dst, s[0])
		} else {
			dst, valid = append(dst, "\ufffd"...), false
		}
		s = s[1:]
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
