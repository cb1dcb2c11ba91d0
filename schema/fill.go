package schema

import (
	"net/url"
	"strings"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// fillPrice is what it costs to look at one value, in the units of a walk.
const fillPrice = 300

// filling is one walk of fillers over a value.
type filling struct {
	left int
}

// value returns v with defaults filled in, and whether that changed it.
func (w *filling) value(f *filler, v []byte) (filled []byte, changed bool) {
	v = jsonscan.Trim(v)
	if f == nil || !f.useful || w.left < 0 {
		return v, false
	}
	w.left -= len(v) + fillPrice
	switch jsonscan.KindOf(v) {
	case jsonscan.Object:
		filled, changed = w.object(f, v)
	case jsonscan.Array:
		filled, changed = w.array(f, v)
	default:
		return v, false
	}
	for _, sub := range f.also {
		more, did := w.value(sub, filled)
		filled, changed = more, changed || did
	}
	return filled, changed
}

func (w *filling) object(f *filler, v []byte) ([]byte, bool) {
	out, changed, present := []byte{'{'}, false, map[string]bool{}
	for name, member := range jsonscan.Members(v) {
		present[string(name)] = true
		sub, named := f.known[string(name)]
		if !named {
			sub = f.others
		}
		filled, did := w.value(sub, member)
		changed = changed || did
		out = appendMember(out, string(name), filled)
	}
	for _, m := range f.members {
		if !present[m.name] {
			out = appendMember(out, m.name, m.value)
			changed = true
		}
	}
	if !changed {
		return v, false
	}
	return append(out, '}'), true
}

func appendMember(out []byte, name string, value []byte) []byte {
	if len(out) > 1 {
		out = append(out, ',')
	}
	out = append(jsonscan.AppendQuote(out, name), ':')
	return append(out, value...)
}

func (w *filling) array(f *filler, v []byte) ([]byte, bool) {
	if f.items == nil || !f.items.useful {
		return v, false
	}
	out, changed := []byte{'['}, false
	for item := range jsonscan.Elements(v) {
		filled, did := w.value(f.items, item)
		changed = changed || did
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, filled...)
	}
	if !changed {
		return v, false
	}
	return append(out, ']'), true
}

// follow returns what a reference such as #/$defs/a leads to within root, and
// nil when it leads nowhere or elsewhere.
func follow(root []byte, ref string) []byte {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	pointer, err := url.PathUnescape(pointer)
	if err != nil || pointer == "" {
		return root
	}
	steps := strings.Split(pointer, "/")
	if steps[0] != "" {
		return nil // an anchor
	}
	for _, step := range steps[1:] {
		if jsonscan.KindOf(root) == jsonscan.Array {
			root = element(root, step)
		} else {
			root = jsonscan.Get(root, strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
		}
	}
	return root
}
