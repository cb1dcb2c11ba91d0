package schema_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/schema"
)

// cases are our own: they run where the suite is not, and show every message.
var cases = []struct {
	name   string
	schema string
	value  string
	want   string // the whole error; empty for none
}{
	{"the empty schema accepts everything", `{}`, `[1,{"a":null}]`, ""},
	{"true accepts everything", `true`, `null`, ""},
	{"false accepts nothing", `false`, `null`, `must be left out, got null`},
	{"a string is a string", `{"type":"string"}`, `"a"`, ""},
	{"a number is no string", `{"type":"string"}`, `5`, `must be a string, got number 5`},
	{"an array is told by its size", `{"type":"string"}`, `[1,2]`, `must be a string, got array of 2 items`},
	{"an object is told by its size", `{"type":"array"}`, `{"a":1}`, `must be an array, got object with 1 member`},
	{"several types are all told", `{"type":["integer","boolean","null"]}`, `"x"`, `must be null, a boolean or an integer, got string "x"`},
	{"1.0 is an integer", `{"type":"integer"}`, `1.0`, ""},
	{"1e2 is an integer", `{"type":"integer"}`, `1e2`, ""},
	{"1e-2 is no integer", `{"type":"integer"}`, `1e-2`, `must be an integer, got number 1e-2`},
	{"123e-1 is no integer, 120e-1 is", `{"items":{"type":"integer"}}`, `[120e-1,123e-1]`, `[1]: must be an integer, got number 123e-1`},
	{"an integer of 40 digits is one", `{"type":"integer"}`, `1234567890123456789012345678901234567890`, ""},
	{"a value in a string is pointed out", `{"type":"integer"}`, `"5"`, `must be an integer, got string "5"; pass the value itself, not its text in a string`},
	{"a long value is cut", `{"type":"integer"}`, `"` + strings.Repeat("é", 200) + `"`, `must be an integer, got string "` + strings.Repeat("é", 39) + "…"},
	{"an unknown member gets a hint", `{"properties":{"title":{},"body":{}},"additionalProperties":false}`, `{"titel":1}`, `unknown argument "titel"; did you mean "title"? allowed: title, body`},
	{"case and punctuation are slips", `{"properties":{"task_id":{}},"additionalProperties":false}`, `{"taskId":1}`, `unknown argument "taskId"; did you mean "task_id"? allowed: task_id`},
	{"nothing near gets no hint", `{"properties":{"title":{}},"additionalProperties":false}`, `{"xyz":1}`, `unknown argument "xyz"; allowed: title`},
	{"an object that allows nothing says little", `{"type":"object","additionalProperties":false}`, `{"a":1}`, `unknown argument "a"`},
	{"a missing member is named", `{"properties":{"a":{}},"required":["a","b"]}`, `{"a":1}`, `missing required argument "b"`},
	{"several problems come in the value's order", `{"properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["c"],"additionalProperties":false}`, `{"b":1,"x":2,"a":3}`, `b: must be a string, got number 1. unknown argument "x"; allowed: a, b. a: must be a string, got number 3. missing required argument "c"`},
	{"paths lead through objects and arrays", `{"properties":{"a":{"items":{"properties":{"b c":{"type":"null"}}}}}}`, `{"a":[{},{"b c":1}]}`, `a[1]["b c"]: must be null, got number 1`},
	{"additionalProperties checks the others", `{"properties":{"a":{}},"additionalProperties":{"type":"string"}}`, `{"a":1,"b":2}`, `b: must be a string, got number 2`},
	{"an enum lists what is allowed", `{"enum":["open","closed",1,null]}`, `"opne"`, `got string "opne"; did you mean "open"? allowed: "open", "closed", 1, null`},
	{"an enum compares numbers by value", `{"enum":[1.50]}`, `15e-1`, ""},
	{"an enum compares objects without order", `{"enum":[{"a":1,"b":[2]}]}`, `{"b":[2.0],"a":1}`, ""},
	{"an enum compares strings by what they spell", `{"enum":["a"]}`, `"\u0061"`, ""},
	{"a long enum of strings finds them", `{"enum":["a","b","c","d","e","f","g","h","i","j"]}`, `"j"`, ""},
	{"a constant is told", `{"const":{"a":1}}`, `{"a":2}`, `must be {"a":1}, got object with 1 member`},
	{"minimum is told", `{"minimum":-1.50}`, `-2`, `must be at least -1.5, got -2`},
	{"maximum is told", `{"maximum":100}`, `1e3`, `must be at most 100, got 1e3`},
	{"exclusiveMinimum is told", `{"exclusiveMinimum":0}`, `0.0`, `must be more than 0, got 0.0`},
	{"exclusiveMaximum is told", `{"exclusiveMaximum":0.5}`, `0.5`, `must be less than 0.5, got 0.5`},
	{"big numbers compare exactly", `{"maximum":12345678901234567890}`, `12345678901234567891`, `must be at most 12345678901234567890, got 12345678901234567891`},
	{"minLength counts code points", `{"minLength":2}`, `"\ud83d\ude00"`, `must have at least 2 characters, got "\ud83d\ude00" with 1`},
	{"maxLength counts code points", `{"maxLength":2}`, `"😀é"`, ""},
	{"maxLength is told", `{"maxLength":1}`, `"ab"`, `must have at most 1 character, got "ab" with 2`},
	{"a pattern is told", `{"pattern":"^[a-z]+$"}`, `"A1"`, `must match the pattern ^[a-z]+$, got string "A1"`},
	{"minItems is told", `{"minItems":2}`, `[1]`, `must have at least 2 items, got 1`},
	{"maxItems is told", `{"maxItems":1}`, `[1,2]`, `must have at most 1 item, got 2`},
	{"minProperties is told", `{"minProperties":1}`, `{}`, `must have at least 1 member, got 0`},
	{"maxProperties is told", `{"maxProperties":1}`, `{"a":1,"b":2}`, `must have at most 1 member, got 2`},
	{"format only informs", `{"format":"email"}`, `"nobody"`, ""},
	{"format only informs in draft-07 too", `{"$schema":"http://json-schema.org/draft-07/schema#","format":"email"}`, `"nobody"`, ""},
	{"a schema may refer to itself", `{"properties":{"next":{"$ref":"#"},"v":{"type":"string"}},"additionalProperties":false}`, `{"next":{"next":{"v":1}}}`, `next.next.v: must be a string, got number 1`},
	{"a schema may refer to definitions", `{"items":{"$ref":"#/$defs/a"},"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"type":"null"}}}`, `[null,1]`, `[1]: must be null, got number 1`},
	{"unknown keywords say nothing", `{"x-mcp-header":"A","whatever":{"type":"string"}}`, `1`, ""},

	{"anyOf joins types", `{"anyOf":[{"type":"string"},{"type":"null"}]}`, `5`, `must be null or a string, got number 5`},
	{"anyOf tells about the form of the right type", `{"anyOf":[{"type":"null"},{"type":"object","required":["a"]}]}`, `{}`, `missing required argument "a"`},
	{"oneOf lists what tells its forms apart", `{"oneOf":[{"properties":{"k":{"const":"a"}}},{"properties":{"k":{"const":"b"}}}]}`, `{"k":"c"}`, `k: got string "c"; allowed: "a", "b"`},
	{"oneOf tells about the closest form", `{"oneOf":[{"properties":{"k":{"const":"a"},"x":{"type":"string"}}},{"properties":{"k":{"const":"b"},"y":{"type":"string"}}}]}`, `{"k":"b","y":1}`, `matches none of 2 allowed forms; the closest fails because y: must be a string, got number 1`},
	{"oneOf must not fit twice", `{"oneOf":[{},{}]}`, `1`, `fits more than one of the forms of which it must fit exactly one`},
	{"oneOf lists the values that tell its forms apart", `{"oneOf":[{"const":1,"title":"one"},{"enum":[2,3]}]}`, `4`, `got number 4; allowed: 1, 2, 3`},
	{"forms of the same kind beside others of another are compared", `{"anyOf":[{"type":"null"},{"type":"object","required":["a","b"]},{"type":"object","required":["c"]}]}`, `{}`, `matches none of 3 allowed forms; the closest fails because missing required argument "c"`},
	{"forms within forms are told from the inside", `{"anyOf":[{"type":"null"},{"anyOf":[{"type":"string"},{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"integer"}]}}]}]}`, `[1,{}]`, `[1]: must be an integer or a string, got object with 0 members`},
	{"forms that nothing fits say little", `{"anyOf":[false,{"not":{}}]}`, `1`, `matches none of 2 allowed forms; the closest fails because must be left out, got number 1`},
	{"allOf tells of each", `{"allOf":[{"required":["a"]},{"required":["b"]},{"required":["a"]}]}`, `{}`, `missing required argument "a". missing required argument "b"`},
	{"not is told by types", `{"not":{"type":["string","null"]}}`, `"a"`, `must not be null or a string, got string "a"`},
	{"not is told by values", `{"not":{"enum":[1,2]}}`, `2`, `has a value that is not allowed, got number 2`},
	{"not is told by a member", `{"not":{"required":["a"]}}`, `{"a":1}`, `must not have the argument "a"`},
	{"not is told by members", `{"not":{"required":["a","b"]}}`, `{"a":1,"b":2}`, `must not have all of the arguments "a", "b"`},
	{"not says little of other forms", `{"not":{"type":"string","minLength":1}}`, `"a"`, `has a form that is not allowed`},
	{"not not is followed", `{"not":{"not":{"type":"string"}}}`, `1`, `has a form that is not allowed`},
	{"if and then are followed", `{"if":{"required":["a"]},"then":{"required":["b"]}}`, `{"a":1}`, `missing required argument "b"`},
	{"if and else are followed", `{"if":{"required":["a"]},"then":false,"else":{"required":["b"]}}`, `{}`, `missing required argument "b"`},
	{"then says nothing without if", `{"then":false,"else":false}`, `1`, ""},
	{"multipleOf is for numbers", `{"multipleOf":0.01}`, `[]`, ""},
	{"multipleOf is exact with large numbers", `{"multipleOf":7}`, `70000000000000000000000000000000000000000000000000000000000000000000000001`, `must be a multiple of 7, got 70000000000000000000000000000000000000000000000000000000000000000000000001`},
	{"multipleOf is exact with powers", `{"multipleOf":0.125}`, `1e400`, ""},
	{"multipleOf is told", `{"items":{"multipleOf":0.01}}`, `[19.99,1.001]`, `[1]: must be a multiple of 0.01, got 1.001`},
	{"uniqueItems compares by value", `{"uniqueItems":true}`, `[1,"1",1.0]`, `must not repeat items, but items 0 and 2 are equal`},
	{"uniqueItems compares objects without order", `{"uniqueItems":true}`, `[{"a":1,"b":2},{"b":2,"a":1}]`, `must not repeat items, but items 0 and 1 are equal`},
	{"uniqueItems keeps what looks alike apart", `{"uniqueItems":true}`, `[["a","b"],["a,b"],"ab",1,true,[1],[[1]],{"a":[]},{"a":{}},0,false,null,""]`, ""},
	{"uniqueItems false says nothing", `{"uniqueItems":false,"not":false}`, `[1,1]`, ""},
	{"minContains is told", `{"contains":{"type":"string"},"minContains":2}`, `["a",1]`, `must contain at least 2 items of the form that the schema asks for, got 1`},
	{"maxContains is told", `{"contains":{"type":"string"},"maxContains":1}`, `["a",1,"b"]`, `must contain at most 1 item of the form that the schema limits, got 2`},
	{"minContains 0 asks for nothing", `{"contains":false,"minContains":0}`, `[1]`, ""},
	{"contains is told", `{"contains":{"type":"string"}}`, `[1]`, `must contain at least one item of the form that the schema asks for`},
	{"prefixItems go item by item", `{"prefixItems":[{"type":"string"},{"type":"number"}],"items":false}`, `["a","b",1]`, `[1]: must be a number, got string "b". must have at most 2 items, got 3`},
	{"items follow prefixItems", `{"prefixItems":[{"type":"string"}],"items":{"type":"number"}}`, `["a","b",1]`, `[1]: must be a number, got string "b"`},
	{"dependentRequired is told", `{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, `argument "a" also needs "b"`},
	{"dependentRequired says nothing of absent members", `{"dependentRequired":{"a":["b"]}}`, `{"c":1}`, ""},
	{"dependentSchemas are followed", `{"dependentSchemas":{"a":{"properties":{"b":{"type":"string"}}}}}`, `{"a":1,"b":2}`, `b: must be a string, got number 2`},
	{"dependencies are followed too", `{"dependencies":{"a":["b"],"c":{"required":["d"]}}}`, `{"a":1,"c":2}`, `argument "a" also needs "b". missing required argument "d"`},
	{"patternProperties are followed", `{"patternProperties":{"^x":{"type":"string"}},"additionalProperties":false}`, `{"x1":1,"x2":"a","y":1}`, `x1: must be a string, got number 1. unknown argument "y"`},
	{"propertyNames are told", `{"propertyNames":{"pattern":"^x"}}`, `{"a":1}`, `name "a" is not allowed: must match the pattern ^x, got string "a"`},
	{"unevaluatedProperties are unknown members", `{"allOf":[{"properties":{"a":{}}}],"unevaluatedProperties":false}`, `{"a":1,"b":2}`, `unknown argument "b"`},
	{"unevaluatedProperties know what was checked elsewhere", `{"$ref":"#/$defs/a","anyOf":[{"properties":{"b":{"type":"string"}}},{"properties":{"c":true}}],"unevaluatedProperties":{"type":"null"},"$defs":{"a":{"properties":{"a":true}}}}`, `{"a":1,"b":2,"c":3,"d":4}`, `b: must be null, got number 2. d: must be null, got number 4`},
	{"unevaluatedItems know what was checked elsewhere", `{"allOf":[{"prefixItems":[true]},{"contains":{"type":"string"}}],"unevaluatedItems":false}`, `[1,"a",2]`, `[2]: must be left out, got number 2`},
	{"what is left over is only told when all else is well", `{"allOf":[{"properties":{"a":{"type":"string"}}}],"unevaluatedProperties":false}`, `{"a":1}`, `a: must be a string, got number 1`},
	{"references work beside other keywords", `{"$ref":"#/$defs/a","minimum":2,"$defs":{"a":{"type":"integer"}}}`, `1`, `must be at least 2, got 1`},
	{"references work by address and anchor", `{"$id":"https://example.com/a","items":{"$ref":"b#c"},"$defs":{"x":{"$id":"b","$defs":{"y":{"$anchor":"c","type":"null"}}}}}`, `[1]`, `[0]: must be null, got number 1`},
	{"references may lead to any place", `{"items":{"$ref":"#/x~1y/1/a%20b"},"x/y":[0,{"a b":{"type":"null"}}]}`, `[1]`, `[0]: must be null, got number 1`},
	{"dynamic references lead to the outermost anchor", `{"$id":"https://example.com/strict","$dynamicAnchor":"node","$ref":"tree","unevaluatedProperties":false,"$defs":{"tree":{"$id":"tree","$dynamicAnchor":"node","properties":{"v":true,"kids":{"items":{"$dynamicRef":"#node"}}}}}}`, `{"kids":[{"v":1},{"w":2}]}`, `kids[1]: unknown argument "w"`},
	{"unknown members get hints beside other keywords too", `{"properties":{"title":{}},"additionalProperties":false,"not":false}`, `{"titel":1}`, `unknown argument "titel"; did you mean "title"? allowed: title`},
	{"draft-04 has its own exclusiveMinimum", `{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true}`, `1`, `must be more than 1, got 1`},
	{"draft-06 has const", `{"$schema":"http://json-schema.org/draft-06/schema#","const":1}`, `2`, `must be 1, got number 2`},
	{"draft-07 has items as a list", `{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}],"additionalItems":false}`, `[1,2]`, `[0]: must be a string, got number 1. must have at most 1 item, got 2`},
	{"draft-07 has references without company", `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#/definitions/x","type":"null"}},"definitions":{"x":{"type":"string"}}}`, `{"a":1}`, `a: must be a string, got number 1`},
	{"draft-07 has identifiers that only repeat where they stand", `{"$schema":"http://json-schema.org/draft-07/schema#","$id":"http://example.com/root.json","properties":{"a":{"$id":"#/properties/a","items":{"$id":"#/properties/a","type":"null"}}}}`, `{"a":[1]}`, `a[0]: must be null, got number 1`},
	{"a part may be of another dialect", `{"properties":{"a":{"$ref":"old"}},"$defs":{"o":{"$id":"old","$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"null"}]}}}`, `{"a":[1]}`, `a[0]: must be null, got number 1`},
	{"2019-09 has recursive references", `{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"properties":{"a":{"$recursiveRef":"#"}},"additionalProperties":false}`, `{"a":{"b":1}}`, `a: unknown argument "b"; allowed: a`},
	{"a metaschema may be referred to", `{"properties":{"s":{"$ref":"https://json-schema.org/draft/2020-12/schema"}}}`, `{"s":{"type":"strin"}}`, `s.type: got string "strin"; did you mean "string"? allowed: "array", "boolean", "integer", "null", "number", "object", "string"`},
}

