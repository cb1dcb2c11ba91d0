package server

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

// registry holds features of one kind by name, in the order they came. Readers
// take a snapshot without a lock; each change makes a new one.
type registry[T any] struct {
	kind byte // marks this registry's cursors

	mu  sync.Mutex
	seq uint64 // of the newest entry; never used twice
	now atomic.Pointer[snapshot[T]]
}

// snapshot is a registry between two changes.
type snapshot[T any] struct {
	entries []entry[T]
	byName  map[string]T

	mu    sync.Mutex
	pages map[string]*mcp.Memo // encoded pages, by cursor
}

type entry[T any] struct {
	name  string
	seq   uint64
	value T
}

// add enters a value and reports whether the name was free.
func (r *registry[T]) add(name string, value T) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.snapshot()
	if _, taken := old.byName[name]; taken {
		return false
	}
	r.seq++
	r.storeLocked(append(slices.Clip(old.entries), entry[T]{name, r.seq, value}))
	return true
}

// remove reports whether there was such a name.
func (r *registry[T]) remove(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.snapshot()
	if _, known := old.byName[name]; !known {
		return false
	}
	r.storeLocked(slices.DeleteFunc(slices.Clone(old.entries), func(e entry[T]) bool { return e.name == name }))
	return true
}

func (r *registry[T]) storeLocked(entries []entry[T]) {
	next := &snapshot[T]{entries: entries, byName: make(map[string]T, len(entries))}
	for _, e := range entries {
		next.byName[e.name] = e.value
	}
	r.now.Store(next)
}

// used reports whether anything was ever registered: features do not vanish
// from the capabilities because their last entry was removed.
func (r *registry[T]) used() bool { return r.now.Load() != nil }

func (r *registry[T]) snapshot() *snapshot[T] {
	if s := r.now.Load(); s != nil {
		return s
	}
	return &snapshot[T]{}
}

func (r *registry[T]) get(name string) (T, bool) {
	value, ok := r.snapshot().byName[name]
	return value, ok
}

// find is get for a name as JSON, which is a string. Most have no escapes: then no
// string is made.
func (r *registry[T]) find(name []byte) (T, bool) {
	if value, ok := r.snapshot().byName[string(name[1:len(name)-1])]; ok && bytes.IndexByte(name, '\\') < 0 {
		return value, true
	}
	return r.get(jsonscan.Unquote(name))
}

// page returns the page that a Call asks for. Build makes it from the entries,
// once; next is the cursor of the page after it, nil on the last.
func (r *registry[T]) page(c *mcp.Call, size int, build func(values []T, next *string) any) (any, error) {
	cursor := jsonscan.Get(c.Params, "cursor")
	var after uint64
	switch jsonscan.KindOf(cursor) {
	case jsonscan.Invalid, jsonscan.Null:
	case jsonscan.String:
		var ok bool
		if after, ok = r.parseCursor(jsonscan.Unquote(cursor)); !ok {
			return nil, jsonrpc.InvalidParams("Invalid cursor: list again from the start")
		}
	default:
		return nil, jsonrpc.InvalidParams("cursor must be a string")
	}
	return r.snapshot().page(after, size, r.cursor, build), nil
}

func (s *snapshot[T]) page(after uint64, size int, cursor func(uint64) string, build func([]T, *string) any) *mcp.Memo {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := cursor(after)
	if memo := s.pages[key]; memo != nil {
		return memo
	}
	from, _ := slices.BinarySearchFunc(s.entries, after+1, func(e entry[T], seq uint64) int {
		return int(min(max(int64(e.seq)-int64(seq), -1), 1))
	})
	to := min(from+size, len(s.entries))
	var next *string
	if to < len(s.entries) {
		text := cursor(s.entries[to-1].seq)
		next = &text
	}
	values := make([]T, 0, to-from)
	for _, e := range s.entries[from:to] {
		values = append(values, e.value)
	}
	memo := &mcp.Memo{Result: build(values, next)}
	if s.pages == nil {
		s.pages = make(map[string]*mcp.Memo)
	}
	if len(s.pages) < 1000 { // cursors between two entries lead to equal pages; do not keep them without end
		s.pages[key] = memo
	}
	return memo
}

// cursor names the place behind the entry seq. It holds across changes: entries
// that were removed are passed over, new ones come at the end.
func (r *registry[T]) cursor(seq uint64) string {
	return base64.RawURLEncoding.EncodeToString(strconv.AppendUint([]byte{r.kind}, seq, 36))
}

func (r *registry[T]) parseCursor(text string) (uint64, bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) < 2 || raw[0] != r.kind {
		return 0, false
	}
	seq, err := strconv.ParseUint(string(raw[1:]), 36, 62)
	return seq, err == nil && r.cursor(seq) == text
}
