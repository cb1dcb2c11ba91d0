package schema_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/schema"
)

func TestTextIsKept(t *testing.T) {
	const text = "{ \"type\":\"number\",\n \"minimum\": 1.50e1, \"x\":\"\\u0061\" }"
	s, err := schema.Parse([]byte("\n" + text + " "))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(s.JSON()); got != text {
		t.Errorf("got %s, want %s", got, text)
	}
}

func TestTextThatIsNoSchemaIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		``:                 "unexpected end",
		`null`:             "must be an object or a boolean, got null",
		`[]`:               "must be an object or a boolean, got array of 0 items",
		`"x"`:              "must be an object or a boolean",
		`{"a":1,"a":2}`:    "duplicate member name",
		`{} {}`:            "text after the value",
		`{"a":"\ud800"}`:   "half a surrogate pair",
		"{\"a\":\"\xff\"}": "invalid UTF-8",
	} {
		if _, err := schema.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want an error with %q", text, err, want)
		}
	}
}

func TestASchemaIsAFieldLikeOthers(t *testing.T) {
	type tool struct {
		Name   string         `json:"name"`
		Input  *schema.Schema `json:"input"`
		Output *schema.Schema `json:"output,omitzero"`
	}
	const text = `{"name":"add","input":{"type":"object","x":1.50}}`
	var got tool
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.Output != nil || got.Input.String() != `{"type":"object","x":1.50}` {
		t.Errorf("got %v and %v", got.Input, got.Output)
	}
	if err := got.Input.Validate([]byte(`1`)); err == nil {
		t.Error("1 is no object, but valid")
	}
	again, err := json.Marshal(got)
	if err != nil || string(again) != text {
		t.Errorf("got %s, %v, want %s", again, err, text)
	}
	if err := json.Unmarshal([]byte(`{"name":"add","input":5}`), &got); err == nil || !strings.Contains(err.Error(), "object or a boolean") {
		t.Errorf("got %v, want an error", err)
	}
}

func TestNilAndZeroSchemasAcceptEverything(t *testing.T) {
	var none *schema.Schema
	for _, s := range []*schema.Schema{none, new(schema.Schema)} {
		if got := s.String(); got != `{}` {
			t.Errorf("got text %s", got)
		}
		if err := s.Compile(); err != nil {
			t.Error(err)
		}
		if err := s.Validate([]byte(`[1]`)); err != nil {
			t.Error(err)
		}
		if got, err := s.Defaults([]byte(`{}`)); err != nil || string(got) != `{}` {
			t.Errorf("got %s, %v", got, err)
		}
	}
}

