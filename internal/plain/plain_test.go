package plain_test

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/internal/plain"
)

type inner struct {
	Name  string   `json:"name,omitzero"`
	Tags  []string `json:"tags"`
	Depth *int8    `json:"depth,omitzero"`
}

type everything struct {
	Bool   bool      `json:"bool"`
	Text   string    `json:"text"`
	Float  float64   `json:"float"`
	Int    int       `json:"int"`
	Small  int8      `json:"small"`
	Uint   uint32    `json:"uint"`
	Inner  inner     `json:"inner"`
	Many   []inner   `json:"many"`
	Ptr    *inner    `json:"ptr"`
	Floats []float64 `json:"floats,omitzero"`
	Plain  string
	hidden int
}

// sameRead fails the test if the codec reads what package json does not, or
// otherwise; it may give up.
func sameRead(t *testing.T, text []byte) (sure bool) {
	t.Helper()
	var got, want everything
	if !plain.Of(reflect.TypeFor[everything]()).Read(text, reflect.ValueOf(&got).Elem()) {
		return false
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatalf("%s: package json says %v", text, err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s\ngot  %+v\nwant %+v", text, got, want)
	}
	return true
}

// sameWrite fails the test if the codec writes what package json does not.
func sameWrite(t *testing.T, v *everything) (sure bool) {
	t.Helper()
	got, ok := plain.Of(reflect.TypeFor[everything]()).Append(nil, reflect.ValueOf(v).Elem())
	want, err := json.Marshal(v)
	if ok && err != nil {
		t.Fatalf("%+v: package json says %v", v, err)
	}
	if ok && string(got) != string(want) {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
	return ok
}

func TestReadsWhatPackageJSONReads(t *testing.T) {
	for text, sure := range map[string]bool{
		`{}`: true,
		` { "bool" : true , "text" : "a\u00e9\n" , "unknown" : [1,{}] } `:                      true,
		`{"float":1e3,"int":-12,"small":-128,"uint":4294967295}`:                               true,
		`{"Plain":"x","text":"out of order","bool":false}`:                                     true,
		`{"inner":{"name":"a","tags":[]},"many":[{"tags":["x","y"],"depth":7},{}],"ptr":null}`: true,
		`{"ptr":{"name":"b"},"floats":[1,2.5,-0,1e-7]}`:                                        true,
		`{"many":[{},{},{},{},{},{},{},{},{"name":"last"}]}`:                                   true,
		`{"int":5.0}`:            false,
		`{"int":"5"}`:            false,
		`{"small":128}`:          false,
		`{"uint":-1}`:            false,
		`{"float":1e999}`:        false,
		`{"text":null}`:          false,
		`{"many":null}`:          false,
		`{"bool":"true"}`:        false,
		`{"inner":[]}`:           false,
		`[]`:                     false,
		`{"inner":{"tags":[1]}}`: false,
	} {
		if got := sameRead(t, []byte(text)); got != sure {
			t.Errorf("%s: sure %v, want %v", text, got, sure)
		}
	}
}

func TestWritesWhatPackageJSONWrites(t *testing.T) {
	seven := int8(7)
	for _, f := range []float64{0, math.Copysign(0, -1), 1, -1.5, 1e-6, 9.9e-7, 1e-7, 1e-10, 1e20, 1e21, 1.7976931348623157e308, 5e-324, 0.1, 42,
		-7, 1<<53 - 1, -(1<<53 - 1), 1 << 53, 1<<53 + 2, -(1 << 53), 1 << 62, 1 << 63, -(1 << 63), 1 << 64, 1<<53 - 0.5, 1e18, 123456789012345680000} {
		if !sameWrite(t, &everything{Float: f}) {
			t.Errorf("not sure of %v", f)
		}
	}
	if !sameWrite(t, &everything{Bool: true, Text: "a\"\\\n\x7f\u2028<é世\U0001f600", Int: math.MinInt64, Small: -128, Uint: math.MaxUint32, hidden: 1,
		Inner: inner{Name: "n", Tags: []string{}, Depth: &seven}, Many: []inner{{}, {Tags: []string{"x", ""}}}, Ptr: &inner{}, Floats: []float64{}}) {
		t.Error("not sure of everything at once")
	}
	for _, v := range []*everything{{Float: math.NaN()}, {Float: math.Inf(1)}, {Text: "\xff"}, {Inner: inner{Tags: []string{"\xff"}}}} {
		if sameWrite(t, v) {
			t.Errorf("%+v: sure of what cannot be written", v)
		}
	}
}

type method struct{ A int }

func (*method) IsZero() bool { return false }

type talkative struct{ A int }

func (talkative) Text() string { return "" }

type loop struct{ Next *loop }

// Each has one method that package json looks for.
type (
	marshals       struct{ A int }
	unmarshals     struct{ A int }
	marshalsTo     struct{ A int }
	unmarshalsFrom struct{ A int }
	writesText     string
	readsText      string
	appendsText    string
)

func (marshals) MarshalJSON() ([]byte, error)                    { return nil, nil }
func (*unmarshals) UnmarshalJSON([]byte) error                   { return nil }
func (*marshalsTo) MarshalJSONTo(*jsontext.Encoder) error        { return nil }
func (unmarshalsFrom) UnmarshalJSONFrom(*jsontext.Decoder) error { return nil }
func (writesText) MarshalText() ([]byte, error)                  { return nil, nil }
func (*readsText) UnmarshalText([]byte) error                    { return nil }
func (*appendsText) AppendText(b []byte) ([]byte, error)         { return b, nil }

func TestTypesThatAreNotPlainAreLeftAlone(t *testing.T) {
	for _, v := range []any{
		time.Time{}, time.Second, method{}, &method{}, loop{}, map[string]int{}, []byte{}, [2]int{}, float32(0), complex(1, 1),
		marshals{}, unmarshals{}, marshalsTo{}, unmarshalsFrom{}, writesText(""), readsText(""), appendsText(""),
		new(unmarshals), []unmarshals{}, []*readsText{}, struct{ A *[]appendsText }{}, struct{ A writesText }{},
		struct{ A any }{}, struct{ inner }{}, struct{ A map[string]int }{}, struct{ A time.Time }{},
		struct {
			A int `json:"a,omitempty"`
		}{},
		struct {
			A int `json:",string"`
		}{},
		struct {
			A int `json:"-"`
		}{},
		struct {
			A int `json:"a b"`
		}{},
	} {
		if c := plain.Of(reflect.TypeOf(v)); c != nil {
			t.Errorf("%T has a codec", v)
		}
	}
	if plain.Of(reflect.TypeFor[talkative]()) == nil {
		t.Error("a type whose methods package json does not look for has no codec")
	}
	twice := reflect.StructOf([]reflect.StructField{
		{Name: "A", Type: reflect.TypeFor[int](), Tag: `json:"x"`}, {Name: "B", Type: reflect.TypeFor[int](), Tag: `json:"x"`},
	})
	if plain.Of(twice) != nil {
		t.Error("two fields of one name have a codec")
	}
	if plain.Of(reflect.TypeFor[any]()) != nil {
		t.Error("an interface has a codec")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"bool":true,"text":"a","float":1e2,"int":1,"many":[{"tags":["x"]}],"ptr":{"depth":1}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if jsonscan.Check(text, 100) == nil {
			sameRead(t, text)
		}
	})
}

func FuzzWrite(f *testing.F) {
	f.Add("text", 1.5, int64(1), uint32(2))
	f.Fuzz(func(t *testing.T, text string, float float64, n int64, u uint32) {
		sameWrite(t, &everything{Text: text, Float: float, Int: int(n), Small: int8(n), Uint: u, Many: []inner{{Name: text}}})
	})
}
