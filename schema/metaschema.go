package schema

import (
	"errors"
	"strings"
)

// The schemas of schemas, one a dialect, in our own words. They explain what is
// wrong with a schema, and schemas may refer to them. @ stands for a reference
// to the metaschema itself.

const metaDefinitions = `"definitions":{
	"schemaArray":{"type":"array","minItems":1,"items":@},
	"schemas":{"type":"object","additionalProperties":@},
	"stringArray":{"type":"array","items":{"type":"string"},"uniqueItems":true},
	"nonNegativeInteger":{"type":"integer","minimum":0},
	"simpleTypes":{"type":"string","enum":["array","boolean","integer","null","number","object","string"]}
}`

const metaAll = `
	"$schema":{"type":"string"},"$ref":{"type":"string"},
	"$defs":{"$ref":"#/definitions/schemas"},"definitions":{"$ref":"#/definitions/schemas"},
	"title":{"type":"string"},"description":{"type":"string"},"format":{"type":"string"},"default":{},
	"type":{"anyOf":[{"$ref":"#/definitions/simpleTypes"},
		{"type":"array","items":{"$ref":"#/definitions/simpleTypes"},"minItems":1,"uniqueItems":true}]},
	"enum":{"type":"array"},
	"allOf":{"$ref":"#/definitions/schemaArray"},"anyOf":{"$ref":"#/definitions/schemaArray"},
	"oneOf":{"$ref":"#/definitions/schemaArray"},"not":@,
	"properties":{"$ref":"#/definitions/schemas"},"patternProperties":{"$ref":"#/definitions/schemas"},
	"dependencies":{"type":"object","additionalProperties":{"anyOf":[@,{"$ref":"#/definitions/stringArray"}]}},
	"additionalProperties":@,"required":{"$ref":"#/definitions/stringArray"},
	"minProperties":{"$ref":"#/definitions/nonNegativeInteger"},"maxProperties":{"$ref":"#/definitions/nonNegativeInteger"},
	"minItems":{"$ref":"#/definitions/nonNegativeInteger"},"maxItems":{"$ref":"#/definitions/nonNegativeInteger"},
	"minLength":{"$ref":"#/definitions/nonNegativeInteger"},"maxLength":{"$ref":"#/definitions/nonNegativeInteger"},
	"uniqueItems":{"type":"boolean"},"pattern":{"type":"string"},
	"minimum":{"type":"number"},"maximum":{"type":"number"}`

const (
	metaDraft4 = `,
	"id":{"type":"string"},"exclusiveMinimum":{"type":"boolean"},"exclusiveMaximum":{"type":"boolean"},
	"multipleOf":{"type":"number","minimum":0,"exclusiveMinimum":true}`

	metaSince6 = `,
	"const":{},"contains":@,"propertyNames":@,"examples":{"type":"array"},
	"exclusiveMinimum":{"type":"number"},"exclusiveMaximum":{"type":"number"},
	"multipleOf":{"type":"number","exclusiveMinimum":0}`

	metaSince7 = `,
	"if":@,"then":@,"else":@,"$comment":{"type":"string"},"readOnly":{"type":"boolean"},"writeOnly":{"type":"boolean"},
	"contentEncoding":{"type":"string"},"contentMediaType":{"type":"string"}`

	metaUntil7 = `,"$id":{"type":"string"}`

	metaUntil2019 = `,
	"items":{"anyOf":[@,{"$ref":"#/definitions/schemaArray"}]},"additionalItems":@`

	metaSince2019 = `,
	"$id":{"type":"string","pattern":"^[^#]*#?$"},"$anchor":{"type":"string","pattern":"^[A-Za-z_][-A-Za-z0-9._]*$"},
	"$vocabulary":{"type":"object"},"deprecated":{"type":"boolean"},"contentSchema":@,
	"dependentSchemas":{"$ref":"#/definitions/schemas"},
	"dependentRequired":{"type":"object","additionalProperties":{"$ref":"#/definitions/stringArray"}},
	"minContains":{"$ref":"#/definitions/nonNegativeInteger"},"maxContains":{"$ref":"#/definitions/nonNegativeInteger"},
	"unevaluatedItems":@,"unevaluatedProperties":@`

	metaOnly2019 = `,
	"$recursiveRef":{"type":"string"},"$recursiveAnchor":{"type":"boolean"}`

	metaOnly2020 = `,
	"$dynamicRef":{"type":"string"},"$dynamicAnchor":{"type":"string","pattern":"^[A-Za-z_][-A-Za-z0-9._]*$"},
	"prefixItems":{"$ref":"#/definitions/schemaArray"},"items":@`
)

// metaschema returns the text of a dialect's metaschema.
func metaschema(d dialect) string {
	address, head, self := "", "", `{"$ref":"#"}`
	words := []string{metaAll}
	switch {
	case d == draft4:
		address = "http://json-schema.org/draft-04/schema"
		words = append(words, metaDraft4, metaUntil7, metaUntil2019)
	case d == draft6:
		address = "http://json-schema.org/draft-06/schema"
		words = append(words, metaSince6, metaUntil7, metaUntil2019)
	case d == draft7:
		address = "http://json-schema.org/draft-07/schema"
		words = append(words, metaSince6, metaSince7, metaUntil7, metaUntil2019)
	case d == draft2019:
		address = "https://json-schema.org/draft/2019-09/schema"
		head, self = `"$recursiveAnchor":true,`, `{"$recursiveRef":"#"}`
		words = append(words, metaSince6, metaSince7, metaUntil2019, metaSince2019, metaOnly2019)
	default:
		address = "https://json-schema.org/draft/2020-12/schema"
		head, self = `"$dynamicAnchor":"meta",`, `{"$dynamicRef":"#meta"}`
		words = append(words, metaSince6, metaSince7, metaSince2019, metaOnly2020)
	}
	text := `{"$schema":"` + address + `",` + head + `"type":["object","boolean"],"properties":{` + strings.Join(words, "") + `},` + metaDefinitions + `}`
	return strings.ReplaceAll(text, "@", self)
}

// misuse says in a metaschema's words what is wrong with a schema. Where those
// do not fit it keeps to what the planner found.
func misuse(text []byte, d dialect, found error) error {
	meta, err := newPlan([]byte(metaschema(d)), new(Schema))
	if err != nil {
		return found
	}
	problems := meta.problems(text)
	if len(problems) == 0 {
		return found
	}
	// Plain text: an Invalid would speak of a value, not of the schema.
	return errors.New((&Invalid{Problems: problems}).Error())
}
