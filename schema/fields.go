package schema

import (
	"reflect"
	"slices"
	"strings"
)

// field is a struct field that is a member of the JSON object.
type field struct {
	reflect.StructField
	name     string
	named    bool // explicitly, by its json tag
	optional bool
	quoted   bool // a number in a string
	index    []int
	at       place
}

// object returns the shape of a struct.
func (in *inferrer) object(t reflect.Type, at place) (*shape, error) {
	found := fieldFinder{seen: map[reflect.Type]bool{t: true}}
	found.queue = []level{{typ: t, at: at, descend: true}}
	for i := 0; i < len(found.queue); i++ {
		if err := found.collect(found.queue[i]); err != nil {
			return nil, err
		}
	}
	s := &shape{types: typeObject, parts: parts{closed: true, required: []string{}}}
	for _, f := range found.dominant() {
		m, required, err := in.field(f)
		if err != nil {
			return nil, err
		}
		s.properties = append(s.properties, member{f.name, m})
		if required {
			s.required = append(s.required, f.name)
		}
	}
	if found.rest != nil {
		others, err := in.shape(found.rest, at.elem())
		if err != nil {
			return nil, err
		}
		s.closed, s.additional = false, others
	}
	return s, nil
}

// field returns the shape of a member, and whether it is required.
func (in *inferrer) field(f *field) (*shape, bool, error) {
	s, err := in.shape(f.Type, f.at)
	if err != nil {
		return nil, false, err
	}
	if f.quoted {
		if s.types&^(typeInteger|typeNumber) != 0 || s.types == 0 {
			return nil, false, f.at.errorf("json option string is for numbers only")
		}
		quoted := &shape{types: typeString}
		if s.types == typeInteger {
			quoted.pattern = "^-?[0-9]+$"
		}
		s = quoted
	}
	if err := in.tags(f, s); err != nil {
		return nil, false, err
	}
	optional := f.optional || f.Type.Kind() == reflect.Pointer || s.fallback != ""
	return s, !optional, nil
}

// fieldFinder collects a struct's fields as the JSON library does: those of
// embedded structs as if they were the struct's own.
type fieldFinder struct {
	queue  []level
	fields []*field
	seen   map[reflect.Type]bool
	rest   reflect.Type // of members without a field of their own
}

// level is a struct whose fields are collected.
type level struct {
	typ      reflect.Type
	index    []int
	optional bool
	at       place
	descend  bool // into embedded structs; once for each type
}

func (ff *fieldFinder) collect(l level) error {
	for i := range l.typ.NumField() {
		sf := l.typ.Field(i)
		f := &field{StructField: sf, optional: l.optional, index: append(slices.Clone(l.index), i)}
		f.at = place{path: l.at.path + "." + sf.Name, static: l.at.static}
		tag, tagged := sf.Tag.Lookup("json")
		if tag == "-" {
			continue
		}
		if !sf.IsExported() && !sf.Anonymous {
			if tagged {
				return f.at.errorf("json tag on an unexported field")
			}
			continue
		}
		embed, err := f.options(tag)
		if err != nil {
			return err
		}
		if embed || sf.Anonymous && !f.named {
			err = ff.embed(f, l.descend)
		} else if sf.IsExported() {
			ff.fields = append(ff.fields, f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// options reads the json tag.
func (f *field) options(tag string) (embed bool, err error) {
	name, rest, _ := strings.Cut(tag, ",")
	if strings.ContainsAny(name, "\\'\"`") {
		return false, f.at.errorf("json name %q is not supported", name)
	}
	f.name, f.named = f.StructField.Name, false
	if name != "" {
		f.name, f.named = name, true
	}
	for option := range strings.SplitSeq(rest, ",") {
		switch {
		case option == "omitempty" || option == "omitzero":
			f.optional = true
		case option == "string":
			f.quoted = true
		case option == "embed":
			embed = true
		case strings.HasPrefix(option, "format:"):
			return false, f.at.errorf("json option %s is not supported", option)
		}
	}
	return embed, nil
}

// embed takes in the fields of an embedded struct, or remembers the map or raw
// value that holds all other members.
func (ff *fieldFinder) embed(f *field, descend bool) error {
	t := f.Type
	pointer := t.Kind() == reflect.Pointer
	if pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Struct && implementsAny(t, append(jsonMethods, textMethods...)...):
		return f.at.errorf("an embedded type with JSON or text methods needs a name in its json tag")
	case t.Kind() == reflect.Struct:
		if descend {
			ff.queue = append(ff.queue, level{t, f.index, f.optional || pointer, f.at, !ff.seen[t]})
		}
		ff.seen[t] = true
	case f.Anonymous:
		return f.at.errorf("an embedded type that is no struct needs a name in its json tag")
	case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String:
		ff.rest = t.Elem()
	default:
		ff.rest = reflect.TypeFor[any]()
	}
	return nil
}

// dominant drops fields that others hide: of several with one name the least
// deep stands, then the one with an explicit name; if neither decides, none does.
func (ff *fieldFinder) dominant() []*field {
	var kept []*field
	for _, f := range ff.fields {
		stands := true
		for _, other := range ff.fields {
			stands = stands && (other == f || other.name != f.name || f.hides(other))
		}
		if stands {
			kept = append(kept, f)
		}
	}
	slices.SortFunc(kept, func(a, b *field) int { return slices.Compare(a.index, b.index) })
	return kept
}

// hides reports whether f stands in place of another field of its name.
func (f *field) hides(other *field) bool {
	if len(f.index) != len(other.index) {
		return len(f.index) < len(other.index)
	}
	return f.named && !other.named
}
