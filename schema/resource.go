package schema

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// base is the address of a schema that does not say its own. Relative references
// that leave the schema resolve against it, and lead nowhere.
const base = "schema://local/this-very-schema"

// resource is a schema with an address, and with names for its parts.
type resource struct {
	uri         string // without fragment
	text        []byte
	language    // of the schema, unless a part says otherwise
	root        *node
	anchors     map[string]*node
	dynamic     map[string]*node // of those, the dynamic ones
	definitions map[string]*node // by JSON pointer; a shortcut
}

// where says what a subschema belongs to.
type where struct {
	in *resource
	language
}

// recursive is the name under which 2019-09 has its one dynamic anchor. No
// fragment can spell it.
const recursive = "\x00"

// maxAddress bounds the bytes of an address.
const maxAddress = 2_000

// document compiles a whole text. It returns nil when it fails.
func (p *planner) document(uri string, text []byte) *node {
	l := language{dialect: p.given.dialect}
	if l.dialect == 0 {
		l.dialect = draft2020
	}
	r := &resource{uri: uri, text: text, language: l}
	p.resources[uri] = r
	n := p.node(text, where{r, l})
	r.root = n
	return n
}

// identify reads what a schema says about itself: its dialect, its address, and
// its anchors.
func (p *planner) identify(n *node, text []byte, members []textMember) bool {
	for _, m := range members {
		if m.name != "$schema" {
			continue
		}
		l, err := p.language(m.value)
		if err != nil {
			return p.fail(err)
		}
		if n == n.at.in.root {
			n.at.in.language = l
		} else if l != n.at.language {
			p.mixed = true
		}
		p.mixed = p.mixed || l.lacks != 0
		n.at.language = l
	}
	if !p.address(n, text, members) {
		return false
	}
	for _, m := range members {
		if !n.at.knows(m.name) {
			continue
		}
		switch m.name {
		case "$anchor", "$dynamicAnchor":
			p.enter(m.name)
			if jsonscan.KindOf(m.value) != jsonscan.String || !isAnchor(jsonscan.Unquote(m.value)) {
				return p.misuse()
			}
			if !p.anchor(n, jsonscan.Unquote(m.value), m.name == "$dynamicAnchor") {
				return false
			}
			p.leave()
		case "$recursiveAnchor":
			if n == n.at.in.root && string(m.value) == "true" && !p.anchor(n, recursive, true) {
				return false
			}
		}
	}
	return true
}

// address reads $id, which makes a schema a resource of its own. In older
// dialects it can be an anchor as well, and counts for nothing beside $ref.
func (p *planner) address(n *node, text []byte, members []textMember) bool {
	word, older := "$id", n.at.dialect <= draft7
	if n.at.dialect == draft4 {
		word = "id"
	}
	if older && hasMember(members, "$ref") {
		return true
	}
	for _, m := range members {
		if m.name != word {
			continue
		}
		p.enter(word)
		if jsonscan.KindOf(m.value) != jsonscan.String {
			return p.misuse()
		}
		id, fragment, _ := strings.Cut(jsonscan.Unquote(m.value), "#")
		if fragment != "" && !older {
			return p.misuse()
		}
		if id != "" && !p.settle(n, text, id) {
			return false
		}
		if fragment != "" && fragment[0] != '/' && !p.anchor(n, fragment, false) {
			return false
		}
		p.leave()
	}
	return true
}

// settle gives a schema its address.
func (p *planner) settle(n *node, text []byte, id string) bool {
	uri, ok := p.join(n.at.in.uri, id)
	if !ok {
		return false
	}
	own := n.at.in
	if n != own.root {
		own = &resource{text: text, language: n.at.language, root: n}
		n.at.in = own
	}
	own.uri = uri
	if other := p.resources[uri]; other != nil && other != own {
		return p.fail(fmt.Errorf("duplicate id %s", local(uri)))
	}
	p.resources[uri] = own
	return true
}

func (p *planner) anchor(n *node, name string, dynamic bool) bool {
	r := n.at.in
	if r.anchors == nil {
		r.anchors, r.dynamic = map[string]*node{}, map[string]*node{}
	}
	if other := r.anchors[name]; other != nil && other != n {
		return p.fail(fmt.Errorf("duplicate anchor %s", quoted(name)))
	}
	r.anchors[name] = n
	if dynamic {
		r.dynamic[name] = n
		p.anchors[name] = append(p.anchors[name], n)
	}
	return true
}

// isAnchor reports whether a name may be an anchor's.
func isAnchor(name string) bool {
	for i, c := range []byte(name) {
		letter := c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || c != '-' && c != '.' && (c < '0' || c > '9')) {
			return false
		}
	}
	return name != ""
}

// define compiles definitions, which say nothing unless they are referred to.
func (p *planner) define(n *node, word string, value []byte) bool {
	r := n.at.in
	ok := p.each(value, func(name string, text []byte) bool {
		def := p.node(text, n.at)
		if n == r.root && !strings.ContainsAny(name, "/~") {
			if r.definitions == nil {
				r.definitions = map[string]*node{}
			}
			r.definitions["/"+word+"/"+name] = def
		}
		return def != nil
	})
	return ok || p.misuse()
}

// join resolves an address that may be relative.
func (p *planner) join(from, to string) (string, bool) {
	if len(from)+len(to) > maxAddress {
		return "", p.fail(fmt.Errorf("address %s is too long", quoted(to)))
	}
	if !p.spend(addressCost * (len(from) + len(to))) {
		return "", false
	}
	target, err := url.Parse(to)
	if err != nil {
		return "", p.fail(fmt.Errorf("address %s is malformed", quoted(to)))
	}
	if !target.IsAbs() {
		start, err := url.Parse(from)
		if err != nil {
			return "", p.fail(fmt.Errorf("address %s is malformed", quoted(from)))
		}
		target = start.ResolveReference(target)
	}
	return target.String(), true
}

// errExternal is why a reference to another document is refused.
var errExternal = errors.New("external references are not fetched")

// lookup finds a resource by its address. Only metaschemas and the documents are
// known beside the schema's own.
func (p *planner) lookup(uri string) *resource {
	if r := p.resources[uri]; r != nil {
		return r
	}
	var text []byte
	var err error
	if d := dialectNamed(uri); d != 0 {
		text = []byte(metaschema(d))
	} else {
		text, err = p.load(uri)
	}
	if err != nil {
		p.fail(fmt.Errorf("reference to %s: %w", local(uri), err))
		return nil
	}
	if p.document(uri, text) == nil {
		return nil
	}
	return p.resources[uri]
}

// local returns an address as its author wrote it, more or less.
func local(uri string) string {
	return quoted(strings.TrimPrefix(strings.TrimPrefix(uri, base), "schema://local/"))
}
