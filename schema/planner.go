package schema

import (
	"bytes"
	"strings"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// planner compiles the text of one schema into a plan.
type planner struct {
	dialect     dialect
	root        *node
	definitions map[string]*node   // by reference, such as #/$defs/tree
	references  map[*node]string   // what each reference names
	required    map[*node][]string // until the properties are known
}

// newPlan returns errNotPlanned for schemas that the library must judge.
func newPlan(text []byte, d dialect) (*plan, error) {
	switch d {
	case 0, draft2020, draft2019, draft7:
	default:
		return nil, errNotPlanned
	}
	p := &planner{dialect: d, definitions: map[string]*node{}, references: map[*node]string{}, required: map[*node][]string{}}
	p.root = new(node)
	if !p.fill(p.root, text) {
		return nil, errNotPlanned
	}
	if err := p.link(); err != nil {
		return nil, err
	}
	return &plan{root: p.root}, nil
}

// link turns references into what they lead to, however long the way.
func (p *planner) link() error {
	for n, to := range p.references {
		if n.ref = p.definitions[to]; to == "#" {
			n.ref = p.root
		}
		if n.ref == nil {
			return errNotPlanned
		}
	}
	for n := range p.references {
		end := n
		for steps := 0; end.ref != nil; end = end.ref {
			if steps++; steps > len(p.references) {
				return errEndless
			}
		}
		for n != end { // shorten the way for all on it
			next := n.ref
			n.ref = end
			n = next
		}
	}
	return nil
}

// node compiles a subschema. False means that it cannot be planned, here and in
// the other methods.
func (p *planner) node(text []byte) (*node, bool) {
	n := new(node)
	return n, p.fill(n, text)
}

func (p *planner) fill(n *node, text []byte) bool {
	switch jsonscan.KindOf(text) {
	case jsonscan.Bool:
		n.never = text[0] == 'f'
		return true
	case jsonscan.Object:
	default:
		return false
	}
	alone := true // only annotations beside a reference
	for name, value := range jsonscan.Members(text) {
		switch word := string(name); {
		case annotates(word, value) || word == "$schema" && n == p.root:
		case word == "$ref":
			if jsonscan.KindOf(value) != jsonscan.String {
				return false
			}
			to, ok := definition(unquoted(value))
			if !ok {
				return false
			}
			p.references[n] = to
		case word == "$defs" || word == "definitions":
			if !p.define(n, word, value) {
				return false
			}
		default:
			alone = false
			if !p.asserts(n, word, value) {
				return false
			}
		}
	}
	n.require(p.required[n])
	n.finish()
	_, refers := p.references[n]
	return alone || !refers
}

// annotates reports whether a keyword says nothing about values. Words that no
// dialect knows annotate; reserved ones do not.
func annotates(word string, value []byte) bool {
	kind := jsonscan.KindOf(value)
	switch word {
	case "title", "description", "$comment", "format", "contentEncoding", "contentMediaType":
		return kind == jsonscan.String
	case "deprecated", "readOnly", "writeOnly":
		return kind == jsonscan.Bool
	case "examples":
		return kind == jsonscan.Array
	case "default":
		return true
	}
	return !reserved(word)
}

// reserved reports whether some dialect has the keyword as more than an
// annotation.
func reserved(word string) bool {
	switch word {
	case "$schema", "$id", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$vocabulary", "$defs", "definitions",
		"type", "enum", "const", "allOf", "anyOf", "oneOf", "not", "if", "then", "else",
		"properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties", "maxProperties",
		"dependencies", "dependentRequired", "dependentSchemas", "unevaluatedProperties",
		"items", "prefixItems", "additionalItems", "contains", "minContains", "maxContains", "minItems", "maxItems", "uniqueItems", "unevaluatedItems",
		"minLength", "maxLength", "pattern", "contentSchema",
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return true
	}
	return false
}

// definition returns a reference's text if it leads to the root or to a
// definition under a plain name.
func definition(ref []byte) (string, bool) {
	for _, prefix := range []string{"#/$defs/", "#/definitions/"} {
		if name, ok := bytes.CutPrefix(ref, []byte(prefix)); ok {
			return string(ref), len(name) > 0 && !bytes.ContainsAny(name, `/~%\"`)
		}
	}
	return "#", string(ref) == "#"
}

func (p *planner) define(n *node, word string, value []byte) bool {
	if jsonscan.KindOf(value) != jsonscan.Object {
		return false
	}
	for name, text := range jsonscan.Members(value) {
		def, ok := p.node(text)
		if !ok {
			return false
		}
		if n == p.root && !strings.ContainsAny(string(name), `/~%\"`) {
			p.definitions["#/"+word+"/"+string(name)] = def
		}
	}
	return true
}

// asserts compiles a keyword that says something about values.
func (p *planner) asserts(n *node, word string, value []byte) (ok bool) {
	switch word {
	case "type":
		n.types, ok = typesOf(value)
	case "const":
		c := newConstant(value)
		n.constant, ok = &c, true
	case "enum":
		n.enum, ok = p.enum(value)
	case "properties":
		ok = p.properties(n, value)
	case "required":
		p.required[n], ok = stringsOf(value)
	case "additionalProperties":
		n.additional, ok = p.node(value)
		n.closed = ok && n.additional.never
	case "items":
		n.items, ok = p.node(value)
	case "minimum":
		n.minimum, ok = boundOf(value)
	case "maximum":
		n.maximum, ok = boundOf(value)
	case "exclusiveMinimum":
		n.above, ok = boundOf(value)
	case "exclusiveMaximum":
		n.below, ok = boundOf(value)
	case "pattern":
		n.pattern, ok = patternOf(value)
	default:
		ok = n.counts(word, value)
	}
	return ok
}

func (n *node) counts(word string, value []byte) bool {
	count, ok := countOf(value)
	if !ok {
		return false
	}
	switch word {
	case "minLength":
		n.minLength = count
	case "maxLength":
		n.maxLength = &count
	case "minItems":
		n.minItems = count
	case "maxItems":
		n.maxItems = &count
	case "minProperties":
		n.minMembers = count
	case "maxProperties":
		n.maxMembers = &count
	default:
		return false
	}
	return true
}

func (p *planner) properties(n *node, value []byte) bool {
	if jsonscan.KindOf(value) != jsonscan.Object {
		return false
	}
	for name, text := range jsonscan.Members(value) {
		child, ok := p.node(text)
		if !ok {
			return false
		}
		n.properties = append(n.properties, property{name: string(name), node: child})
	}
	return true
}

// enum compiles the allowed values. Before 2019-09 there must be one at least,
// and none twice.
func (p *planner) enum(value []byte) ([]constant, bool) {
	if jsonscan.KindOf(value) != jsonscan.Array {
		return nil, false
	}
	values := newConstants(value)
	if p.dialect != draft7 {
		return values, true
	}
	if len(values) == 0 || len(values) > 100 {
		return nil, false
	}
	for i := range values {
		for j := range i {
			if values[i].equals(values[j].raw) {
				return nil, false
			}
		}
	}
	return values, true
}
