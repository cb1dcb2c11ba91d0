package jsonscan

import (
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// Long text is looked at in blocks of 64 bytes. What is special in a block is found
// for all of it at once, as the bits of a word, so that nothing waits for what came
// before: a special byte then costs little more than its bit.

// longText is how long a text is before that pays.
const longText = 64

// passOver steps over text in a string from i on; escaped says that there were
// escapes. It stops at what ends the string or cannot stand there, or at something
// special near the end of data.
func passOver(data []byte, i int) (end int, escaped bool) {
	seen := byte(0)
	for len(data)-i > 64 {
		b := data[i : i+65]
		last := 0 // where what is special ended last
		for marks := specials(b); marks != 0; {
			at := bits.TrailingZeros64(marks) & 63
			if pair := pairFirst[b[at]] & pairSecond[b[at+1]]; pair != 0 {
				seen |= pair
				last = at + 2
				marks &^= 3 << at
				continue
			}
			size, kind := longSize(data[i+at:])
			if size == 0 {
				return i + at, seen&escapePair != 0
			}
			seen |= kind
			last = at + size
			marks &^= (1<<size - 1) << at
		}
		i += max(64, last)
	}
	return i + plainRun(data[i:]), seen&escapePair != 0
}

// longSize returns how long the letters, or the escape, at the start of text are, and
// which of them it is, where pairs are not: 0 if it is neither.
func longSize(text []byte) (size int, kind byte) {
	if text[0] != '\\' {
		return foreignBytes(text), letterPair
	}
	r, ok := hex4(text)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return 6, escapePair
	}
	low, _ := hex4(text[6:])
	if utf16.DecodeRune(r, low) == utf8.RuneError {
		return 0, 0
	}
	return 12, escapePair
}

// blockRoom is more than a block becomes, with what is written behind it.
const blockRoom = 8 * 64

// putBlocks writes blocks of s to dst as they are in JSON. It stops when s has fewer
// than two, when dst has no room for one and for what follows, or at what is no UTF-8.
func putBlocks(dst []byte, s string) (p progress) {
	for len(s)-p.read >= 2*64 && len(dst)-p.wrote >= len(s)-p.read+blockRoom {
		b, out := s[p.read:p.read+2*64], dst[p.wrote:p.wrote+blockRoom]
		copy(out[:64], b[:64])
		end, more := 64, 0 // of what is read, and how much longer it has become
		for marks := specials(b); marks != 0; {
			at := bits.TrailingZeros64(marks) & 63
			to := at + more
			if b[at] < utf8.RuneSelf { // an escape: what follows moves
				size := putEscape(out[to:], b[at])
				copy(out[to+size:to+size+64], b[at+1:at+1+64])
				more += size - 1
				marks &= marks - 1
				continue
			}
			if pairFirst[b[at]]&pairSecond[b[at+1]] != 0 {
				out[to+1] = b[at+1] // it may stand behind the block
				end = max(end, at+2)
				marks &^= 3 << at
				continue
			}
			r, size := utf8.DecodeRuneInString(b[at:])
			if r == utf8.RuneError && size == 1 {
				return progress{p.read + at, p.wrote + to}
			}
			if b[at+size] >= 0xe0 { // more of them follow
				size += foreignText(b[at+size:])
			}
			if at+size > 64 {
				copy(out[to:], b[at:at+size])
				end = at + size
			}
			marks &^= (1<<size - 1) << at
		}
		p.read, p.wrote = p.read+end, p.wrote+end+more
	}
	return p
}

// blockAhead is how much text a block needs in takeBlocks: another, and an escape.
const blockAhead = 2*64 + 12

