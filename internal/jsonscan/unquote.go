package jsonscan

import (
	"bytes"
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
	if len(inner) >= blockAhead {
		inner = writeUnescaped(&b, inner)
	}
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

// writeUnescaped writes a long text with its escapes resolved, except for the end of
// it, which it returns.
func writeUnescaped(b *strings.Builder, text []byte) []byte {
	var room [2 << 10]byte
	for len(text) >= blockAhead {
		size := takeBlocks(room[:], text)
		b.Write(room[:size.wrote])
		text = text[size.read:]
	}
	return text
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
