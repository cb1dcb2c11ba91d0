package schema

import (
	"fmt"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// asserts compiles a keyword that says something about values. It returns false
// when the keyword cannot have the value.
func (p *planner) asserts(b *building, word string, value []byte) (ok bool) {
	switch word {
	case "type":
		b.types, ok = typesOf(value)
	case "const":
		c := newConstant(value)
		b.constant, ok = &c, true
	case "enum":
		if ok = jsonscan.KindOf(value) == jsonscan.Array; ok {
			b.enum = newConstants(value)
		}
	case "required":
		b.required, ok = stringsOf(value)
	case "uniqueItems":
		b.unique, ok = value[0] == 't', jsonscan.KindOf(value) == jsonscan.Bool
	case "minimum":
		b.minimum, ok = boundOf(value)
	case "maximum":
		b.maximum, ok = boundOf(value)
	case "exclusiveMinimum":
		if b.at.dialect == draft4 {
			b.strictMin, ok = value[0] == 't', jsonscan.KindOf(value) == jsonscan.Bool
			break
		}
		b.above, ok = boundOf(value)
	case "exclusiveMaximum":
		if b.at.dialect == draft4 {
			b.strictMax, ok = value[0] == 't', jsonscan.KindOf(value) == jsonscan.Bool
			break
		}
		b.below, ok = boundOf(value)
	case "multipleOf":
		b.multipleOf, ok = p.multiple(value)
	case "pattern":
		if ok = jsonscan.KindOf(value) == jsonscan.String; ok {
			b.pattern, ok = p.pattern(jsonscan.Unquote(value))
		}
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains":
		ok = b.counts(word, value)
	default:
		ok = p.applies(b, word, value)
	}
	return ok
}

func (b *building) counts(word string, value []byte) bool {
	count, ok := countOf(value)
	switch word {
	case "minLength":
		b.minLength = count
	case "maxLength":
		b.maxLength = &count
	case "minItems":
		b.minItems = count
	case "maxItems":
		b.maxItems = &count
	case "minProperties":
		b.minMembers = count
	case "maxProperties":
		b.maxMembers = &count
	case "minContains":
		b.least = &count
	case "maxContains":
		b.most = &count
	}
	return ok
}

// applies compiles a keyword that applies schemas to parts of a value.
func (p *planner) applies(b *building, word string, value []byte) (ok bool) {
	switch word {
	case "properties":
		ok = p.properties(b, value)
	case "patternProperties":
		ok = p.patterns(b, value)
	case "additionalProperties":
		b.additional, ok = p.part(b, value)
	case "propertyNames":
		b.names, ok = p.part(b, value)
	case "dependencies", "dependentSchemas", "dependentRequired":
		ok = p.dependents(b, word, value)
	case "prefixItems":
		b.prefix, ok = p.parts(b, value)
	case "items":
		if b.at.dialect < draft2020 && jsonscan.KindOf(value) == jsonscan.Array {
			b.tuple = true
			b.prefix, ok = p.parts(b, value)
			break
		}
		b.items, ok = p.part(b, value)
	case "additionalItems":
		b.rest, ok = p.part(b, value)
	case "contains":
		b.contains = &contains{least: 1, evaluates: b.at.dialect >= draft2020}
		b.contains.node, ok = p.part(b, value)
	default:
		ok = p.combines(b, word, value)
	}
	return ok
}

// combines compiles a keyword that applies schemas to the value itself.
func (p *planner) combines(b *building, word string, value []byte) (ok bool) {
	if b.logic == nil {
		b.logic = new(logic)
	}
	switch word {
	case "allOf":
		b.logic.all, ok = p.parts(b, value)
	case "anyOf":
		b.logic.any, ok = p.parts(b, value)
	case "oneOf":
		b.logic.one, ok = p.parts(b, value)
	case "not":
		b.logic.not, ok = p.part(b, value)
	case "if":
		b.logic.condition, ok = p.part(b, value)
	case "then":
		b.logic.then, ok = p.part(b, value)
	case "else":
		b.logic.orElse, ok = p.part(b, value)
	case "unevaluatedProperties":
		b.logic.otherMembers, ok = p.part(b, value)
	case "unevaluatedItems":
		b.logic.otherItems, ok = p.part(b, value)
	case "contentSchema":
		_, ok = p.part(b, value) // never applied
	}
	return ok
}

func (p *planner) part(b *building, text []byte) (*node, bool) {
	n := p.node(text, b.at)
	return n, n != nil
}

// parts compiles an array of schemas, which must not be empty.
func (p *planner) parts(b *building, list []byte) ([]*node, bool) {
	if jsonscan.KindOf(list) != jsonscan.Array {
		return nil, false
	}
	var nodes []*node
	for text := range jsonscan.Elements(list) {
		p.enterItem(len(nodes))
		n := p.node(text, b.at)
		if n == nil {
			return nil, false
		}
		p.leave()
		nodes = append(nodes, n)
	}
	return nodes, len(nodes) > 0
}

// each compiles the members of an object of schemas, one after the other.
func (p *planner) each(value []byte, compile func(name string, text []byte) bool) bool {
	if jsonscan.KindOf(value) != jsonscan.Object {
		return false
	}
	for raw, text := range jsonscan.Members(value) {
		name := string(raw)
		p.enter(name)
		if !compile(name, text) {
			return false
		}
		p.leave()
	}
	return true
}

func (p *planner) properties(b *building, value []byte) bool {
	size := 0
	for range jsonscan.Members(value) {
		size++
	}
	b.properties = make([]property, 0, size)
	return p.each(value, func(name string, text []byte) bool {
		n := p.node(text, b.at)
		fallback := jsonscan.Get(text, "default")
		if b.at.lacks&metadata != 0 {
			fallback = nil
		}
		b.properties = append(b.properties, property{name: name, node: n, fallback: fallback})
		return n != nil
	})
}

func (p *planner) patterns(b *building, value []byte) bool {
	return p.each(value, func(name string, text []byte) bool {
		re, ok := p.pattern(name)
		if !ok {
			return false
		}
		n := p.node(text, b.at)
		b.node.patterns = append(b.node.patterns, patternRule{re, n})
		return n != nil
	})
}

func (p *planner) dependents(b *building, word string, value []byte) bool {
	return p.each(value, func(name string, text []byte) (ok bool) {
		d := dependent{name: name}
		if word == "dependentRequired" || word == "dependencies" && jsonscan.KindOf(text) == jsonscan.Array {
			d.needs, ok = stringsOf(text)
		} else {
			d.node, ok = p.part(b, text)
		}
		b.node.dependents = append(b.node.dependents, d)
		return ok
	})
}

func (p *planner) pattern(text string) (*pattern, bool) {
	re, err := newPattern(text)
	if err != nil {
		return nil, p.fail(err)
	}
	return re, p.spend(patternCost + stepCost*re.steps)
}

func (p *planner) multiple(value []byte) (*multiple, bool) {
	if jsonscan.KindOf(value) != jsonscan.Number || newDecimal(value).sign() <= 0 {
		return nil, false
	}
	m, ok := newMultiple(value)
	return m, ok || p.fail(fmt.Errorf("%s has more digits than can be checked", cut(value)))
}
