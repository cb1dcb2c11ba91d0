package schema

import (
	"bytes"
	"slices"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// plan is the compiled form of a schema.
type plan struct {
	root    *node
	dynamic bool // whether a reference depends on the way to it
}

// node is one subschema. Its zero value accepts everything.
type node struct {
	never    bool  // the schema false
	ref      *node // stands for this node; nothing else counts then
	types    typeSet
	constant *constant
	enum     []constant          // nil when any value may stand
	texts    map[string]struct{} // the strings of a long enum
	numberRules
	stringRules
	arrayRules
	objectRules
	logic  *logic // nil when no keyword combines schemas
	at     where  // it stands in the schema
	says   int    // how many keywords say something about values
	weight int    // see weigher
}

type numberRules struct {
	minimum, maximum *bound
	above, below     *bound // exclusiveMinimum and exclusiveMaximum
	multipleOf       *multiple
}

type stringRules struct {
	minLength int
	maxLength *int
	pattern   *pattern
}

type arrayRules struct {
	minItems   int
	maxItems   *int
	prefix     []*node // for the first items
	items      *node   // for the others; nil accepts them
	contains   *contains
	unique     bool
	looksAtAll bool // whether any of the above needs the items
}

// contains is the keyword of that name with minContains and maxContains.
type contains struct {
	node      *node
	least     int
	most      *int
	evaluates bool // whether the items that it finds count as evaluated
}

type objectRules struct {
	properties  []property
	byName      map[string]int // into properties, when there are many
	required    int            // how many of the properties must be there
	patterns    []patternRule
	additional  *node // for all other members; nil accepts them
	names       *node // for the names of members
	dependents  []dependent
	minMembers  int
	maxMembers  *int
	looksInside bool // whether any of the above needs the members
}

// property is a member that the schema names.
type property struct {
	name     string
	node     *node // nil when only the keyword required names it
	required bool
	fallback []byte // the default; nil when there is none
}

// patternRule is a part of patternProperties.
type patternRule struct {
	*pattern
	node *node
}

// dependent is what an object must fulfil when it has the named member.
type dependent struct {
	name  string
	needs []string
	node  *node // may be nil
}

// logic is what applies further schemas to the same value.
type logic struct {
	refs          []*node // references beside other keywords
	dynamic       *dynamicRef
	all, any, one []*node
	not           *node
	condition     *node // if
	then, orElse  *node
	otherMembers  *node // unevaluatedProperties
	otherItems    *node // unevaluatedItems
}

// dynamicRef is a reference to the outermost anchor of a name on the way here.
type dynamicRef struct {
	name string
	to   *node   // what it means without others on the way
	all  []*node // what it may mean
}

// The schemas true and false.
var (
	always = &node{weight: 1}
	never  = &node{never: true, weight: 1}
)

// few is how many properties are searched one by one.
const few = 8

func (n *node) property(name []byte) *property {
	if n.byName != nil {
		if i, ok := n.byName[string(name)]; ok {
			return &n.properties[i]
		}
		return nil
	}
	for i := range n.properties {
		if n.properties[i].name == string(name) {
			return &n.properties[i]
		}
	}
	return nil
}

// listed reports whether enum has the value.
func (n *node) listed(value []byte) bool {
	if n.texts != nil && jsonscan.KindOf(value) == jsonscan.String {
		inner := unquoted(value)
		if bytes.IndexByte(inner, '\\') < 0 {
			_, ok := n.texts[string(inner)]
			return ok
		}
	}
	for i := range n.enum {
		if n.enum[i].equals(value) {
			return true
		}
	}
	return false
}

// require marks the named members as required.
func (n *node) require(names []string) {
	if len(names) == 0 {
		return
	}
	known := make(map[string]int, len(n.properties))
	for i, p := range n.properties {
		known[p.name] = i
	}
	for _, name := range names {
		if i, ok := known[name]; ok {
			n.properties[i].required = true
		} else {
			n.properties = append(n.properties, property{name: name, required: true})
		}
	}
	n.required = len(names)
}

// finish prepares what keywords left to be done together.
func (n *node) finish() {
	if len(n.properties) > few {
		n.byName = make(map[string]int, len(n.properties))
		for i, p := range n.properties {
			n.byName[p.name] = i
		}
	}
	if len(n.enum) > few {
		n.texts = make(map[string]struct{}, len(n.enum))
		for _, c := range n.enum {
			if c.kind == jsonscan.String {
				n.texts[c.text] = struct{}{}
			}
		}
	}
	n.looksInside = len(n.properties) > 0 || len(n.patterns) > 0 || n.additional != nil || n.names != nil ||
		len(n.dependents) > 0 || n.minMembers > 0 || n.maxMembers != nil
	n.looksAtAll = len(n.prefix) > 0 || n.items != nil || n.contains != nil || n.unique || n.minItems > 0 || n.maxItems != nil
}

// typeSet is a set of the types of the keyword type; the empty set accepts all.
type typeSet byte

const (
	typeNull typeSet = 1 << iota
	typeBoolean
	typeInteger
	typeNumber
	typeString
	typeArray
	typeObject
)

// typeNames has the types' names, in the order of their bits.
var typeNames = [...]string{"null", "boolean", "integer", "number", "string", "array", "object"}

func typeOf(name string) (typeSet, bool) {
	i := slices.Index(typeNames[:], name)
	if i < 0 {
		return 0, false
	}
	return 1 << i, true
}

// names lists the members of the set.
func (t typeSet) names() []string {
	var names []string
	for i, name := range typeNames {
		if t&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// accepts reports whether a value is of one of the types.
func (t typeSet) accepts(kind jsonscan.Kind, value []byte) bool {
	if t == 0 {
		return true
	}
	switch kind {
	case jsonscan.Null:
		return t&typeNull != 0
	case jsonscan.Bool:
		return t&typeBoolean != 0
	case jsonscan.Number:
		return t&typeNumber != 0 || t&typeInteger != 0 && isInteger(value)
	case jsonscan.String:
		return t&typeString != 0
	case jsonscan.Array:
		return t&typeArray != 0
	case jsonscan.Object:
		return t&typeObject != 0
	}
	return false
}
