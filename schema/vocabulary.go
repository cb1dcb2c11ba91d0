package schema

import (
	"fmt"
	"strings"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// language is a dialect, or what a metaschema has left of one.
type language struct {
	dialect dialect
	lacks   vocabulary // of the dialect
}

// knows reports whether a keyword means anything.
func (l language) knows(word string) bool {
	return l.dialect.knows(word) && (l.lacks == 0 || l.lacks&vocabularyOf(word) == 0)
}

// vocabulary is a set of groups of keywords, of which metaschemas say by
// $vocabulary which are in use. The core is not among them: it always is.
type vocabulary byte

const (
	applicator vocabulary = 1 << iota
	unevaluated
	validation
	metadata
	formats
	contents
	noVocabulary vocabulary = 0
	vocabularies            = applicator | unevaluated | validation | metadata | formats | contents
)

// vocabularyOf returns the group that a keyword belongs to, none for the core.
func vocabularyOf(word string) vocabulary {
	switch word {
	case "$schema", "$id", "id", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor",
		"$vocabulary", "$comment", "$defs", "definitions":
		return noVocabulary
	case "unevaluatedItems", "unevaluatedProperties":
		return unevaluated
	case "type", "const", "enum", "multipleOf", "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum",
		"maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "maxContains", "minContains",
		"maxProperties", "minProperties", "required", "dependentRequired":
		return validation
	case "title", "description", "default", "deprecated", "readOnly", "writeOnly", "examples":
		return metadata
	case "format":
		return formats
	case "contentEncoding", "contentMediaType", "contentSchema":
		return contents
	}
	return applicator
}

// vocabularyNamed returns the groups that an address stands for in a dialect, and
// false for one that is not supported. Formats are annotations here, so that a
// vocabulary that wants them checked is not; 2019-09 has no other.
func vocabularyNamed(d dialect, address string) (vocabulary, bool) {
	prefix := "https://json-schema.org/draft/2020-12/vocab/"
	if d == draft2019 {
		prefix = "https://json-schema.org/draft/2019-09/vocab/"
	}
	name, ok := strings.CutPrefix(address, prefix)
	if !ok {
		return noVocabulary, false
	}
	switch {
	case name == "core":
		return noVocabulary, true
	case name == "applicator" && d == draft2019:
		return applicator | unevaluated, true
	case name == "applicator":
		return applicator, true
	case name == "unevaluated" && d != draft2019:
		return unevaluated, true
	case name == "validation":
		return validation, true
	case name == "meta-data":
		return metadata, true
	case name == "format-annotation" && d != draft2019:
		return formats, true
	case name == "content":
		return contents, true
	}
	return noVocabulary, false
}

// maxMetaschemas is how many metaschemas may describe one another until one of
// them is of a known dialect.
const maxMetaschemas = 8

// language reads the value of $schema: a known dialect, or a metaschema among the
// documents, which says what it is made of. Any other is an error, since guessing
// could make a schema permissive.
func (p *planner) language(raw []byte) (language, error) {
	if jsonscan.KindOf(raw) != jsonscan.String {
		return language{}, fmt.Errorf("$schema: must be a string, got %s", describe(raw))
	}
	first := []byte(nil) // $vocabulary of the metaschema that the schema names
	for steps := range maxMetaschemas {
		name, _ := strings.CutSuffix(jsonscan.Unquote(raw), "#")
		if d := dialectNamed(name); d != 0 {
			return languageOf(d, first)
		}
		text, err := p.load(name)
		if err != nil || jsonscan.KindOf(text) != jsonscan.Object {
			break
		}
		if steps == 0 {
			first = jsonscan.Get(text, "$vocabulary")
		}
		if raw = jsonscan.Get(text, "$schema"); raw == nil {
			return languageOf(draft2020, first)
		}
	}
	return language{}, unsupported(raw)
}

// languageOf returns what a metaschema of a dialect describes. Without
// $vocabulary, which older dialects do not have, that is the whole dialect.
func languageOf(d dialect, list []byte) (language, error) {
	whole := language{dialect: d}
	if list == nil || d < draft2019 {
		return whole, nil
	}
	if jsonscan.KindOf(list) != jsonscan.Object {
		return whole, fmt.Errorf("the metaschema's $vocabulary must be an object, got %s", describe(list))
	}
	l := language{d, vocabularies}
	for name, needed := range jsonscan.Members(list) {
		has, ok := vocabularyNamed(d, string(name))
		if !ok && string(needed) != "false" {
			return whole, fmt.Errorf("the metaschema needs the vocabulary %s, which is not supported", quoted(string(name)))
		}
		l.lacks &^= has
	}
	return l, nil
}
