package schema_test

import (
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/schema"
)

type colour string

func (colour) JSONSchema() []byte { return []byte(`{"type":"string","enum":["red","green"]}`) }

type custom struct{ n int }

func (c custom) MarshalJSON() ([]byte, error) { return []byte("1"), nil }

type list struct {
	Value string `json:"value"`
	Next  *list  `json:"next"`
}

type tree map[string]tree

type page[T any] struct {
	Items []T      `json:"items"`
	More  *page[T] `json:"more"`
}

type base struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type deeper struct {
	base
	Level int `json:"level,omitempty"`
}

func TestGoTypesBecomeSchemas(t *testing.T) {
	for _, test := range []struct {
		name string
		typ  reflect.Type
		want string
	}{
		{"string", reflect.TypeFor[string](), `{"type":"string"}`},
		{"bool", reflect.TypeFor[bool](), `{"type":"boolean"}`},
		{"int", reflect.TypeFor[int](), `{"type":"integer"}`},
		{"int8 is bounded", reflect.TypeFor[int8](), `{"type":"integer","minimum":-128,"maximum":127}`},
		{"uint64 is not negative", reflect.TypeFor[uint64](), `{"type":"integer","minimum":0}`},
		{"uint16 is bounded", reflect.TypeFor[uint16](), `{"type":"integer","minimum":0,"maximum":65535}`},
		{"float32", reflect.TypeFor[float32](), `{"type":"number"}`},
		{"time", reflect.TypeFor[time.Time](), `{"type":"string","format":"date-time"}`},
		{"bytes", reflect.TypeFor[[]byte](), `{"type":"string","contentEncoding":"base64"}`},
		{"an array of bytes", reflect.TypeFor[[16]byte](), `{"type":"string","contentEncoding":"base64"}`},
		{"a slice", reflect.TypeFor[[]string](), `{"type":"array","items":{"type":"string"}}`},
		{"an array", reflect.TypeFor[[2]bool](), `{"type":"array","minItems":2,"maxItems":2,"items":{"type":"boolean"}}`},
		{"a map", reflect.TypeFor[map[string]int](), `{"type":"object","additionalProperties":{"type":"integer"}}`},
		{"a map with whole keys", reflect.TypeFor[map[int]bool](), `{"type":"object","additionalProperties":{"type":"boolean"}}`},
		{"any", reflect.TypeFor[any](), `{}`},
		{"raw JSON", reflect.TypeFor[jsontext.Value](), `{}`},
		{"JSON methods hide the type", reflect.TypeFor[custom](), `{}`},
		{"text methods make strings", reflect.TypeFor[netip.Addr](), `{"type":"string"}`},
		{"a pointer is its target", reflect.TypeFor[**int](), `{"type":"integer"}`},
		{"an empty struct is closed", reflect.TypeFor[struct{}](), `{"type":"object","additionalProperties":false}`},
		{"a type may describe itself", reflect.TypeFor[colour](), `{"type":"string","enum":["red","green"]}`},
		{"a schema is a schema's", reflect.TypeFor[schema.Schema](), `{}`},
		{"members are required unless something says otherwise", reflect.TypeFor[struct {
			A string
			B *int     `json:"b"`
			C string   `json:"c,omitempty"`
			D []string `json:",omitzero"`
			E int      `json:"e" default:"3"`
			F []string `json:"f"`
			G string   `json:"-"`
			h string
		}](), `{"type":"object","properties":{"A":{"type":"string"},"b":{"type":"integer"},"c":{"type":"string"},"D":{"type":"array","items":{"type":"string"}},"e":{"type":"integer","default":3},"f":{"type":"array","items":{"type":"string"}}},"required":["A","f"],"additionalProperties":false}`},
		{"required is spelled out even when empty", reflect.TypeFor[struct {
			A *bool `json:"a"`
		}](), `{"type":"object","properties":{"a":{"type":"boolean"}},"required":[],"additionalProperties":false}`},
		{"embedded structs are flat", reflect.TypeFor[struct {
			deeper
			Name bool `json:"name"`
		}](), `{"type":"object","properties":{"id":{"type":"string"},"level":{"type":"integer"},"name":{"type":"boolean"}},"required":["id","name"],"additionalProperties":false}`},
		{"members of an embedded pointer are optional", reflect.TypeFor[struct {
			*base
		}](), `{"type":"object","properties":{"id":{"type":"string"},"name":{"type":"string"}},"required":[],"additionalProperties":false}`},
		{"an embedded struct with a name is a member", reflect.TypeFor[struct {
			base `json:"base"`
			X    int
		}](), `{"type":"object","properties":{"X":{"type":"integer"}},"required":["X"],"additionalProperties":false}`},
		{"an embedded map holds the others", reflect.TypeFor[struct {
			A    int            `json:"a"`
			Rest map[string]int `json:",embed"`
		}](), `{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":{"type":"integer"}}`},
		{"numbers in strings are strings", reflect.TypeFor[struct {
			A int64   `json:"a,string"`
			B float64 `json:"b,string"`
		}](), `{"type":"object","properties":{"a":{"type":"string","pattern":"^-?[0-9]+$"},"b":{"type":"string"}},"required":["a","b"],"additionalProperties":false}`},
		{"a type that contains itself refers to itself", reflect.TypeFor[list](), `{"type":"object","properties":{"value":{"type":"string"},"next":{"$ref":"#"}},"required":["value"],"additionalProperties":false}`},
		{"such a type inside another becomes a definition", reflect.TypeFor[struct {
			L list  `json:"l" doc:"The list"`
			M *list `json:"m"`
		}](), `{"type":"object","properties":{"l":{"$ref":"#/$defs/list","description":"The list"},"m":{"$ref":"#/$defs/list"}},"required":["l"],"additionalProperties":false,"$defs":{"list":{"type":"object","properties":{"value":{"type":"string"},"next":{"$ref":"#/$defs/list"}},"required":["value"],"additionalProperties":false}}}`},
		{"a default may stand for a type that contains itself", reflect.TypeFor[struct {
			L []tree `json:"l" default:"[{}]"`
		}](), `{"type":"object","properties":{"l":{"type":"array","default":[{}],"items":{"$ref":"#/$defs/tree"}}},"required":[],"additionalProperties":false,"$defs":{"tree":{"type":"object","additionalProperties":{"$ref":"#/$defs/tree"}}}}`},
		{"maps may contain themselves", reflect.TypeFor[tree](), `{"type":"object","additionalProperties":{"$ref":"#"}}`},
		{"generic types have plain names", reflect.TypeFor[[]page[string]](), `{"type":"array","items":{"$ref":"#/$defs/page_string_"},"$defs":{"page_string_":{"type":"object","properties":{"items":{"type":"array","items":{"type":"string"}},"more":{"$ref":"#/$defs/page_string_"}},"required":["items"],"additionalProperties":false}}}`},
		{"tags say more", reflect.TypeFor[struct {
			A string   `json:"a" title:"Title" doc:"What <it> \"is\"" enum:"x, y" default:"y" format:"email" pattern:"^[xy]$" minLen:"1" maxLen:"9" header:"Region"`
			B int      `json:"b" min:"1" max:"9" enum:"1,2"`
			C []string `json:"c" enum:"u,v" minItems:"1" maxItems:"3" maxLen:"5"`
			D *float64 `json:"d" min:"-0.5" nullable:"true" default:"null"`
			E []int    `json:"e" default:"[1,2]" min:"0"`
			F colour   `json:"f" doc:"Which"`
			G string   `json:"g,omitempty" enum:"p,q" nullable:"true"`
			H any      `json:"h" doc:"Anything"`
		}](), `{"type":"object","properties":{` +
			`"a":{"type":"string","title":"Title","description":"What <it> \"is\"","enum":["x","y"],"default":"y","format":"email","pattern":"^[xy]$","minLength":1,"maxLength":9,"x-mcp-header":"Region"},` +
			`"b":{"type":"integer","enum":[1,2],"minimum":1,"maximum":9},` +
			`"c":{"type":"array","minItems":1,"maxItems":3,"items":{"type":"string","enum":["u","v"],"maxLength":5}},` +
			`"d":{"type":["number","null"],"default":null,"minimum":-0.5},` +
			`"e":{"type":"array","default":[1,2],"items":{"type":"integer","minimum":0}},` +
			`"f":{"description":"Which","type":"string","enum":["red","green"]},` +
			`"g":{"type":["string","null"],"enum":["p","q",null]},` +
			`"h":{"description":"Anything"}},` +
			`"required":["b","c","f","h"],"additionalProperties":false}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := schema.Infer(test.typ)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.String(); got != test.want {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
			if err := s.Compile(); err != nil {
				t.Errorf("an inferred schema cannot be used: %v", err)
			}
			if _, err := newOracle(s.JSON()); err != nil {
				t.Errorf("the oracle refuses an inferred schema: %v", err)
			}
		})
	}
}

func TestTypesAndTagsThatCannotBeAreNamed(t *testing.T) {
	type inner struct {
		Callback func() `json:"callback"`
	}
	for _, test := range []struct {
		name string
		typ  reflect.Type
		want string
	}{
		{"func", reflect.TypeFor[struct{ In []inner }](), `.In[].Callback: type func() has no JSON form`},
		{"chan", reflect.TypeFor[chan int](), `chan int: type chan int has no JSON form`},
		{"complex", reflect.TypeFor[struct{ C complex128 }](), `.C: type complex128 has no JSON form`},
		{"duration", reflect.TypeFor[struct{ D time.Duration }](), `.D: time.Duration has no JSON form; use a string or a number`},
		{"map keys", reflect.TypeFor[struct{ M map[bool]int }](), `.M: a map with keys of type bool has no JSON form`},
		{"json format", reflect.TypeFor[struct {
			T time.Time `json:"t,format:unix"`
		}](), `.T: json option format:unix is not supported`},
		{"json string", reflect.TypeFor[struct {
			T []int `json:"t,string"`
		}](), `.T: json option string is for numbers only`},
		{"unexported with a tag", reflect.StructOf([]reflect.StructField{{Name: "a", PkgPath: "x", Type: reflect.TypeFor[int](), Tag: `json:"a"`}}), `.a: json tag on an unexported field`},
		{"embedded with methods", reflect.TypeFor[struct {
			netip.Addr
			netip.Prefix // so that neither lends its methods
		}](), `.Addr: an embedded type with JSON or text methods needs a name in its json tag`},
		{"embedded scalar", reflect.TypeFor[struct{ plain }](), `.plain: an embedded type that is no struct needs a name in its json tag`},
		{"min on a string", reflect.TypeFor[struct {
			A string `min:"1"`
		}](), `.A: tag min does not fit a field of type string`},
		{"min that is no number", reflect.TypeFor[struct {
			A int `min:"x"`
		}](), `.A: tag min: "x" is not a number that the field can hold`},
		{"max beyond the type", reflect.TypeFor[struct {
			A int8 `max:"200"`
		}](), `.A: tag max: "200" is not a number that the field can hold`},
		{"min above max", reflect.TypeFor[struct {
			A int `min:"2" max:"1"`
		}](), `.A: tags min and max: 2 is more than 1`},
		{"minLen on an integer", reflect.TypeFor[struct {
			A int `minLen:"1"`
		}](), `.A: tag minLen does not fit a field of type int`},
		{"minLen that is no count", reflect.TypeFor[struct {
			A string `minLen:"-1"`
		}](), `.A: tag minLen: "-1" is not a whole number`},
		{"minLen above maxLen", reflect.TypeFor[struct {
			A string `minLen:"10" maxLen:"9"`
		}](), `.A: tags minLen and maxLen: 10 is more than 9`},
		{"a bad pattern", reflect.TypeFor[struct {
			A string `pattern:"("`
		}](), `.A: tag pattern: "(" is not a regular expression`},
		{"an enum with nothing in it", reflect.TypeFor[struct {
			A string `enum:"a,,b"`
		}](), `.A: tag enum: "a,,b" has an empty value`},
		{"an enum of other type", reflect.TypeFor[struct {
			A uint `enum:"1,-1"`
		}](), `.A: tag enum: "-1" is not a value of the field's type`},
		{"an enum on an object", reflect.TypeFor[struct {
			A struct{} `enum:"1"`
		}](), `.A: tag enum does not fit a field of type struct {}`},
		{"a default of other type", reflect.TypeFor[struct {
			A int `default:"x"`
		}](), `.A: tag default: "x" is not JSON`},
		{"a default outside the enum", reflect.TypeFor[struct {
			A string `enum:"a,b" default:"c"`
		}](), `.A: tag default: got string "c"; allowed: "a", "b"`},
		{"a default out of bounds", reflect.TypeFor[struct {
			A int `max:"3" default:"4"`
		}](), `.A: tag default: must be at most 3, got 4`},
		{"minItems on a string", reflect.TypeFor[struct {
			A string `minItems:"1"`
		}](), `.A: tag minItems does not fit a field of type string`},
		{"nullable that is neither", reflect.TypeFor[struct {
			A string `nullable:"yes"`
		}](), `.A: tag nullable: "yes" is neither true nor false`},
		{"a header on a number", reflect.TypeFor[struct {
			A float64 `header:"A"`
		}](), `.A: tag header does not fit a field of type float64`},
		{"a header that is no token", reflect.TypeFor[struct {
			A string `header:"A b"`
		}](), `.A: tag header: "A b" is not the name of a header`},
		{"a header inside a slice", reflect.TypeFor[struct {
			A []struct {
				B string `header:"B"`
			}
		}](), `.A[].B: tag header cannot be used inside slices and maps`},
		{"a header twice", reflect.TypeFor[struct {
			A string `header:"Region"`
			B string `header:"region"`
		}](), `.A has the header region already`},
		{"a header inside a type that contains itself", reflect.TypeFor[struct{ A headed }](), `.A: header cannot be used inside a type that contains itself`},
		{"a default on a type with a schema of its own", reflect.TypeFor[struct {
			A colour `default:"red"`
		}](), `.A: tag default`},
		{"a bad description of itself", reflect.TypeFor[struct{ A badDescriber }](), `.A: JSONSchema of schema_test.badDescriber: unexpected end`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := schema.Infer(test.typ)
			if err == nil {
				t.Fatalf("got %s, want an error", s)
			}
			if !strings.HasPrefix(err.Error(), "infer schema: ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("\n got %v\nwant one with %s", err, test.want)
			}
		})
	}
}

