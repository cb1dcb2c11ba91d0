package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// planner compiles the text of one schema into a plan.
type planner struct {
	given      *Schema           // what came with the text
	loaded     map[string][]byte // of its documents
	left       int               // what may still be spent, see spend
	resources  map[string]*resource
	nodes      map[*byte]*node // by the first byte of their text
	every      []*node
	anchors    map[string][]*node // the dynamic ones of all resources, by name
	references []reference
	members    []textMember // of the objects that are being compiled
	path       []step       // to what is being compiled
	dynamic    bool         // whether a reference depends on the way to it
	mixed      bool         // whether not all is of one whole dialect
	err        error        // the first
	misused    bool         // whether err is a keyword with a value that it cannot have
}

type textMember struct {
	name  string
	value []byte
}

// step is a member's name, or an index if there is no name.
type step struct {
	name  string
	index int
}

// building is a node on its way, with what only counts beside other keywords.
type building struct {
	*node
	required             []string
	strictMin, strictMax bool  // exclusiveMinimum and exclusiveMaximum of draft-04
	tuple                bool  // items is a list
	rest                 *node // additionalItems
	least, most          *int  // minContains and maxContains
	references           []int // into the planner's
}

// newPlan compiles a schema that is within the limits of size.
func newPlan(text []byte, s *Schema) (*plan, error) {
	p := &planner{given: s, left: compileBudget, resources: map[string]*resource{}, nodes: map[*byte]*node{}, anchors: map[string][]*node{}}
	root := p.document(base, text)
	if root != nil && p.link() && p.weigh() {
		return &plan{root: root, dynamic: p.dynamic}, nil
	}
	if p.misused && !p.mixed {
		return nil, misuse(text, p.resources[base].dialect, p.err)
	}
	return nil, p.err
}

// fail records an error at the current path and returns false, which makes all
// callers give up.
func (p *planner) fail(err error) bool {
	if p.err != nil {
		return false
	}
	var b strings.Builder
	for i, s := range p.path {
		if s.index >= 0 {
			b.WriteString(itemStep(s.index))
		} else {
			b.WriteString(memberStep(s.name, i == 0))
		}
	}
	if p.err = err; b.Len() > 0 {
		p.err = fmt.Errorf("%s: %w", shorten(b.String(), 400), err)
	}
	return false
}

// misuse is fail for a keyword whose value is of the wrong form.
func (p *planner) misuse() bool {
	p.misused = p.misused || p.err == nil
	return p.fail(errors.New("has a value that it cannot have"))
}

// spend takes a price off what is left, in units of about a byte looked at.
func (p *planner) spend(price int) bool {
	if p.left -= price; p.left >= 0 {
		return true
	}
	p.path = nil
	return p.fail(errors.New("too large: too much nesting, or too many identifiers or references"))
}

func (p *planner) enter(name string) { p.path = append(p.path, step{name, -1}) }
func (p *planner) enterItem(i int)   { p.path = append(p.path, step{"", i}) }
func (p *planner) leave()            { p.path = p.path[:len(p.path)-1] }

// node compiles a subschema. It returns nil when it fails.
func (p *planner) node(text []byte, at where) *node {
	switch jsonscan.KindOf(text) {
	case jsonscan.Bool:
		if text[0] == 'f' {
			return never
		}
		return always
	case jsonscan.Object:
		n := &node{at: at}
		if at.in.root == nil {
			at.in.root = n
		}
		p.nodes[&text[0]] = n
		p.every = append(p.every, n)
		if p.spend(2*len(text)) && p.fill(n, text) {
			return n
		}
		return nil
	}
	p.misuse()
	return nil
}

// fill compiles an object. The members are set aside first, since what a schema
// is called and which dialect it is of must be known before its parts.
func (p *planner) fill(n *node, text []byte) bool {
	first := len(p.members)
	for name, value := range jsonscan.Members(text) {
		p.members = append(p.members, textMember{string(name), value})
	}
	last := len(p.members)
	if !p.identify(n, text, p.members[first:last]) {
		return false
	}
	b := &building{node: n}
	alone := n.at.dialect <= draft7 && hasMember(p.members[first:last], "$ref") // which has no say beside it
	for i := first; i < last; i++ {
		m := p.members[i] // not by range, since the members of parts come after these
		if !n.at.knows(m.name) {
			continue
		}
		p.enter(m.name)
		if !p.member(b, m.name, m.value, alone) {
			return false
		}
		p.leave()
	}
	p.members = p.members[:first]
	b.settle()
	n.finish()
	if n.says == 0 && len(b.references) == 1 {
		p.references[b.references[0]].alone = true
	}
	return true
}

func hasMember(members []textMember, name string) bool {
	return slices.ContainsFunc(members, func(m textMember) bool { return m.name == name })
}

// member compiles a keyword that the dialect knows.
func (p *planner) member(b *building, word string, value []byte, alone bool) bool {
	switch word {
	case "$ref", "$dynamicRef", "$recursiveRef":
		return p.refer(b, word, value)
	case "$defs", "definitions":
		return p.define(b.node, word, value)
	}
	if alone {
		return true
	}
	if known, ok := annotates(word, value); known {
		return ok || p.misuse()
	}
	b.says++
	return p.asserts(b, word, value) || p.misuse()
}

// annotates reports whether a keyword says nothing about values, and if so,
// whether its value is of the right form.
func annotates(word string, value []byte) (known, ok bool) {
	kind := jsonscan.KindOf(value)
	switch word {
	case "$schema", "$id", "id", "$anchor", "$dynamicAnchor":
		return true, true // identify has seen to them
	case "title", "description", "$comment", "format", "contentEncoding", "contentMediaType":
		return true, kind == jsonscan.String
	case "deprecated", "readOnly", "writeOnly", "$recursiveAnchor":
		return true, kind == jsonscan.Bool
	case "examples":
		return true, kind == jsonscan.Array
	case "$vocabulary":
		return true, kind == jsonscan.Object
	case "default":
		return true, true
	}
	return false, false
}

// settle puts together what keywords say only beside others.
func (b *building) settle() {
	b.require(b.required)
	if b.strictMin {
		b.above, b.minimum = b.minimum, nil
	}
	if b.strictMax {
		b.below, b.maximum = b.maximum, nil
	}
	if b.tuple {
		b.items = b.rest
	}
	if c := b.contains; c != nil {
		if c.most = b.most; b.least != nil {
			c.least = *b.least
		}
	}
}
