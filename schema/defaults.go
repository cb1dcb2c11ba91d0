package schema

import (
	"errors"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// Defaults returns value with the members that it lacks and that have a default
// in the schema, in nested objects too. It looks at the keywords properties,
// additionalProperties, items and allOf, and follows references within the
// schema; an object that is absent is not made up to hold defaults. It returns
// value itself, not a copy, when nothing is to be filled in, and the error of
// [Schema.Compile] when the schema cannot be used. The value must be one strict
// JSON value; whether it is valid shows afterwards, with [Schema.Validate].
func (s *Schema) Defaults(value jsontext.Value) (jsontext.Value, error) {
	if s == nil {
		return value, nil
	}
	if err := s.Compile(); err != nil {
		return nil, err
	}
	s.filled.Do(func() { s.filler = newFiller(s.JSON()) })
	if s.filler == nil {
		return value, nil
	}
	f := filling{left: walkBudget + walkByteBudget*len(value)}
	filled, changed := f.value(s.filler, value)
	if f.left < 0 {
		return nil, errors.New("fill in defaults: value is " + tooLarge)
	}
	if !changed {
		return value, nil
	}
	return filled, nil
}

// filler says what to fill into values at one place of a schema.
type filler struct {
	members []fillMember
	known   map[string]*filler // the members that the schema names
	others  *filler            // for members that are not named; may be nil
	items   *filler            // may be nil
	also    []*filler          // for the same value
	useful  bool               // whether there is a default here or below
}

type fillMember struct {
	name  string
	value []byte
}

// newFiller returns nil when the schema has no defaults.
func newFiller(text []byte) *filler {
	c := fillCompiler{root: text, seen: map[string]*filler{}, left: maxObjects}
	root := c.filler(text)
	for changed := true; changed; {
		changed = false
		for _, f := range slices.Backward(c.all) { // parts come after the whole
			if !f.useful && f.anyUseful() {
				f.useful, changed = true, true
			}
		}
	}
	if root == nil || !root.useful {
		return nil
	}
	return root
}

func (f *filler) anyUseful() bool {
	useful := func(f *filler) bool { return f != nil && f.useful }
	found := len(f.members) > 0 || useful(f.others) || useful(f.items)
	for _, sub := range f.known {
		found = found || useful(sub)
	}
	for _, sub := range f.also {
		found = found || useful(sub)
	}
	return found
}

type fillCompiler struct {
	root []byte
	seen map[string]*filler // by reference
	all  []*filler
	left int // places that may still be looked at
}

// filler compiles a subschema. It returns nil for what is no object.
func (c *fillCompiler) filler(text []byte) *filler {
	if c.left--; c.left < 0 || jsonscan.KindOf(text) != jsonscan.Object {
		return nil
	}
	f := &filler{known: map[string]*filler{}}
	c.all = append(c.all, f)
	for word, value := range jsonscan.Members(text) {
		switch string(word) {
		case "properties":
			for name, sub := range jsonscan.Members(value) {
				f.known[string(name)] = c.filler(sub)
				if fallback := jsonscan.Get(sub, "default"); fallback != nil {
					f.members = append(f.members, fillMember{string(name), fallback})
				}
			}
		case "additionalProperties":
			f.others = c.filler(value)
		case "items":
			f.items = c.filler(value)
		case "allOf":
			for sub := range jsonscan.Elements(value) {
				f.add(c.filler(sub))
			}
		case "$ref":
			f.add(c.reference(jsonscan.Unquote(value)))
		}
	}
	return f
}

func (f *filler) add(sub *filler) {
	if sub != nil {
		f.also = append(f.also, sub)
	}
}

// reference compiles what a reference within the schema leads to, once.
func (c *fillCompiler) reference(ref string) *filler {
	if f, ok := c.seen[ref]; ok {
		return f
	}
	target := follow(c.root, ref)
	if target == nil {
		return nil
	}
	f := &filler{known: map[string]*filler{}}
	c.all = append(c.all, f)
	c.seen[ref] = f
	f.add(c.filler(target))
	return f
}