type plain int

type headed struct {
	Region string `header:"Region"`
	Next   *headed
}

type badDescriber struct{}

func (badDescriber) JSONSchema() []byte { return []byte(`{"type":`) }

// The properties of an inferred schema must be the members that the JSON library
// writes, in its order, and the written value must be valid.
func TestInferredMembersAreWhatTheJSONLibraryWrites(t *testing.T) {
	type twice struct{ base }
	type other struct {
		ID   int
		Name int
	}
	type third struct {
		ID   string
		Kind bool
	}
	for _, value := range []any{
		benchInput{Title: "x", State: "open", Tags: []string{"a"}, Draft: true},
		struct {
			deeper
			Name bool `json:"name"`
		}{deeper: deeper{Level: 1}},
		struct {
			other
			third
		}{},
		struct {
			base
			twice
		}{},
		struct {
			twice
			Other other `json:"other"`
		}{},
		struct {
			*base
			B map[string]time.Time
		}{base: &base{}, B: map[string]time.Time{"x": {}}},
		struct {
			A [2]uint8 `json:"é"`
			B any      `json:"b c"`
			C [2]int8
		}{},
	} {
		s, err := schema.Infer(reflect.TypeOf(value))
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for name := range jsonscan.Members(jsonscan.Get(s.JSON(), "properties")) {
			got = append(got, string(name))
		}
		for name := range jsonscan.Members(text) {
			want = append(want, string(name))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%T: got %q, want %q", value, got, want)
		}
		if err := s.Validate(text); err != nil {
			t.Errorf("%T: its own JSON %s is invalid: %v", value, text, err)
		}
	}
}

func TestInferenceIsDeterministic(t *testing.T) {
	texts := map[string]bool{}
	for range 20 {
		s, err := schema.For[struct {
			A list            `json:"a"`
			B page[list]      `json:"b"`
			C map[string]tree `json:"c"`
			deeper
		}]()
		if err != nil {
			t.Fatal(err)
		}
		texts[s.String()] = true
	}
	if len(texts) != 1 {
		t.Errorf("got %d texts: %q", len(texts), slices.Collect(maps.Keys(texts)))
	}
}