// takeBlocks writes blocks of JSON text to dst with their escapes resolved. It stops
// when text has less than blockAhead, or dst less than blockRoom.
func takeBlocks(dst, text []byte) (p progress) {
	for len(text)-p.read >= blockAhead && len(dst)-p.wrote >= blockRoom {
		b, out := text[p.read:p.read+blockAhead], dst[p.wrote:p.wrote+blockRoom]
		copy64(out, b)
		end, less := 64, 0 // of what is read, and how much shorter it has become
		for marks := slashes(b); marks != 0; {
			at := bits.TrailingZeros64(marks) & 63
			if r := unescape[b[at+1]]; r != 0 {
				out[at-less] = r
				less++
				copy64(out[at+2-less:], b[at+2:])
				end = max(end, at+2)
				marks &^= 3 << at
				continue
			}
			r, rest := unescapeFirst(b[at:])
			to := at - less + utf8.EncodeRune(out[at-less:], r)
			next := len(b) - len(rest)
			copy64(out[to:], rest)
			end, less = max(end, next), next-to
			marks &^= (1<<(next-at) - 1) << at
		}
		p.read, p.wrote = p.read+end, p.wrote+end-less
	}
	return p
}

// copy64 copies a block.
func copy64(dst, src []byte) {
	d, s := (*[64]byte)(dst), (*[64]byte)(src)
	*(*[16]byte)(d[0:]) = *(*[16]byte)(s[0:]) // of 16 bytes there is no call
	*(*[16]byte)(d[16:]) = *(*[16]byte)(s[16:])
	*(*[16]byte)(d[32:]) = *(*[16]byte)(s[32:])
	*(*[16]byte)(d[48:]) = *(*[16]byte)(s[48:])
}

// specials returns which of the first 64 bytes are not plain, the first being the
// lowest bit.
func specials[Text []byte | string](b Text) uint64 {
	_ = b[63]
	p0, p1, p2, p3 := plain8(wordAt(b, 0)), plain8(wordAt(b, 8)), plain8(wordAt(b, 16)), plain8(wordAt(b, 24))
	p4, p5, p6, p7 := plain8(wordAt(b, 32)), plain8(wordAt(b, 40)), plain8(wordAt(b, 48)), plain8(wordAt(b, 56))
	if p0&p1&p2&p3&p4&p5&p6&p7&tops == tops {
		return 0
	}
	return ^(gather(p0) | gather(p1)<<8 | gather(p2)<<16 | gather(p3)<<24 |
		gather(p4)<<32 | gather(p5)<<40 | gather(p6)<<48 | gather(p7)<<56)
}

// plain8 sets the top bit of each of eight bytes that is plain; other bits mean
// nothing. Without their top bits the bytes can be added to without a carry, which
// makes the first sum reach the top for all but control characters and the quote:
// with the bit for 2 changed, those are the bytes up to 32. The second sum does so for all
// but the backslash.
func plain8(x uint64) uint64 {
	low := x &^ tops
	return ((low ^ ones*2) + ones*(128-33)) & ((low ^ ones*'\\') + ones*127) &^ x
}

// slashes is specials for backslashes alone.
func slashes(b []byte) uint64 {
	_ = b[63]
	p0, p1, p2, p3 := other8(wordAt(b, 0)), other8(wordAt(b, 8)), other8(wordAt(b, 16)), other8(wordAt(b, 24))
	p4, p5, p6, p7 := other8(wordAt(b, 32)), other8(wordAt(b, 40)), other8(wordAt(b, 48)), other8(wordAt(b, 56))
	return ^(gather(p0) | gather(p1)<<8 | gather(p2)<<16 | gather(p3)<<24 |
		gather(p4)<<32 | gather(p5)<<40 | gather(p6)<<48 | gather(p7)<<56)
}

// other8 sets the top bit of each of eight bytes that is no backslash, as plain8 does.
func other8(x uint64) uint64 { return ((x&^tops ^ ones*'\\') + ones*127) | x }

// gather brings the top bits of eight bytes together: each is a bit of the result, and
// those of the product that it does not want fall below or beyond it.
func gather(x uint64) uint64 { return (x & tops) * 0x0002040810204081 >> 56 }
