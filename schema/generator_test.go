package schema_test

import "strings"

// generator spends data on choices; when it runs out, the choices are all 0.
type generator struct {
	data  []byte
	draft int // 7 or 2020
}

func (g *generator) pick(n int) int {
	if len(g.data) == 0 {
		return 0
	}
	b := g.data[0]
	g.data = g.data[1:]
	return int(b) % n
}

func choose[T any](g *generator, from []T) T { return from[g.pick(len(from))] }

var (
	fuzzNames   = []string{"a", "b", "c", "a b", "é", "A"}
	fuzzNumbers = []string{"0", "-0", "1", "1.0", "10e-1", "1.5", "-1", "2", "100", "1e2", "0.1", "1E+2", "3", "-0.0", "6", "0.001e3", "-7", "1e-7", "255", "2.5", "4503599627370497"}
	fuzzStrings = []string{`""`, `"a"`, `"b"`, `"\u0061"`, `"ab"`, `"é"`, `"\ud83d\ude00"`, `"😀"`, `"a\nb"`, `"1"`, `"abc"`, `"\\"`, `"\""`, `"{}"`}
	fuzzCounts  = []string{"0", "1", "2", "3", "1.0", "2.0"}
	fuzzTypes   = []string{`"object"`, `"array"`, `"string"`, `"number"`, `"integer"`, `"boolean"`, `"null"`, `["string","null"]`, `["integer","string"]`, `["array","object"]`, `["number","integer"]`}
	fuzzRegexps = []string{`"a"`, `"^a*$"`, `"."`, `"^.$"`, `"\\n"`}
)

func (g *generator) root() string {
	g.draft = choose(g, []int{2020, 7})
	body := g.members(3)
	if g.draft == 7 {
		body = append(body, `"$schema":"http://json-schema.org/draft-07/schema#"`,
			`"definitions":{"t":`+g.schema(2)+`,"u":`+g.schema(1)+`,"w":{"$id":"#w","items":`+g.schema(1)+`}}`)
	} else {
		body = append(body, `"$id":"http://example.com/root","$dynamicAnchor":"n"`, `"$defs":{"t":`+g.schema(2)+`,"u":`+g.schema(1)+
			`,"w":{"$anchor":"w","items":`+g.schema(1)+`},"in":{"$id":"in","$dynamicAnchor":"n","properties":{"a":{"$dynamicRef":"#n"}},"$defs":{"t":`+g.schema(1)+`}}}`)
	}
	return "{" + strings.Join(body, ",") + "}"
}

func (g *generator) schema(depth int) string {
	switch g.pick(12) {
	case 0:
		return choose(g, []string{"true", "false", "{}", "true"})
	case 1:
		return "{" + g.reference() + `,"description":"x"}`
	}
	if depth <= 0 {
		return choose(g, []string{"true", "false", `{"type":"string"}`, `{"minimum":1}`, `{"properties":{"a":true}}`, `{"prefixItems":[true]}`})
	}
	return "{" + strings.Join(g.members(depth), ",") + "}"
}

func (g *generator) reference() string {
	if g.draft == 7 {
		return `"$ref":"` + choose(g, []string{"#", "#/definitions/t", "#/definitions/u", "#w", "#/definitions/w/items"}) + `"`
	}
	return choose(g, []string{`"$ref":"#"`, `"$ref":"#/$defs/t"`, `"$ref":"root#/$defs/u"`, `"$ref":"root#w"`, `"$dynamicRef":"#n"`, `"$ref":"in"`, `"$ref":"in#/$defs/t"`, `"$ref":"http://example.com/root#/$defs/w/items"`})
}

// members returns the members of a schema, none of them twice.
func (g *generator) members(depth int) []string {
	var members []string
	for _, word := range []string{"type", "properties", "required", "additionalProperties", "items", "enum", "const",
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern",
		"minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "format", "default", "x-anything",
		"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "patternProperties", "propertyNames", "contains"} {
		members = g.add(members, word, depth)
	}
	if g.draft == 7 {
		return g.add(g.add(members, "additionalItems", depth), "dependencies", depth)
	}
	for _, word := range []string{"prefixItems", "minContains", "maxContains", "dependentRequired", "dependentSchemas", "unevaluatedItems", "unevaluatedProperties", "$ref"} {
		members = g.add(members, word, depth)
	}
	return members
}

// add adds a keyword now and then.
func (g *generator) add(members []string, word string, depth int) []string {
	if g.pick(9) != 1 {
		return members
	}
	if word == "$ref" {
		return append(members, g.reference())
	}
	return append(members, `"`+word+`":`+g.keyword(word, depth))
}

func (g *generator) keyword(word string, depth int) string {
	switch word {
	case "type":
		return choose(g, fuzzTypes)
	case "required":
		return g.names()
	case "enum":
		return "[" + g.value(1) + "," + g.value(1) + "]"
	case "const", "default", "x-anything":
		return g.value(1)
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		return choose(g, fuzzNumbers)
	case "multipleOf":
		return choose(g, []string{"1", "2", "3", "0.5", "1.0"})
	case "pattern":
		return choose(g, fuzzRegexps)
	case "uniqueItems":
		return choose(g, []string{"true", "false"})
	case "format":
		return choose(g, []string{`"email"`, `"date-time"`, `"regex"`})
	case "properties", "dependentSchemas":
		return g.object(fuzzNames, func() string { return g.schema(depth - 1) })
	case "patternProperties":
		return g.object([]string{"a", "^b$", "."}, func() string { return g.schema(depth - 1) })
	case "dependentRequired":
		return g.object(fuzzNames, g.names)
	case "dependencies":
		return g.object(fuzzNames, func() string { return choose(g, []string{g.names(), g.schema(depth - 1)}) })
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return g.list(depth)
	case "items":
		if g.draft == 7 && g.pick(2) == 1 {
			return g.list(depth)
		}
		return g.schema(depth - 1)
	}
	if strings.HasPrefix(word, "min") || strings.HasPrefix(word, "max") {
		return choose(g, fuzzCounts)
	}
	return g.schema(depth - 1)
}

func (g *generator) names() string {
	if n := g.pick(len(fuzzNames)); n > 0 {
		return `["` + strings.Join(fuzzNames[:n], `","`) + `"]`
	}
	return "[]"
}

func (g *generator) list(depth int) string {
	parts := []string{g.schema(depth - 1)}
	for range g.pick(3) {
		parts = append(parts, g.schema(depth-1))
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func (g *generator) object(names []string, part func() string) string {
	var members []string
	for _, name := range names[:g.pick(len(names))] {
		members = append(members, `"`+name+`":`+part())
	}
	return "{" + strings.Join(members, ",") + "}"
}

func (g *generator) value(depth int) string {
	kinds := 7
	if depth == 0 {
		kinds = 5
	}
	switch g.pick(kinds) {
	case 0:
		return choose(g, []string{"null", "true", "false"})
	case 1, 2:
		return choose(g, fuzzNumbers)
	case 3, 4:
		return choose(g, fuzzStrings)
	case 5:
		var items []string
		for range g.pick(4) {
			items = append(items, g.value(depth-1))
		}
		return choose(g, []string{"[", "[ "}) + strings.Join(items, ",") + "]"
	}
	var members []string
	for _, name := range fuzzNames[:g.pick(len(fuzzNames))] {
		members = append(members, `"`+name+`" : `+g.value(depth-1))
	}
	return "{" + strings.Join(members, ",\n") + "}"
}
