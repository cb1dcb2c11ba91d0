package plain

import (
	"encoding"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// Codec reads and writes values of one type. The nil Codec is sure of nothing.
type Codec struct {
	typ    reflect.Type
	kind   reflect.Kind
	elem   *Codec  // of a pointer or a slice
	fields []field // of a struct

	required uint64 // which fields have to be there, as bits
	exact    bool   // see Exact
	pointers bool   // it is a pointer, or has some in it
}

// field is a member of a struct.
type field struct {
	name     string
	key      string // the name as JSON, with its colon
	index    int
	omitZero bool
	codec    *Codec
}

// Of returns the codec of a type, nil if the type is not plain.
func Of(t reflect.Type) *Codec { return codecOf(t, nil) }

// Exact reports whether the schema that package schema infers from the type says no
// more than the type does. Otherwise ReadExact is sure of nothing.
func (c *Codec) Exact() bool { return c != nil && c.exact }

// Fits reports whether all that Append writes fits the schema that package schema
// infers from the type. A nil pointer may not.
func (c *Codec) Fits() bool { return c.Exact() && !c.pointers }

// codecOf is Of; around are the structs that t is a part of.
func codecOf(t reflect.Type, around []reflect.Type) *Codec {
	if knowsJSON(t) {
		return nil
	}
	c := &Codec{typ: t, kind: t.Kind(), exact: !describesItself(t)}
	switch c.kind {
	case reflect.Bool, reflect.String, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return c
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 { // which is base64, or should be
			return nil
		}
		fallthrough
	case reflect.Pointer:
		if c.elem = codecOf(t.Elem(), around); c.elem == nil {
			return nil
		}
		c.exact = c.exact && c.elem.exact
		c.pointers = c.kind == reflect.Pointer || c.elem.pointers
		return c
	case reflect.Struct:
		for _, outer := range around {
			if outer == t {
				return nil
			}
		}
		if c.addFields(append(around[:len(around):len(around)], t)) {
			return c
		}
	}
	return nil
}

// mayHaveMethods reports false for types that cannot, and neither can pointers to
// them: those that the language names, and those that are made of others.
func mayHaveMethods(t reflect.Type) bool { return t.PkgPath() != "" || t.Kind() == reflect.Struct }

// knowsJSON reports whether a type may have a say in its own JSON, by a method that
// package json looks for, or is one that package json knows by name. Of a pointer or
// a slice, the element decides.
func knowsJSON(t reflect.Type) bool {
	return mayHaveMethods(t) && (t == reflect.TypeFor[time.Duration]() || hasVoice(reflect.PointerTo(t)))
}

// hasVoice asks a pointer type, which has its element's methods too. It asks for
// interfaces and not for names of methods: a program that looks for methods by names in
// a variable keeps every exported method of every type that is in it, and grows by a
// fifth.
func hasVoice(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[json.Unmarshaler]()) ||
		t.Implements(reflect.TypeFor[json.MarshalerTo]()) || t.Implements(reflect.TypeFor[json.UnmarshalerFrom]()) ||
		t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) || t.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) ||
		t.Implements(reflect.TypeFor[encoding.TextAppender]()) || t.Implements(reflect.TypeFor[interface{ IsZero() bool }]())
}

// describesItself reports whether a type has a schema of its own; see
// schema.Describer.
func describesItself(t reflect.Type) bool {
	if !mayHaveMethods(t) {
		return false
	}
	_, ok := reflect.PointerTo(t).MethodByName("JSONSchema")
	return ok
}

// constrained reports whether a field's tags may say more than its type, to package
// schema. Those are known that do not: any other may.
func constrained(tag reflect.StructTag) bool {
	for tag != "" {
		name, rest, _ := strings.Cut(string(tag), ":")
		switch strings.TrimSpace(name) {
		case "json", "doc", "title", "header":
		default:
			return true
		}
		value, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return true
		}
		tag = reflect.StructTag(strings.TrimSpace(rest[len(value):]))
	}
	return false
}

// addFields reports whether all fields are plain, and have plain tags.
func (c *Codec) addFields(around []reflect.Type) bool {
	seen := make(map[string]bool)
	for i := range c.typ.NumField() {
		sf := c.typ.Field(i)
		tag, tagged := sf.Tag.Lookup("json")
		switch {
		case sf.Anonymous, tag == "-", tagged && !sf.IsExported():
			return false
		case !sf.IsExported():
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if name == "" {
			name = sf.Name
		}
		if !isWord(name) || seen[name] || options != "" && options != "omitzero" {
			return false
		}
		seen[name] = true
		f := field{name: name, key: `"` + name + `":`, index: i, omitZero: options != "", codec: codecOf(sf.Type, around)}
		if f.codec == nil {
			return false
		}
		if !f.omitZero && f.codec.kind != reflect.Pointer {
			c.required |= 1 << len(c.fields)
		}
		c.fields = append(c.fields, f)
		c.pointers = c.pointers || f.codec.pointers
		c.exact = c.exact && f.codec.exact && !constrained(sf.Tag) && len(c.fields) <= 64
	}
	return true
}

// isWord reports whether a name needs neither quotes in a tag nor escapes in JSON.
func isWord(name string) bool {
	for i := range len(name) {
		switch b := name[i]; {
		case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9', b == '_', b == '-':
		default:
			return false
		}
	}
	return name != ""
}
