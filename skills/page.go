package skills

import (
	"encoding/base64"
	"sort"
	"unicode/utf8"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

// cursorMark begins the text of a cursor, before it is encoded.
const cursorMark = ">"

// cursorOf returns the key behind which a Call wants to go on, empty for the start.
func cursorOf(call *mcp.Call) (after string, err error) {
	raw := jsonscan.Get(call.Params, "cursor")
	switch jsonscan.KindOf(raw) {
	case jsonscan.Invalid, jsonscan.Null:
		return "", nil
	case jsonscan.String:
	default:
		return "", jsonrpc.InvalidParams("cursor must be a string")
	}
	text, err := base64.RawURLEncoding.Strict().DecodeString(jsonscan.Unquote(raw))
	if err != nil || len(text) < 2 || string(text[:1]) != cursorMark || !utf8.Valid(text) {
		return "", jsonrpc.InvalidParams("Invalid cursor: list again from the start")
	}
	return string(text[1:]), nil
}

// page returns the entries behind a key, at most size of them, and the cursor of the
// page after them, nil on the last. Entries are in the order of their keys. A cursor
// holds when entries come and go.
func page[T any](all []T, after string, size int, key func(T) string) (found []T, next *string) {
	from := sort.Search(len(all), func(i int) bool { return key(all[i]) > after })
	to := min(from+size, len(all))
	if to < len(all) {
		text := base64.RawURLEncoding.EncodeToString([]byte(cursorMark + key(all[to-1])))
		next = &text
	}
	return all[from:to], next
}
