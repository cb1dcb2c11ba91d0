package plain_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/internal/plain"
	"github.com/bossman-mcp/bossman/schema"
)

var everythingSchema = func() *schema.Schema {
	s, err := schema.For[everything]()
	if err != nil {
		panic(err)
	}
	return s
}()

// exactRead fails the test if the codec is sure of text that the schema refuses or
// adds to, or that package json reads otherwise; it may give up.
func exactRead(t *testing.T, text []byte) (sure bool) {
	t.Helper()
	var got, want everything
	if !plain.Of(reflect.TypeFor[everything]()).ReadExact(text, nil, reflect.ValueOf(&got).Elem()) {
		return false
	}
	if err := everythingSchema.Validate(text); err != nil {
		t.Fatalf("%s: the schema says %v", text, err)
	}
	filled, err := everythingSchema.Defaults(text)
	if err != nil || string(filled) != string(text) {
		t.Fatalf("%s: filled in to %s, %v", text, filled, err)
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatalf("%s: package json says %v", text, err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s\ngot  %+v\nwant %+v", text, got, want)
	}
	return true
}

const scalars = `"bool":true,"text":"a","float":1e2,"int":1,"small":2,"uint":3,"Plain":"p"`

func TestWhatIsReadExactlyFitsTheSchema(t *testing.T) {
	for text, sure := range map[string]bool{
		`{` + scalars + `,"inner":{"tags":[]},"many":[]}`:                                                           true,
		` { "many":[{"tags":["x"],"depth":-128}], "inner":{"tags":[],"name":"n"}, ` + scalars + `, "floats":[-0] }`: true,
		`{` + scalars + `,"inner":{"tags":[]},"many":[],"ptr":{"tags":["y"]}}`:                                      true,
		`{` + scalars + `,"inner":{"tags":[]}}`:                                                                     false,
		`{` + scalars + `,"inner":{},"many":[]}`:                                                                    false,
		`{` + scalars + `,"inner":{"tags":[]},"many":[{}]}`:                                                         false,
		`{` + scalars + `,"inner":{"tags":[]},"many":[],"ptr":null}`:                                                false,
		`{` + scalars + `,"inner":{"tags":[]},"many":[],"other":1}`:                                                 false,
		`{` + scalars + `,"inner":{"tags":[],"other":1},"many":[]}`:                                                 false,
		`{` + scalars + `,"inner":{"tags":[]},"inner":{"tags":[]},"many":[]}`:                                       false,
		`{}`: false,
		`[]`: false,
	} {
		if got := exactRead(t, []byte(text)); got != sure {
			t.Errorf("%s: sure %v, want %v", text, got, sure)
		}
	}
}

type described struct{ A int }

func (*described) JSONSchema() []byte { return []byte(`{"type":"object","maxProperties":0}`) }

func TestTypesWhoseSchemaSaysMoreAreNotExact(t *testing.T) {
	for _, v := range []any{
		described{}, &described{}, []described{}, struct{ D described }{}, struct{ D *described }{},
		struct {
			A int `min:"1"`
		}{},
		struct {
			A int `json:"a" doc:"a \"number\"" max:"1"`
		}{},
		struct {
			A string `enum:"a,b"`
		}{},
		struct {
			A string `json:"a,omitzero" default:"x"`
		}{},
		struct {
			A []string `minItems:"1"`
		}{},
		struct {
			A []struct {
				B string `pattern:"^b$"`
			}
		}{},
	} {
		c := plain.Of(reflect.TypeOf(v))
		if c == nil {
			t.Errorf("%T has no codec", v)
		}
		if c.Exact() {
			t.Errorf("%T is exact", v)
		}
	}
	if !plain.Of(reflect.TypeFor[struct {
		A int `json:"a" doc:"say: \"a\"" title:"A" header:"Region"`
	}]()).Exact() {
		t.Error("a type with a description only is not exact")
	}
	wide := make([]reflect.StructField, 65)
	for i := range wide {
		wide[i] = reflect.StructField{Name: "A" + string(rune('A'+i/8)) + string(rune('A'+i%8)), Type: reflect.TypeFor[bool]()}
	}
	if !plain.Of(reflect.StructOf(wide[:64])).Exact() || plain.Of(reflect.StructOf(wide)).Exact() {
		t.Error("64 fields should be exact, 65 not")
	}
	if plain.Of(reflect.TypeFor[any]()).Exact() {
		t.Error("no codec is exact")
	}
}

// output is everything without pointers.
type output struct {
	Bool   bool       `json:"bool"`
	Text   string     `json:"text,omitzero"`
	Float  float64    `json:"float"`
	Int    int        `json:"int"`
	Small  int8       `json:"small" doc:"A small one"`
	Wide   int64      `json:"wide"`
	Uint   uint64     `json:"uint"`
	Byte   uint8      `json:"byte"`
	Tags   []string   `json:"tags"`
	Nested [][]nested `json:"nested,omitzero"`
	hidden int
}

type nested struct {
	Name  string
	Sizes []float64 `json:"sizes"`
}

func TestWhatIsWrittenFitsTheSchema(t *testing.T) {
	c := plain.Of(reflect.TypeFor[output]())
	s, err := schema.For[output]()
	if err != nil || !c.Fits() {
		t.Fatalf("it fits: %v; %v", c.Fits(), err)
	}
	for _, v := range []output{
		{},
		{Bool: true, Text: "\x00\"é", Float: math.MaxFloat64, Int: math.MaxInt, Small: 127, Wide: math.MaxInt64, Uint: math.MaxUint64, Byte: 255},
		{Float: math.SmallestNonzeroFloat64, Int: math.MinInt, Small: -128, Wide: math.MinInt64, Tags: []string{""}},
		{Float: math.Copysign(0, -1), Nested: [][]nested{nil, {}, {{}, {Sizes: []float64{1, -2.5, 1e15, -1e21}}}}},
	} {
		text, ok := c.Append(nil, reflect.ValueOf(v))
		if !ok {
			t.Errorf("%+v is not written", v)
		}
		if err := s.Validate(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, v := range []any{&output{}, everything{}, []*int{}, struct{ A []inner }{}, described{}} {
		if plain.Of(reflect.TypeOf(v)).Fits() {
			t.Errorf("%T may be a nil pointer or say more, and fits", v)
		}
	}
}

// FuzzReadExact holds: what the codec is sure of fits the schema, has nothing to be
// filled in, and is read as package json reads it.
func FuzzReadExact(f *testing.F) {
	f.Add([]byte(`{` + scalars + `,"inner":{"tags":[]},"many":[{"tags":["x"],"depth":1}],"ptr":{"tags":[]}}`))
	f.Add([]byte(`{` + scalars + `,"inner":{"tags":[]},"many":[],"other":null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if jsonscan.Check(text, 100) == nil {
			exactRead(t, text)
		}
	})
}
