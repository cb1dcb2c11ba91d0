package queue

import (
	"crypto/rand"
	"time"
)

// idPrefix begins every task ID.
const idPrefix = "task_"

// idAlphabet is Crockford's base 32 in lower case: no i, l, o or u, and sorted
// as ASCII is, so that IDs sort by time.
const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// NewID returns a new task ID: "task_" and 26 characters that hold 48 bits of
// milliseconds since 1970 and 80 random bits. IDs made in different
// milliseconds sort in time order; knowing one does not help to guess another.
func NewID(now time.Time) string {
	var raw [16]byte
	ms := uint64(now.UnixMilli())
	for i := range 6 {
		raw[i] = byte(ms >> (40 - 8*i))
	}
	rand.Read(raw[6:]) // never fails: the runtime crashes the program instead

	// 26 characters carry 130 bits; the first holds only the top 3 of the 128.
	id := make([]byte, 0, len(idPrefix)+26)
	id = append(id, idPrefix...)
	acc, bits := uint(0), 2
	for _, b := range raw {
		acc, bits = acc<<8|uint(b), bits+8
		for bits >= 5 {
			bits -= 5
			id = append(id, idAlphabet[acc>>bits&31])
		}
		acc &= 1<<bits - 1
	}
	return string(id)
}
