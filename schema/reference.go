package schema

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// reference is a keyword that leads from one node to another.
type reference struct {
	from  *node
	word  string
	to    string
	alone bool // no other keyword says anything beside it
}

// errEndless is a reference that comes back to itself before it reaches a schema
// that looks into the value.
var errEndless = errors.New("a reference leads back to itself without end")

func (p *planner) refer(b *building, word string, value []byte) bool {
	if jsonscan.KindOf(value) != jsonscan.String {
		return p.misuse()
	}
	b.references = append(b.references, len(p.references))
	p.references = append(p.references, reference{from: b.node, word: word, to: jsonscan.Unquote(value)})
	return true
}

// link finds what references lead to. That may compile more, with references of
// its own.
func (p *planner) link() bool {
	p.path = nil
	for i := 0; i < len(p.references); i++ {
		r := p.references[i]
		to, name, ok := p.resolve(r.to, r.from.at)
		if !ok {
			return false
		}
		if r.word == "$recursiveRef" {
			name = recursive
		}
		switch {
		case r.word != "$ref" && to.at.in != nil && to.at.in.dynamic[name] == to:
			p.dynamic = true
			r.from.combine().dynamic = &dynamicRef{name: name, to: to}
		case r.alone:
			r.from.ref = to
		default:
			l := r.from.combine()
			l.refs = append(l.refs, to)
		}
	}
	if !p.dynamic {
		return p.shorten()
	}
	for _, n := range p.every {
		if n.logic != nil && n.logic.dynamic != nil {
			n.logic.dynamic.all = p.anchors[n.logic.dynamic.name]
		}
	}
	return true
}

func (n *node) combine() *logic {
	if n.logic == nil {
		n.logic = new(logic)
	}
	return n.logic
}

// shorten makes references lead straight to their end, however long the way.
// Where the way counts it stays as it is.
func (p *planner) shorten() bool {
	for _, r := range p.references {
		n, end := r.from, r.from
		for steps := 0; end.ref != nil; end = end.ref {
			if steps++; steps > len(p.references) {
				return p.fail(errEndless)
			}
		}
		for n != end {
			n, n.ref = n.ref, end
		}
	}
	return true
}

// resolve returns the node that a reference leads to, and the name of the anchor
// if it is by name.
func (p *planner) resolve(ref string, at where) (to *node, name string, ok bool) {
	uri, fragment, _ := strings.Cut(ref, "#")
	r := at.in
	if uri != "" {
		if uri, ok = p.join(r.uri, uri); !ok {
			return nil, "", false
		}
		if r = p.lookup(uri); r == nil {
			return nil, "", false
		}
	}
	if strings.Contains(fragment, "%") {
		plain, err := url.PathUnescape(fragment)
		if err != nil {
			return nil, "", p.fail(fmt.Errorf("reference to %s is malformed", quoted(ref)))
		}
		fragment = plain
	}
	switch {
	case fragment == "":
		to = r.root
	case fragment[0] == '/':
		to = p.pointer(r, fragment)
	default:
		name = fragment
		to = r.anchors[name]
	}
	if to == nil {
		return nil, "", p.fail(fmt.Errorf("reference to %s leads nowhere", quoted(ref)))
	}
	return to, name, true
}

// pointer returns the node that a JSON pointer leads to within a resource. What
// stands there may not have been taken for a schema before.
func (p *planner) pointer(r *resource, pointer string) *node {
	if n := r.definitions[pointer]; n != nil {
		return n
	}
	text, at := r.text, where{r, r.language}
	steps := strings.Split(pointer[1:], "/")
	for _, step := range steps {
		if !p.spend(len(text)) {
			return nil
		}
		if text = descend(text, step); text == nil {
			return nil
		}
		if n := p.nodes[&text[0]]; n != nil {
			at = n.at
		}
	}
	if n := p.nodes[&text[0]]; n != nil {
		return n
	}
	if kind := jsonscan.KindOf(text); kind != jsonscan.Object && kind != jsonscan.Bool {
		p.fail(fmt.Errorf("reference to %s leads to what is no schema", quoted("#"+pointer)))
		return nil
	}
	for _, step := range steps {
		p.enter(step)
	}
	n := p.node(text, at)
	p.path = nil
	return n
}

// descend returns a member or an item as a step of a JSON pointer names it, nil
// when there is none.
func descend(text []byte, step string) []byte {
	if jsonscan.KindOf(text) == jsonscan.Object {
		return jsonscan.Get(text, strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
	}
	index, err := strconv.Atoi(step)
	if err != nil || index < 0 {
		return nil
	}
	for item := range jsonscan.Elements(text) {
		if index == 0 {
			return item
		}
		index--
	}
	return nil
}
