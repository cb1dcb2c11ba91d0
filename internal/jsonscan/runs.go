package jsonscan

import (
	"math/bits"
	"unicode/utf8"
)

// Text in JSON is mostly plain: ASCII that stands for itself. What follows finds
// how far that goes, a word of eight bytes at a time.

// plainRun returns how many bytes at the start of b are plain.
func plainRun[Text []byte | string](b Text) int {
	n := 0
	for ; len(b)-n >= 8; n += 8 {
		if at := firstSpecial(wordAt(b, n)); at < 8 {
			return n + at
		}
	}
	for n < len(b) && isPlain(b[n]) {
		n++
	}
	return n
}

const ones, tops = 0x0101010101010101, 0x8080808080808080

// wordAt returns the eight bytes at i, the first being the lowest.
func wordAt[Text []byte | string](b Text, i int) uint64 {
	_ = b[i+7]
	return uint64(b[i]) | uint64(b[i+1])<<8 | uint64(b[i+2])<<16 | uint64(b[i+3])<<24 |
		uint64(b[i+4])<<32 | uint64(b[i+5])<<40 | uint64(b[i+6])<<48 | uint64(b[i+7])<<56
}

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
