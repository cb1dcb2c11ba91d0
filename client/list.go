package client

import (
	"context"
	"errors"
	"iter"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
)

// list says how one kind of list is read.
type list[T any] struct {
	method string
	member string                // of the result, an array
	key    func(*T) string       // tells entries apart; empty for what is no entry
	page   func(entries []T) []T // looks at each page that came from the server; nil: nobody does
	uri    string                // what the list is of; empty for the whole server
}

// Collect reads an iterator to its end, for those who want the list whole. With
// an error it returns what came before.
func Collect[T any](seq iter.Seq2[T, error]) ([]T, error) {
	var all []T
	for entry, err := range seq {
		if err != nil {
			return all, err
		}
		all = append(all, entry)
	}
	return all, nil
}

// maxPages is how many pages a list may have.
const maxPages = 10_000

// walk follows the cursors of a list. The error comes last.
func walk[T any](ctx context.Context, c *Client, l *list[T]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		w := walker[T]{client: c, list: l, yield: yield, cursors: make(map[string]bool)}
		if err := w.run(ctx); err != nil {
			var none T
			yield(none, err)
		}
	}
}

type walker[T any] struct {
	client  *Client
	list    *list[T]
	yield   func(T, error) bool
	cursors map[string]bool // that were followed
	kept    map[string]bool // entries from pages of the cache, by key
	stopped bool            // the caller wants no more
}

func (w *walker[T]) run(ctx context.Context) error {
	var cursor *string
	for range maxPages {
		result, hit, err := w.client.page(ctx, w.list.method, w.list.uri, cursor)
		var refused *jsonrpc.Error
		if cursor != nil && w.kept != nil && errors.As(err, &refused) && refused.Code == jsonrpc.CodeInvalidParams {
			// A cursor from a page that was kept too long: begin again, and pass
			// over what the caller has seen.
			w.client.opts.Cache.Invalidate(w.list.method)
			cursor, w.cursors = nil, make(map[string]bool)
			continue
		}
		if err != nil {
			return err
		}
		next, err := w.read(result, hit)
		if err != nil || w.stopped || next == nil {
			return err
		}
		if *next == "" && !w.client.Server().Stateless {
			return nil // older servers end a list so
		}
		if w.cursors[*next] {
			return localf(w.list.method, "the server repeats the cursor %q", *next)
		}
		w.cursors[*next] = true
		cursor = next
	}
	return localf(w.list.method, "the list has more than %d pages", maxPages)
}

// read yields the entries of a page and returns the cursor of the next. An entry
// that makes no sense costs only itself.
func (w *walker[T]) read(result jsontext.Value, hit bool) (next *string, err error) {
	array := jsonscan.Get(result, w.list.member)
	if kind := jsonscan.KindOf(array); kind != jsonscan.Array {
		return nil, localf(w.list.method, "read result: %s is %v, not an array", w.list.member, kind)
	}
	var entries []T
	for element := range jsonscan.Elements(array) {
		var entry T
		if err := json.Unmarshal(element, &entry); err != nil || w.list.key(&entry) == "" {
			w.client.log.Warn("passed over an entry of a list", "method", w.list.method, "error", err)
			continue
		}
		entries = append(entries, entry)
	}
	if w.list.page != nil {
		entries = w.list.page(entries)
	}
	for i := range entries {
		if w.known(&entries[i], hit) {
			continue
		}
		if w.stopped = !w.yield(entries[i], nil); w.stopped {
			return nil, nil
		}
	}
	cursor := jsonscan.Get(result, "nextCursor")
	switch jsonscan.KindOf(cursor) {
	case jsonscan.Invalid, jsonscan.Null:
		return nil, nil
	case jsonscan.String:
		text := jsonscan.Unquote(cursor)
		return &text, nil
	}
	return nil, localf(w.list.method, "read result: nextCursor is no string")
}

// known reports whether an entry was yielded before the walk began again, and
// notes those from the cache.
func (w *walker[T]) known(entry *T, hit bool) bool {
	if !hit {
		return w.kept[w.list.key(entry)]
	}
	if w.kept == nil {
		w.kept = make(map[string]bool)
	}
	w.kept[w.list.key(entry)] = true
	return false
}

// pageParams ask for one page of a list that is of one resource.
type pageParams struct {
	URI    string  `json:"uri,omitzero"`
	Cursor *string `json:"cursor,omitzero"`
}

// page returns one page of a list, from the cache if it can.
func (c *Client) page(ctx context.Context, method, uri string, cursor *string) (result jsontext.Value, hit bool, err error) {
	var params any
	key := uri
	if cursor != nil || uri != "" {
		params = &pageParams{URI: uri, Cursor: cursor}
	}
	if cursor != nil {
		key += "\x00c" + *cursor
	}
	return c.cached(ctx, method, key, params, nil)
}
