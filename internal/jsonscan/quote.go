package jsonscan

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"
)

// AppendQuote appends s as a JSON string. It escapes what JSON requires and no
// more; bytes that are no UTF-8 become U+FFFD.
func AppendQuote(dst []byte, s string) []byte {
	dst, _ = AppendValid(dst, s)
	return dst
}

// AppendValid is [AppendQuote] that also reports whether s was UTF-8.
func AppendValid(dst []byte, s string) (_ []byte, valid bool) {
	most := 8 // more than one byte of s becomes, with the quote at the end
	if len(s) >= 2*64 {
		most = blockRoom
	}
	dst, valid = append(slices.Grow(dst, len(s)+len(s)/16+most), '"'), true
	out, n := dst[:cap(dst)], len(dst) // out has room for the rest of s as it is, and more
	for i := 0; i < len(s); {
		if len(s)-i >= 2*64 {
			size := putBlocks(out[n:], s[i:])
			i, n = i+size.read, n+size.wrote
		}
		at := 8
		for last := min(len(s)-8, i+longText); i <= last; i, n = i+8, n+8 {
			x := wordAt(s, i)
			binary.LittleEndian.PutUint64(out[n:], x)
			if at = firstSpecial(x); at < 8 {
				i, n = i+at, n+at
				break
			}
		}
		if at == 8 { // near the end, or a block would have no room
			plain := plainRun(s[i:])
			n += copy(out[n:], s[i:i+plain])
			if i += plain; i == len(s) {
				break
			}
		}
		if len(out)-n < len(s)-i+most {
			out = slices.Grow(out[:n], len(s)-i+(len(s)-i)/8+most)
			out = out[:cap(out)]
		}
		b := s[i]
		if w := &written[b]; w.first != 0 && i+1 < len(s) && (s[i+1]^0x80)&w.mask == 0 {
			second := w.second
			if second == 0 {
				second = s[i+1]
			}
			out[n], out[n+1] = w.first, second
			i, n = i+1+int(b>>7), n+2
			continue
		}
		size, ok := putOther(out[n:], s[i:])
		if !ok {
			valid = false
		}
		i, n = i+size.read, n+size.wrote
	}
	out[n] = '"'
	return out[:n+1], valid
}

// written tells what becomes of a special byte, and of the one after it, if that is
// two bytes: a short escape, or a letter of UTF-8. Then first is not 0. The second
// byte is the one after it where there is no other, and has to be like 0x80 in the
// bits of mask.
var written = pairsWritten()

func pairsWritten() (w [256]struct{ first, second, mask byte }) {
	for name, b := range unescape {
		if b != 0 && b != '/' {
			w[b].first, w[b].second = '\\', byte(name)
		}
	}
	for b := 0xc2; b < 0xe0; b++ {
		w[b].first, w[b].mask = byte(b), 0xc0
	}
	return w
}

// progress is how far a step went.
type progress struct{ read, wrote int }

// putOther writes to dst, which is long enough, what becomes of the special bytes at
// the start of s. It is not ok if they are not UTF-8.
func putOther(dst []byte, s string) (_ progress, ok bool) {
	switch b := s[0]; {
	case b >= utf8.RuneSelf:
		if n := foreignText(s); n > 0 {
			return progress{n, copy(dst, s[:n])}, true
		}
		return progress{1, copy(dst, "\ufffd")}, false
	default:
		return progress{1, putEscape(dst, b)}, true
	}
}

// putEscape writes the escape of a byte that needs one.
func putEscape(dst []byte, b byte) int {
	if w := &written[b]; w.first != 0 {
		dst[0], dst[1] = w.first, w.second
		return 2
	}
	const hex = "0123456789abcdef"
	return copy(dst, []byte{'\\', 'u', '0', '0', hex[b>>4], hex[b&15]})
}