// nonsense are schemas that no value can be checked against.
var nonsense = []struct{ text, want string }{
	{`{"type":"strin"}`, `type: got string "strin"; did you mean "string"? allowed: `},
	{`{"properties":{"a":{"minLength":-1}},"required":"x"}`, `properties.a.minLength: must be at least 0, got -1. required: must be an array, got string "x"`},
	{`{"properties":[]}`, `properties: must be an object, got array of 0 items`},
	{`{"enum":5}`, `enum: must be an array, got number 5`},
	{`{"required":["a","a"]}`, `required: must not repeat items`},
	{`{"$schema":"https://example.com/mine"}`, `dialect "https://example.com/mine" is not supported; supported: 2020-12, 2019-09, draft-07, draft-06, draft-04`},
	{`{"$schema":"http://json-schema.org/draft-03/schema#"}`, `is not supported`},
	{`{"$schema":5}`, `$schema: must be a string, got number 5`},
	{`{"$ref":"#/$defs/nope"}`, `reference to "#/$defs/nope" leads nowhere`},
	{`{"$ref":"#nope"}`, `reference to "#nope" leads nowhere`},
	{`{"$ref":"other.json#/a"}`, `reference to "other.json": external references are not fetched`},
	{`{"$ref":"https://example.com/a.json"}`, `reference to "https://example.com/a.json": external references are not fetched`},
	{`{"pattern":"(?=a)"}`, `pattern: "(?=a)" is not a supported pattern: invalid or unsupported Perl syntax at "(?=" (patterns have RE2 syntax)`},
	{`{"patternProperties":{"[":{}}}`, `is not a supported pattern`},
	{`{"$defs":{"a":{"$id":"x"},"b":{"$id":"x"}}}`, `duplicate id "x"`},
	{`{"$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}}`, `$defs.b.$anchor: duplicate anchor "x"`},
	{`{"$anchor":"x y"}`, `$anchor: must match the pattern`},
	{`{"$id":"a#b"}`, `$id: must match the pattern`},
	{`{"$id":"http://[/"}`, `$id: address "http://[/" is malformed`},
	{`{"$ref":"#/%zz"}`, `reference to "#/%zz" is malformed`},
	{`{"$ref":"#/x","x":5}`, `reference to "#/x" leads to what is no schema`},
	{`{"$ref":"#/x","x":{"type":5}}`, `x.type: has a value that it cannot have`},
	{`{"$ref":"#/x/0","x":{}}`, `reference to "#/x/0" leads nowhere`},
	{`{"$ref":5}`, `$ref: must be a string, got number 5`},
	{`{"properties":{"a":{"anyOf":[]}}}`, `properties.a.anyOf: must have at least 1 item, got 0`},
	{`{"allOf":[{"items":[true]}]}`, `allOf[0].items: must be a boolean or an object, got array of 1 item`},
	{`{"multipleOf":0}`, `multipleOf: must be more than 0, got 0`},
	{`{"not":{"exclusiveMinimum":true}}`, `not.exclusiveMinimum: must be a number, got true`},
	{`{"title":5}`, `title: must be a string, got number 5`},
	{`{"type":5}`, `type: must be a string or an array, got number 5`},
	{`{"$schema":"http://json-schema.org/draft-04/schema#","exclusiveMinimum":1}`, `exclusiveMinimum: must be a boolean, got number 1`},
	{`{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":[1]}}`, `dependencies.a[0]: must be a string, got number 1`},
	{`{"$defs":{"o":{"$id":"old","$schema":"http://json-schema.org/draft-07/schema#","items":[true],"title":5}}}`, `$defs.o.title: has a value that it cannot have`},
	{`{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":"x"}`, `$recursiveAnchor: must be a boolean, got string "x"`},
}

func TestSchemasThatMakeNoSenseAreRefused_R071(t *testing.T) {
	for _, test := range nonsense {
		s, err := schema.Parse([]byte(test.text))
		if err != nil {
			t.Fatal(err)
		}
		err = s.Compile()
		if err == nil || !strings.HasPrefix(err.Error(), "compile schema: ") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s:\n got %v\nwant an error with %s", test.text, err, test.want)
		}
		var invalid *schema.Invalid
		if errors.As(err, &invalid) {
			t.Errorf("%s: the schema's own error speaks of a value", test.text)
		}
		if again := s.Validate([]byte(`1`)); again != err {
			t.Errorf("%s: Validate says %v", test.text, again)
		}
	}
}

