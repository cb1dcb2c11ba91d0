package schema

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// Describer is implemented by types that say themselves what their schema is. The
// method is called on a zero value, and returns the text of an object or boolean
// schema without references.
type Describer interface {
	JSONSchema() []byte
}

// For returns the schema of T's JSON form, as [Infer] does.
func For[T any]() (*Schema, error) { return Infer(reflect.TypeFor[T]()) }

// Infer returns the schema of the JSON form that a Go type has towards
// github.com/go-json-experiment/json, in dialect 2020-12. The same type always
// gives the same text.
//
// Structs become objects with properties in the order of the fields and no
// others. A member is required unless its field is a pointer, has the option
// omitempty or omitzero, or has a default. Maps become objects, slices and
// arrays become arrays, []byte becomes a string in base64, and [time.Time] one
// with the format date-time. Integers get the bounds of their type where it is
// narrower than 64 bits or has no sign. Interfaces and types with JSON methods of
// their own accept everything, unless they implement [Describer]; types with text
// methods become strings. Types that contain themselves become references.
//
// Tags of struct fields say more:
//
//	doc:"…"  title:"…"        what the member means
//	enum:"a,b,c"              the allowed values
//	default:"…"               the value when absent: text for strings, else JSON
//	min:"1"  max:"9"          bounds of numbers
//	minLen:"1"  maxLen:"9"    bounds of a string's length in characters
//	pattern:"…"  format:"…"   form of strings; format only informs
//	minItems:"1" maxItems:"9" bounds of a slice's length
//	nullable:"true"           whether null may stand for the value
//	header:"Region"           emits x-mcp-header
//
// On slices, tags about numbers and strings are about the elements. Tags that do
// not fit their field are errors, and so are types without a JSON form; both name
// the field.
func Infer(t reflect.Type) (*Schema, error) {
	in := inferrer{root: t, open: map[reflect.Type]bool{}, names: map[reflect.Type]string{}, headers: map[string]string{}}
	s, err := in.shape(t, place{path: typeName(t), static: true})
	if err != nil {
		return nil, fmt.Errorf("infer schema: %w", err)
	}
	s.definitions = in.definitions
	schema, err := Parse(s.append(make([]byte, 0, 1024))) // which copies it
	if err != nil {
		return nil, fmt.Errorf("infer schema of %s: %w", typeName(t), err)
	}
	return schema, nil
}

func typeName(t reflect.Type) string {
	if t.Name() != "" {
		return t.Name()
	}
	return t.String()
}

// inferrer holds the state of one inference.
type inferrer struct {
	root        reflect.Type
	open        map[reflect.Type]bool   // types around the one at hand
	names       map[reflect.Type]string // of types that contain themselves
	definitions []member
	headers     map[string]string // field by header, in lower case
	count       int
}

// place is where a type stands.
type place struct {
	path   string // of Go fields, for errors
	static bool   // whether only properties lead here from the root
}

func (p place) errorf(format string, args ...any) error {
	return fmt.Errorf("%s: "+format, append([]any{p.path}, args...)...)
}

func (p place) elem() place { return place{path: p.path + "[]"} }

// shape returns the shape of a type. Named types that stand inside themselves
// become definitions.
func (in *inferrer) shape(t reflect.Type, at place) (*shape, error) {
	if in.count++; in.count > maxObjects {
		return nil, at.errorf("the type is too large")
	}
	if t.Name() == "" {
		return in.build(t, at)
	}
	if in.open[t] {
		if t == in.root {
			return &shape{ref: "#"}, nil
		}
		return &shape{ref: "#/$defs/" + in.name(t)}, nil
	}
	if name, defined := in.names[t]; defined {
		return &shape{ref: "#/$defs/" + name}, nil
	}
	in.open[t] = true
	s, err := in.build(t, at)
	delete(in.open, t)
	name, recursive := in.names[t]
	if err != nil || !recursive {
		return s, err
	}
	if s.hasHeader() {
		return nil, at.errorf("header cannot be used inside a type that contains itself")
	}
	in.definitions = append(in.definitions, member{name, s})
	return &shape{ref: "#/$defs/" + name}, nil
}

// name gives a type its name among the definitions.
func (in *inferrer) name(t reflect.Type) string {
	if name, ok := in.names[t]; ok {
		return name
	}
	plain := strings.Map(func(c rune) rune {
		if c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' {
			return c
		}
		return '_'
	}, t.Name())
	name := plain
	for i := 2; in.taken(name); i++ {
		name = plain + strconv.Itoa(i)
	}
	in.names[t] = name
	return name
}

func (in *inferrer) taken(name string) bool {
	for _, other := range in.names {
		if other == name {
			return true
		}
	}
	return false
}

