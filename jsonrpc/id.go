package jsonrpc

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// ID is the id of a request: a JSON string or integer, kept digit for digit as
// its sender wrote it. The zero ID means that there is none. IDs are comparable;
// two that differ only in how a string is escaped differ, so compare [ID.Key].
type ID struct{ text string }

// StringID returns the id that is the JSON string s.
func StringID(s string) ID { return ID{string(jsonscan.AppendQuote(nil, s))} }

// IntID returns the id that is the integer n.
func IntID(n int64) ID { return ID{strconv.FormatInt(n, 10)} }

// maxID is the longest id in bytes that is kept: ids are echoed and held in
// tables, so their size is the receiver's cost.
const maxID = 1024

// ParseID reads an id from JSON text. Null, fractions, exponents, booleans,
// arrays, objects and ids over 1,024 bytes are refused.
func ParseID(raw []byte) (ID, error) {
	raw = jsonscan.Trim(raw)
	switch {
	case len(raw) > maxID:
		return ID{}, InvalidRequest("id is longer than %d bytes", maxID)
	case jsonscan.KindOf(raw) == jsonscan.String:
		if err := jsonscan.Check(raw, 0); err != nil {
			return ID{}, InvalidRequest("id: %v", err)
		}
		return ID{string(raw)}, nil
	case jsonscan.KindOf(raw) == jsonscan.Number && isInteger(raw):
		return ID{string(raw)}, nil
	}
	return ID{}, InvalidRequest("id must be a string or an integer")
}

func isInteger(raw []byte) bool {
	digits := bytes.TrimPrefix(raw, []byte("-"))
	if len(digits) == 0 || len(digits) > 1 && digits[0] == '0' {
		return false
	}
	for _, d := range digits {
		if d < '0' || d > '9' {
			return false
		}
	}
	return true
}

// IsZero reports whether there is no id.
func (id ID) IsZero() bool { return id.text == "" }

// String returns the id as JSON text: 7, or "seven" with its quotes.
func (id ID) String() string { return id.text }

// Key returns an id that is equal for equal values: strings lose the escapes
// they do not need, and zero its sign.
func (id ID) Key() ID {
	switch {
	case id.text == "-0":
		return ID{"0"}
	case strings.IndexByte(id.text, '\\') >= 0:
		return StringID(jsonscan.Unquote([]byte(id.text)))
	}
	return id
}

// MarshalJSONTo writes the id as it was read, null when there is none.
func (id ID) MarshalJSONTo(enc *jsontext.Encoder) error {
	if id.IsZero() {
		return enc.WriteToken(jsontext.Null)
	}
	return enc.WriteValue(jsontext.Value(id.text))
}

// UnmarshalJSONFrom reads an id as [ParseID] does.
func (id *ID) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	*id, err = ParseID(raw)
	return err
}