func TestASchemaIsSafeForConcurrentUse(t *testing.T) {
	for _, text := range []string{benchSchema, `{"anyOf":[` + benchSchema + `]}`} {
		s := schema.MustParse(text)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 20 {
					if err := s.Validate([]byte(benchValue)); err != nil {
						t.Error(err)
					}
					if err := s.Validate([]byte(benchWrong)); err == nil {
						t.Error("a wrong value is valid")
					}
					if _, err := s.Defaults([]byte(benchValue)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
	}
}

func TestPlansAllocateNothingForGoodValues(t *testing.T) {
	s := schema.MustParse(benchSchema)
	value := []byte(benchValue)
	if n := testing.AllocsPerRun(100, func() { _ = s.Validate(value) }); n != 0 {
		t.Errorf("got %v allocations", n)
	}
}

func TestTextThatIsNoJSONDoesNotPanic(t *testing.T) {
	const value = `{"title":"a\u0041","list":[1,-2.5e3,true,null],"state":"open"}`
	for _, text := range []string{
		benchSchema,
		`{"properties":{"title":{"minLength":1,"maxLength":0,"pattern":"x","const":"y"},"list":{"items":{"enum":[1,"a",{}]}}},"additionalProperties":{"maximum":1,"enum":["a","b","c","d","e","f","g","h","i"]}}`,
		`{"anyOf":[` + benchSchema + `]}`,
		`{"properties":{"state":{},"x":{"default":1}},"additionalProperties":{"properties":{"y":{"default":2}}}}`,
	} {
		s := schema.MustParse(text)
		for i := range len(value) {
			for _, broken := range []string{value[:i], value[i:]} {
				_ = s.Validate([]byte(broken))
				_, _ = s.Defaults([]byte(broken))
			}
		}
	}
}

func TestMustParsePanicsWithTheText(t *testing.T) {
	defer func() {
		if p := recover(); p == nil || !strings.Contains(p.(string), `{"type"`) {
			t.Errorf("got panic %v", p)
		}
	}()
	schema.MustParse(`{"type"`)
}

func TestDefaultsAreFilledIn(t *testing.T) {
	const text = `{
		"properties":{
			"limit":{"type":"integer","default":20},
			"filter":{"$ref":"#/$defs/filter"},
			"list":{"items":{"properties":{"n":{"default":1}}}},
			"next":{"$ref":"#"}
		},
		"additionalProperties":{"properties":{"z":{"default":null}}},
		"allOf":[{"properties":{"deep":{"default":{"a":[]}}}}],
		"$defs":{"filter":{"properties":{"state":{"default":"open"}}}}
	}`
	s := schema.MustParse(text)
	for _, test := range []struct{ name, value, want string }{
		{"absent members are filled in", `{}`, `{"limit":20,"deep":{"a":[]}}`},
		{"present members stay", `{"limit":null,"deep":1}`, `{"limit":null,"deep":1}`},
		{"nested objects are filled in", `{"limit":1,"deep":0,"filter":{ }}`, `{"limit":1,"deep":0,"filter":{"state":"open"}}`},
		{"items are filled in", `{"limit":1,"deep":0,"list":[{},{"n":2},3]}`, `{"limit":1,"deep":0,"list":[{"n":1},{"n":2},3]}`},
		{"references to the root are followed", `{"limit":1,"deep":0,"next":{"deep":0}}`, `{"limit":1,"deep":0,"next":{"deep":0,"limit":20}}`},
		{"other members are filled in", `{"limit":1,"deep":0,"x":{}}`, `{"limit":1,"deep":0,"x":{"z":null}}`},
		{"numbers and escapes stay as they are", `{"a\"b":1.50,"limit":1e2}`, `{"a\"b":1.50,"limit":1e2,"deep":{"a":[]}}`},
		{"what is no object stays", `[1]`, `[1]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := s.Defaults([]byte(test.value))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != test.want {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestDefaultsFollowReferencesAndPlaces(t *testing.T) {
	for _, test := range []struct{ name, text, value, want string }{
		{"by anchor", `{"items":{"$ref":"#a"},"$defs":{"x":{"$anchor":"a","properties":{"n":{"default":1}}}}}`, `[{}]`, `[{"n":1}]`},
		{"by address", `{"$id":"http://example.com/r","items":{"$ref":"b"},"$defs":{"x":{"$id":"b","properties":{"n":{"default":1}}}}}`, `[{}]`, `[{"n":1}]`},
		{"beside other keywords", `{"$ref":"#/$defs/a","type":"object","$defs":{"a":{"properties":{"n":{"default":1}}}}}`, `{}`, `{"n":1}`},
		{"beside a reference", `{"properties":{"n":{"$ref":"#/$defs/a","default":1}},"$defs":{"a":{}}}`, `{}`, `{"n":1}`},
		{"item by item", `{"prefixItems":[true,{"properties":{"n":{"default":1}}}],"items":{"properties":{"m":{"default":2}}}}`, `[{},{},{}]`, `[{},{"n":1},{"m":2}]`},
		{"in circles", `{"properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{"properties":{"a":{"$ref":"#"},"n":{"default":1}}}}}`, `{"a":{"a":{"a":{}}}}`, `{"a":{"a":{"a":{"n":1}},"n":1}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := schema.MustParse(test.text).Defaults([]byte(test.value))
			if err != nil || string(got) != test.want {
				t.Errorf("got %s, %v, want %s", got, err, test.want)
			}
		})
	}
}

func TestDefaultsReturnTheValueItselfWhenNothingIsMissing(t *testing.T) {
	for _, text := range []string{`{"properties":{"a":{"default":1}}}`, `{"properties":{"a":{}}}`, `true`} {
		value := []byte(` {"a":2} `)
		got, err := schema.MustParse(text).Defaults(value)
		if err != nil {
			t.Fatal(err)
		}
		if &got[0] != &value[0] || len(got) != len(value) {
			t.Errorf("%s: got a copy", text)
		}
	}
}

func TestDefaultsOfABrokenSchemaAreAnError(t *testing.T) {
	if _, err := schema.MustParse(`{"type":5}`).Defaults([]byte(`{}`)); err == nil {
		t.Error("got no error")
	}
}
