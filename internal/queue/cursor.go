package queue

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
)

// A cursor is the base64url text of a form byte, the place as eight bytes, and
// a checksum of the nine. The checksum finds mistakes, not forgeries: a forged
// cursor shows nothing that the list would not.
const (
	cursorForm = 1
	cursorSize = 1 + 8 + 4
)

// EncodeCursor returns the cursor that continues a list after place.
func EncodeCursor(place int64) string {
	raw := make([]byte, 0, cursorSize)
	raw = append(raw, cursorForm)
	raw = binary.BigEndian.AppendUint64(raw, uint64(place))
	raw = binary.BigEndian.AppendUint32(raw, crc32.ChecksumIEEE(raw))
	return base64.RawURLEncoding.EncodeToString(raw)
}

// DecodeCursor returns the place after which the list continues: zero, the
// start, for an empty cursor. Any text that EncodeCursor does not produce is
// ErrInvalid.
func DecodeCursor(cursor string) (int64, error) {
	if cursor == "" {
		return 0, nil
	}
	refused := invalid("cursor", "must be one that an earlier page returned")
	if len(cursor) != base64.RawURLEncoding.EncodedLen(cursorSize) {
		return 0, refused
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(raw) != cursorSize {
		return 0, refused
	}
	place := int64(binary.BigEndian.Uint64(raw[1:]))
	if place <= 0 || EncodeCursor(place) != cursor {
		return 0, refused
	}
	return place, nil
}
