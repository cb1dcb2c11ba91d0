package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/schema"
)

const (
	in2020 = `"$schema":"https://json-schema.org/draft/2020-12/schema"`
	vocab  = "https://json-schema.org/draft/2020-12/vocab/"
)

// metaschemas are those that the schemas of the tests below name.
var metaschemas = schema.Documents{
	"https://example.com/whole":      []byte(`{` + in2020 + `}`),
	"https://example.com/nowhere":    []byte(`{}`),
	"https://example.com/core":       []byte(`{` + in2020 + `,"$vocabulary":{"` + vocab + `core":true}}`),
	"https://example.com/empty":      []byte(`{` + in2020 + `,"$vocabulary":{}}`),
	"https://example.com/applicator": []byte(`{` + in2020 + `,"$vocabulary":{"` + vocab + `core":true,"` + vocab + `applicator":true}}`),
	"https://example.com/validation": []byte(`{` + in2020 + `,"$vocabulary":{"` + vocab + `validation":false}}`),
	"https://example.com/optional":   []byte(`{` + in2020 + `,"$vocabulary":{"` + vocab + `validation":true,"https://example.com/stars":false}}`),
	"https://example.com/required":   []byte(`{` + in2020 + `,"$vocabulary":{"` + vocab + `validation":true,"https://example.com/stars":true}}`),
	"https://example.com/odd":        []byte(`{` + in2020 + `,"$vocabulary":{"https://example.com/stars":1}}`),
	"https://example.com/list":       []byte(`{` + in2020 + `,"$vocabulary":["x"]}`),
	"https://example.com/formats":    []byte(`{` + in2020 + `,"$vocabulary":{"` + vocab + `format-assertion":true}}`),
	"https://example.com/annotated":  []byte(`{` + in2020 + `,"$vocabulary":{"` + vocab + `format-annotation":true,"` + vocab + `format-assertion":false}}`),
	"https://example.com/other":      []byte(`{"$schema":"https://json-schema.org/draft/2019-09/schema","$vocabulary":{"` + vocab + `validation":true}}`),
	"https://example.com/2019":       []byte(`{"$schema":"https://json-schema.org/draft/2019-09/schema","$vocabulary":{"https://json-schema.org/draft/2019-09/vocab/applicator":true}}`),
	"https://example.com/7":          []byte(`{"$schema":"http://json-schema.org/draft-07/schema#","$vocabulary":{"https://example.com/stars":true}}`),
	"https://example.com/child":      []byte(`{"$schema":"https://example.com/required"}`),
	"https://example.com/self":       []byte(`{"$schema":"https://example.com/self","$vocabulary":{"` + vocab + `core":true}}`),
	"https://example.com/stranger":   []byte(`{"$schema":"https://example.com/unknown"}`),
	"https://example.com/number":     []byte(`5`),
	"https://example.com/twice":      []byte(`{"a":1,"a":2}`),
	"https://example.com/huge":       []byte(`{"a":"` + strings.Repeat("x", 1<<20) + `"}`),
	"https://example.com/crowd":      []byte(`{"a":[` + strings.Repeat("{},", 10_001) + `{}]}`),
	"https://example.com/positive":   []byte(`{"type":"integer","minimum":1}`),
}

