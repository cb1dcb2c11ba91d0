package jsonscan

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// Text in JSON is mostly plain: ASCII that stands for itself. What follows finds
// how far that goes, a word of eight bytes at a time. A run that has lasted for
// runBefore goes on in blocks, which package bytes searches faster still; shorter
// ones would pay for blocks that are searched in vain.
const (
	runBefore = 64
	block     = 256
)

// plainBytes returns how many bytes at the start of b are plain.
func plainBytes(b []byte) int {
	n := 0
	for ; len(b)-n >= 8; n += 8 {
		if at := firstSpecial(binary.LittleEndian.Uint64(b[n:])); at < 8 {
			return n + at
		}
	}
	for n < len(b) && isPlain(b[n]) {
		n++
	}
	return n
}

// plainText is plainBytes for a string.
func plainText(s string) int {
	n := 0
	for ; len(s)-n >= 8; n += 8 {
		if n == runBefore {
			n += plainTextBlocks(s[n:])
			if len(s)-n < 8 {
				break
			}
		}
		if at := firstSpecial(word(s[n : n+8])); at < 8 {
			return n + at
		}
	}
	for n < len(s) && isPlain(s[n]) {
		n++
	}
	return n
}

// plainTextBlocks returns the length of the whole blocks at the start of s that are
// plain.
func plainTextBlocks(s string) int {
	n := 0
	for ; len(s)-n >= block; n += block {
		part := s[n : n+block]
		if strings.IndexByte(part, '"') >= 0 || strings.IndexByte(part, '\\') >= 0 {
			break
		}
		odd := uint64(0)
		for i := 0; i < block; i += 8 {
			odd |= odd8(word(part[i : i+8]))
		}
		if odd&tops != 0 {
			break
		}
	}
	return n
}

const ones, tops = 0x0101010101010101, 0x8080808080808080

// word returns eight bytes, the first being the lowest.
func word(b string) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// odd8 marks the top of a byte if one of the eight is a control character or no
// ASCII.
func odd8(x uint64) uint64 { return x | (x - ones*' ') }

// firstSpecial returns which of eight bytes, the first being the lowest, is the
// first that is not plain: a quote, a backslash, a control character, or no ASCII.
// It returns 8 if none is. Each difference marks the top of the bytes that are too
// small for it, and besides only bytes that are no ASCII; a byte that borrows from
// its neighbours spoils those above it only, so the lowest mark is true.
func firstSpecial(x uint64) int {
	marks := ((x ^ ones*'"') - ones) | ((x ^ ones*'\\') - ones) | (x - ones*' ') | x
	return bits.TrailingZeros64(marks&tops) / 8
}

// foreignText returns how many bytes at the start of s are UTF-8 beyond ASCII.
func foreignText(s string) int {
	n := 0
	for n < len(s) && s[n] >= utf8.RuneSelf {
		if n+1 < len(s) && 0xc2 <= s[n] && s[n] < 0xe0 && s[n+1]&0xc0 == 0x80 {
			n += 2
			continue
		}
		r, size := utf8.DecodeRuneInString(s[n:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return n
}

// foreignBytes is foreignText for bytes.
func foreignBytes(b []byte) int {
	n := 0
	for n < len(b) && b[n] >= utf8.RuneSelf {
		if n+1 < len(b) && 0xc2 <= b[n] && b[n] < 0xe0 && b[n+1]&0xc0 == 0x80 {
			n += 2
			continue
		}
		r, size := utf8.DecodeRune(b[n:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return n
}

// Most of what is special in text takes two bytes: a short escape, or a letter of
// UTF-8. Two bytes are such a pair if they have a bit in common here.
var pairFirst, pairSecond = pairs()

const escapePair, letterPair = 1, 2

func pairs() (first, second [256]byte) {
	first['\\'] = escapePair
	for b, r := range unescape {
		if r != 0 {
			second[b] |= escapePair
		}
	}
	for b := 0xc2; b < 0xe0; b++ {
		first[b] = letterPair
	}
	for b := 0x80; b < 0xc0; b++ {
		second[b] |= letterPair
	}
	return first, second
}

func isPlain(b byte) bool { return b >= ' ' && b < utf8.RuneSelf && b != '"' && b != '\\' }