var (
	timeType      = reflect.TypeFor[time.Time]()
	durationType  = reflect.TypeFor[time.Duration]()
	describerType = reflect.TypeFor[Describer]()
	jsonMethods   = []reflect.Type{
		reflect.TypeFor[json.MarshalerTo](), reflect.TypeFor[json.Marshaler](),
		reflect.TypeFor[json.UnmarshalerFrom](), reflect.TypeFor[json.Unmarshaler](),
	}
	textMethods = []reflect.Type{
		reflect.TypeFor[encoding.TextAppender](), reflect.TypeFor[encoding.TextMarshaler](),
		reflect.TypeFor[encoding.TextUnmarshaler](),
	}
)

// implementsAny reports whether a type, or a pointer to it, has some of the methods.
func implementsAny(t reflect.Type, methods ...reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface:
	case reflect.Struct:
		t = reflect.PointerTo(t) // which has the methods of both
	default:
		if t.PkgPath() == "" { // what the language names, or what is made of others, has none
			return false
		}
		t = reflect.PointerTo(t)
	}
	for _, m := range methods {
		if t.Implements(m) {
			return true
		}
	}
	return false
}

// build returns the shape of a type that is not a reference.
func (in *inferrer) build(t reflect.Type, at place) (*shape, error) {
	switch {
	case t.Kind() == reflect.Pointer:
		return in.shape(t.Elem(), at)
	case t.Kind() == reflect.Interface:
		return &shape{}, nil
	case t == timeType:
		return &shape{types: typeString, form: form{format: "date-time"}}, nil
	case implementsAny(t, describerType):
		return described(t, at)
	case t == durationType:
		return nil, at.errorf("time.Duration has no JSON form; use a string or a number")
	case implementsAny(t, jsonMethods...):
		return &shape{}, nil
	case implementsAny(t, textMethods...):
		return &shape{types: typeString}, nil
	}
	switch t.Kind() {
	case reflect.Bool:
		return &shape{types: typeBoolean}, nil
	case reflect.String:
		return &shape{types: typeString}, nil
	case reflect.Float32, reflect.Float64:
		return &shape{types: typeNumber}, nil
	case reflect.Slice, reflect.Array:
		return in.list(t, at)
	case reflect.Map:
		return in.dictionary(t, at)
	case reflect.Struct:
		return in.object(t, at)
	}
	if s, ok := integer(t.Kind()); ok {
		return s, nil
	}
	return nil, at.errorf("type %s has no JSON form", t)
}

// integer returns the shape of an integer with the bounds of its Go type.
func integer(k reflect.Kind) (*shape, bool) {
	s := &shape{types: typeInteger}
	switch k {
	case reflect.Int, reflect.Int64:
	case reflect.Int8:
		s.min, s.max = "-128", "127"
	case reflect.Int16:
		s.min, s.max = "-32768", "32767"
	case reflect.Int32:
		s.min, s.max = "-2147483648", "2147483647"
	case reflect.Uint, reflect.Uint64, reflect.Uintptr:
		s.min = "0"
	case reflect.Uint8:
		s.min, s.max = "0", "255"
	case reflect.Uint16:
		s.min, s.max = "0", "65535"
	case reflect.Uint32:
		s.min, s.max = "0", "4294967295"
	default:
		return nil, false
	}
	return s, true
}

func (in *inferrer) list(t reflect.Type, at place) (*shape, error) {
	if t.Elem().Kind() == reflect.Uint8 && !implementsAny(t.Elem(), append(jsonMethods, textMethods...)...) {
		return &shape{types: typeString, form: form{contentEncoding: "base64"}}, nil
	}
	items, err := in.shape(t.Elem(), at.elem())
	if err != nil {
		return nil, err
	}
	s := &shape{types: typeArray, parts: parts{items: items}}
	if t.Kind() == reflect.Array {
		s.minItems, s.maxItems = strconv.Itoa(t.Len()), strconv.Itoa(t.Len())
	}
	return s, nil
}

func (in *inferrer) dictionary(t reflect.Type, at place) (*shape, error) {
	key := t.Key()
	_, whole := integer(key.Kind())
	isNumber := whole || key.Kind() == reflect.Float32 || key.Kind() == reflect.Float64
	if key.Kind() != reflect.String && !isNumber && !implementsAny(key, textMethods...) {
		return nil, at.errorf("a map with keys of type %s has no JSON form", key)
	}
	values, err := in.shape(t.Elem(), at.elem())
	if err != nil {
		return nil, err
	}
	return &shape{types: typeObject, parts: parts{additional: values}}, nil
}

// described returns what a Describer says about itself.
func described(t reflect.Type, at place) (*shape, error) {
	d, ok := reflect.New(t).Interface().(Describer)
	if !ok {
		return nil, at.errorf("type %s cannot describe itself", t)
	}
	s, err := Parse(d.JSONSchema())
	if err != nil {
		return nil, at.errorf("JSONSchema of %s: %w", t, errors.Unwrap(err))
	}
	return &shape{verbatim: s.JSON(), types: typesIn(s.JSON())}, nil
}

func typesIn(text []byte) typeSet {
	set, _ := typesOf(jsonscan.Get(text, "type"))
	return set
}