func TestValuesAreJudgedAndProblemsTold(t *testing.T) {
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			s, err := schema.Parse([]byte(test.schema))
			if err != nil {
				t.Fatal(err)
			}
			for range 3 { // the order must not depend on chance
				if got := text(s.Validate([]byte(test.value))); got != test.want {
					t.Fatalf("\n got %s\nwant %s", got, test.want)
				}
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestProblemsNeverNameTheMachinery(t *testing.T) {
	for _, test := range cases {
		s := schema.MustParse(test.schema)
		message := strings.ToLower(text(s.Validate([]byte(test.value))))
		for _, word := range []string{"jsonschema", "map[", "interface", "schema://", "json.number", ".go"} {
			if strings.Contains(message, word) {
				t.Errorf("%s: %q names %s", test.name, message, word)
			}
		}
	}
}

func TestProblemsComeWithPathsAndMessages(t *testing.T) {
	s := schema.MustParse(`{"properties":{"filter":{"properties":{"state":{"enum":["open"]}},"required":["x"]}}}`)
	err := s.Validate([]byte(`{"filter":{"state":1}}`))
	var invalid *schema.Invalid
	if !errors.As(err, &invalid) {
		t.Fatalf("got %v, want an Invalid", err)
	}
	want := []schema.Problem{
		{Path: "filter.state", Message: `got number 1; allowed: "open"`},
		{Path: "filter", Message: `missing required argument "x"`},
	}
	if !slices.Equal(invalid.Problems, want) {
		t.Errorf("got %q, want %q", invalid.Problems, want)
	}
}

func TestNumbersCompareByValue(t *testing.T) {
	ascending := []string{"-1e400", "-100", "-99.9", "-1.5", "-1e-400", "0", "1e-400", "0.001", "0.01", "1", "1.00000000000000000001", "1.5", "2", "10", "99", "100", "12345678901234567890", "12345678901234567891", "1e400", "1e9999999999999"}
	for i, a := range ascending {
		for j, b := range ascending {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := schema.CompareNumbers(a, b); got != want {
				t.Errorf("compare %s with %s: got %d, want %d", a, b, got, want)
			}
		}
	}
	for _, same := range [][]string{{"0", "-0", "0.0", "0e5", "-0.00e-3"}, {"1", "1.0", "10e-1", "0.1e1", "1E+0", "0.001e3"}, {"-150", "-1.5e2", "-1500e-1"}} {
		for _, a := range same {
			if schema.CompareNumbers(a, same[0]) != 0 {
				t.Errorf("%s and %s are not the same", a, same[0])
			}
		}
	}
	for given, want := range map[string]string{"1.50": "1.5", "-0": "0", "1e3": "1000", "1e-3": "0.001", "1e30": "1e30", "1.25e-30": "1.25e-30", "-120": "-120", "0.10": "0.1"} {
		if got := schema.ShowNumber(given); got != want {
			t.Errorf("%s is shown as %s, want %s", given, got, want)
		}
	}
}
