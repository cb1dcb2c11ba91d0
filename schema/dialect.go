package schema

import (
	"fmt"
	"strings"
)

// dialect is a version of JSON Schema.
type dialect int

// The dialects, oldest first; the zero dialect stands for the newest.
const (
	draft4 dialect = iota + 1
	draft6
	draft7
	draft2019
	draft2020
)

// unsupported is the error for a dialect that nobody described.
func unsupported(raw []byte) error {
	return fmt.Errorf("dialect %s is not supported; supported: 2020-12, 2019-09, draft-07, draft-06, draft-04", shorten(string(raw), 200))
}

// dialectNamed returns the dialect whose metaschema has the address, 0 for none.
func dialectNamed(address string) dialect {
	rest, secure := strings.CutPrefix(address, "https://")
	if !secure {
		rest, _ = strings.CutPrefix(address, "http://")
	}
	switch rest {
	case "json-schema.org/draft/2020-12/schema", "json-schema.org/schema":
		return draft2020
	case "json-schema.org/draft/2019-09/schema":
		return draft2019
	case "json-schema.org/draft-07/schema":
		return draft7
	case "json-schema.org/draft-06/schema":
		return draft6
	case "json-schema.org/draft-04/schema":
		return draft4
	}
	return 0
}

// knows reports whether the dialect has a keyword. All others say nothing.
func (d dialect) knows(word string) bool {
	switch word {
	case "$schema", "$ref", "definitions", "dependencies", "$defs", // in use before or after their time as well
		"title", "description", "default", "format",
		"type", "enum", "allOf", "anyOf", "oneOf", "not",
		"properties", "required", "additionalProperties", "patternProperties", "minProperties", "maxProperties",
		"items", "minItems", "maxItems", "uniqueItems",
		"minLength", "maxLength", "pattern",
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return true
	case "id":
		return d == draft4
	case "$id", "const", "contains", "propertyNames", "examples":
		return d >= draft6
	case "if", "then", "else", "$comment", "readOnly", "writeOnly", "contentEncoding", "contentMediaType":
		return d >= draft7
	case "additionalItems":
		return d <= draft2019
	case "$anchor", "$vocabulary", "dependentRequired", "dependentSchemas", "minContains", "maxContains",
		"unevaluatedItems", "unevaluatedProperties", "contentSchema", "deprecated":
		return d >= draft2019
	case "$recursiveRef", "$recursiveAnchor":
		return d == draft2019
	case "$dynamicRef", "$dynamicAnchor", "prefixItems":
		return d == draft2020
	}
	return false
}