func TestAMetaschemaDecidesWhichKeywordsCount_R071(t *testing.T) {
	const number = `"properties":{"n":{"type":"integer","minimum":10,"default":12},"never":false}`
	for _, test := range []struct {
		name, dialect, keywords, value string
		valid                          bool
	}{
		{"without $vocabulary the whole dialect counts", "whole", number, `{"n":1}`, false},
		{"a metaschema without a dialect is of the newest", "nowhere", number, `{"n":1}`, false},
		{"the core alone says nothing of values", "core", number, `{"n":"x","never":1}`, true},
		{"the core is never left out", "empty", `"$defs":{"a":{"$anchor":"a"}},"$ref":"#a"`, `1`, true},
		{"applicators apply", "applicator", number, `{"never":1}`, false},
		{"without validation nothing is asserted", "applicator", number, `{"n":"x"}`, true},
		{"no keyword of validation is", "applicator", `"required":["a"],"minProperties":9,"const":1,"enum":[1]`, `{}`, true},
		{"unevaluated members have a vocabulary of their own", "applicator", `"unevaluatedProperties":false`, `{"a":1}`, true},
		{"which 2019-09 has among the applicators", "2019", `"unevaluatedProperties":false`, `{"a":1}`, false},
		{"a vocabulary that is known counts even if it is optional", "validation", `"type":"integer"`, `"x"`, false},
		{"without applicators parts are not looked at", "validation", `"properties":{"a":false}`, `{"a":1}`, true},
		{"an optional vocabulary may be unknown", "optional", `"type":"integer"`, `"x"`, false},
		{"its keywords say nothing", "optional", `"stars":5`, `1`, true},
		{"formats may be annotations", "annotated", `"format":"ipv4","type":7`, `"x"`, true},
		{"older dialects have no vocabularies", "7", `"items":[{"type":"integer"}]`, `["x"]`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := metaschemas.Parse(fmt.Appendf(nil, `{"$schema":"https://example.com/%s",%s}`, test.dialect, test.keywords))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Compile(); err != nil {
				t.Fatal(err)
			}
			if err := s.Validate([]byte(test.value)); (err == nil) != test.valid {
				t.Errorf("%s: got %v", test.value, err)
			}
		})
	}
}

func TestADialectThatCannotBeUnderstoodIsRefused_R071(t *testing.T) {
	for _, test := range []struct{ name, dialect, want string }{
		{"it needs a vocabulary that is unknown", "required", `the metaschema needs the vocabulary "https://example.com/stars", which is not supported`},
		{"a vocabulary with an odd value is needed", "odd", "needs the vocabulary"},
		{"it needs formats to be checked", "formats", "format-assertion"},
		{"it has a vocabulary of another dialect", "other", "2020-12/vocab/validation"},
		{"$vocabulary is a list", "list", "must be an object, got array"},
		{"it describes itself", "self", `dialect "https://example.com/self" is not supported`},
		{"its own metaschema is unknown", "stranger", `dialect "https://example.com/unknown" is not supported`},
		{"it is not among the documents", "missing", "is not supported; supported: 2020-12"},
		{"it is no object", "number", "is not supported"},
		{"it is not strict JSON", "twice", "is not supported"},
		{"it is too long", "huge", "is not supported"},
		{"it has too much in it", "crowd", "is not supported"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, form := range []string{`{"$schema":%q}`, `{"$defs":{"a":{"$id":"x","$schema":%q}}}`} {
				s, err := metaschemas.Parse(fmt.Appendf(nil, form, "https://example.com/"+test.dialect))
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Compile(); err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("got %v, want %s", err, test.want)
				}
			}
		})
	}
	// The vocabularies of a metaschema's own metaschema are for the metaschema.
	s, err := metaschemas.Parse([]byte(`{"$schema":"https://example.com/child","type":"integer"}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate([]byte(`"x"`)); err == nil {
		t.Error("a dialect that is described in two steps asserts nothing")
	}
}

func TestDocumentsAreReferredToAndNothingElseIs(t *testing.T) {
	s, err := metaschemas.Parse([]byte(`{"$id":"https://example.com/mine","items":{"$ref":"positive"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if s.Validate([]byte(`[1]`)) != nil || s.Validate([]byte(`[0]`)) == nil {
		t.Error("the document is not what the reference leads to")
	}
	for _, ref := range []string{"https://example.com/absent", "https://example.com/huge", "https://example.com/twice", "https://example.com/crowd"} {
		s, err := metaschemas.Parse(fmt.Appendf(nil, `{"$ref":%q}`, ref))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Compile(); err == nil {
			t.Errorf("%s is accepted", ref)
		}
	}
}

func TestDefaultsAreMetadata(t *testing.T) {
	for dialect, want := range map[string]string{"whole": `{"n":12}`, "applicator": `{}`} {
		s, err := metaschemas.Parse(fmt.Appendf(nil, `{"$schema":"https://example.com/%s","properties":{"n":{"default":12}}}`, dialect))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.Defaults([]byte(`{}`)); err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v", dialect, got, err)
		}
	}
}
