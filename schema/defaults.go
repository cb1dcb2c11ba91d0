package schema

import (
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

// Defaults returns value with the members that it lacks and that have a default
// in the schema, in nested objects too. It looks at the keywords properties,
// additionalProperties, prefixItems, items and allOf, and follows $ref; an object that is absent is not made up to hold defaults. It returns
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
	s.filled.Do(func() { s.filler = newFiller(s.plan.root) })
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
	prefix  []*filler          // for the first items
	items   *filler            // for the others; may be nil
	also    []*filler          // for the same value
	users   []*filler          // of which this is a part
	useful  bool               // whether there is a default here or below
}

type fillMember struct {
	name  string
	value []byte
}

// newFiller returns nil when the schema has no defaults.
func newFiller(root *node) *filler {
	c := fillCompiler{seen: map[*node]*filler{}}
	f := c.filler(root, nil)
	for len(c.useful) > 0 {
		last := c.useful[len(c.useful)-1]
		c.useful = c.useful[:len(c.useful)-1]
		if !last.useful {
			last.useful = true
			c.useful = append(c.useful, last.users...)
		}
	}
	if !f.useful {
		return nil
	}
	return f
}

type fillCompiler struct {
	seen   map[*node]*filler
	useful []*filler // that have not been marked yet
}

// filler returns the filler of a node, the same one each time. It is nil for no
// node.
func (c *fillCompiler) filler(n *node, user *filler) *filler {
	if n == nil {
		return nil
	}
	f, ok := c.seen[n]
	if !ok {
		f = new(filler)
		c.seen[n] = f
		c.fill(f, n)
	}
	if user != nil {
		f.users = append(f.users, user)
	}
	return f
}

func (c *fillCompiler) fill(f *filler, n *node) {
	if n.ref != nil {
		f.also = []*filler{c.filler(n.ref, f)}
		return
	}
	if len(n.properties) > 0 {
		f.known = make(map[string]*filler, len(n.properties))
	}
	for _, p := range n.properties {
		if p.node == nil {
			continue // only required
		}
		f.known[p.name] = c.filler(p.node, f)
		if p.fallback != nil {
			f.members = append(f.members, fillMember{p.name, p.fallback})
		}
	}
	if len(n.patterns) == 0 { // with patterns it takes more to know the others
		f.others = c.filler(n.additional, f)
	}
	for _, sub := range n.prefix {
		f.prefix = append(f.prefix, c.filler(sub, f))
	}
	f.items = c.filler(n.items, f)
	if n.logic != nil {
		for _, sub := range append(n.logic.refs[:len(n.logic.refs):len(n.logic.refs)], n.logic.all...) {
			f.also = append(f.also, c.filler(sub, f))
		}
	}
	if len(f.members) > 0 {
		c.useful = append(c.useful, f)
	}
}
