package jsonscan

import (
	"encoding/binary"
	"math/bits"
)

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
		b := (*[65]byte)(data[i:])
		at := 0
		for marks := specials((*[64]byte)(b[:])); marks != 0; marks &^= 3 << at {
			at = bits.TrailingZeros64(marks) & 63
			pair := pairFirst[b[at]] & pairSecond[b[at+1]]
			if pair == 0 {
				return i + at, slashes&escapePair != 0
			}
			slashes |= pair
		}
		i += max(64, at+2)
	}
	return i + plainBytes(data[i:]), slashes&escapePair != 0
}

// specials returns which of the bytes are not plain, the first being the lowest bit.
func specials(b *[64]byte) uint64 {
	p0 := plain8(binary.LittleEndian.Uint64(b[0:]))
	p1 := plain8(binary.LittleEndian.Uint64(b[8:]))
	p2 := plain8(binary.LittleEndian.Uint64(b[16:]))
	p3 := plain8(binary.LittleEndian.Uint64(b[24:]))
	p4 := plain8(binary.LittleEndian.Uint64(b[32:]))
	p5 := plain8(binary.LittleEndian.Uint64(b[40:]))
	p6 := plain8(binary.LittleEndian.Uint64(b[48:]))
	p7 := plain8(binary.LittleEndian.Uint64(b[56:]))
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

// gather brings the top bits of eight bytes together: each is a bit of the result, and
// those of the product that it does not want fall below or beyond it.
func gather(x uint64) uint64 { return (x & tops) * 0x0002040810204081 >> 56 }
