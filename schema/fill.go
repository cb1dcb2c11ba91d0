package schema

import (
	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// What filling costs, in the units of a walk.
const (
	fillPrice = 300 // to look at one value
	copyPrice = 4   // to add a byte
)

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
		if filled = v; f.item(0) != nil || f.items != nil {
			filled, changed = w.array(f, v)
		}
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
		if present[m.name] {
			continue
		}
		if w.left -= len(m.name) + len(m.value); w.left < 0 {
			break
		}
		out = appendMember(out, m.name, m.value)
		changed = true
	}
	return w.result(v, append(out, '}'), changed)
}

func appendMember(out []byte, name string, value []byte) []byte {
	if len(out) > 1 {
		out = append(out, ',')
	}
	out = append(jsonscan.AppendQuote(out, name), ':')
	return append(out, value...)
}

func (w *filling) array(f *filler, v []byte) ([]byte, bool) {
	out, changed, i := []byte{'['}, false, 0
	for item := range jsonscan.Elements(v) {
		filled, did := w.value(f.item(i), item)
		changed = changed || did
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, filled...)
		i++
	}
	return w.result(v, append(out, ']'), changed)
}

// item returns the filler for an item of an array, which may be nil.
func (f *filler) item(i int) *filler {
	if i < len(f.prefix) {
		return f.prefix[i]
	}
	return f.items
}

// result returns what has been made of v, and pays for what was added.
func (w *filling) result(v, filled []byte, changed bool) ([]byte, bool) {
	if !changed {
		return v, false
	}
	w.left -= copyPrice * max(0, len(filled)-len(v))
	return filled, true
}
