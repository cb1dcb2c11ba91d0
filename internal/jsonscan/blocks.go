package jsonscan

import "math/bits"

// Long text is looked at in blocks of 64 bytes. What is special in a block is found
// for all of it at once, as the bits of a word, so that nothing waits for what came
// before: a special byte then costs little more than its bit.

// longText is how long a text is before that pays.
const longText = 64

// passOver steps over what is plain in data from i on, and over pairs of special
// bytes; escaped says that one was an escape. It stops at the first other special
// byte, or at a pair near the end.
func passOver(data []byte, i int) (end int, escaped bool) {
	slashes := byte(0)
	for len(data)-i > 64 {
		b := data[i : i+65]
		at := 0
		for marks := specials(b); marks != 0; marks &^= 3 << at {
			at = bits.TrailingZeros64(marks) & 63
			pair := pairFirst[b[at]] & pairSecond[b[at+1]]
			if pair == 0 {
				return i + at, slashes&escapePair != 0
			}
			slashes |= pair
		}
		i += max(64, at+2)
	}
	return i + plainRun(data[i:]), slashes&escapePair != 0
}

// blockRoom is more than a block becomes, with what putBlocks writes behind it.
const blockRoom = 4 * 64

// putBlocks writes blocks of s to dst as they are in JSON. It stops when s has fewer
// than two, when dst has no room for one and for what follows, or at a special byte
// that is neither written with a short escape nor the first of a letter of two.
func putBlocks(dst []byte, s string) (p progress) {
	for len(s)-p.read >= 2*64 && len(dst)-p.wrote >= len(s)-p.read+blockRoom {
		b, out := s[p.read:p.read+2*64], dst[p.wrote:p.wrote+blockRoom]
		copy(out[:64], b[:64])
		end, more := 64, 0 // of what is read, and how much longer it has become
		for marks := specials(b); marks != 0; {
			at := bits.TrailingZeros64(marks) & 63
			if w := &written[b[at]]; w.first == '\\' { // which moves what follows
				copy(out[at+more+2:at+more+2+64], b[at+1:at+1+64])
				out[at+more], out[at+more+1] = '\\', w.second
				more++
				marks &= marks - 1
				continue
			}
			if pairFirst[b[at]]&pairSecond[b[at+1]] == 0 {
				return progress{p.read + at, p.wrote + at + more}
			}
			out[at+more+1] = b[at+1] // it may stand behind the block
			end = max(end, at+2)
			marks &^= 3 << at
		}
		p.read, p.wrote = p.read+end, p.wrote+end+more
	}
	return p
}

// blockAhead is how much text a block needs in takeBlocks: another, and an escape.
const blockAhead = 2*64 + 2

// takeBlocks writes blocks of JSON text to dst with their escapes resolved. It stops
// when text has less than blockAhead, when dst has less than blockRoom, or at an
// escape that is none of the short ones.
func takeBlocks(dst, text []byte) (p progress) {
	for len(text)-p.read >= blockAhead && len(dst)-p.wrote >= blockRoom {
		b, out := text[p.read:p.read+blockAhead], dst[p.wrote:p.wrote+blockRoom]
		copy64(out, b)
		end, less := 64, 0 // of what is read, and how much shorter it has become
		for marks := slashes(b); marks != 0; {
			at := bits.TrailingZeros64(marks) & 63
			r := unescape[b[at+1]]
			if r == 0 {
				return progress{p.read + at, p.wrote + at - less}
			}
			out[at-less] = r // and what follows moves
			less++
			copy64(out[at+2-less:], b[at+2:])
			end = max(end, at+2)
			marks &^= 3 << at
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
// with the bit for 2 changed, that are those up to 32. The second sum does so for all
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
