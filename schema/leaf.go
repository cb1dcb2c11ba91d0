package schema

import (
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// leaf writes the message for a finding without parts.
func (x *explainer) leaf(e *jsonschema.ValidationError, raw []byte) string {
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return wrongType(raw, k.Want)
	case *kind.Enum:
		return notListed(raw, encodeAll(k.Want))
	case *kind.Const:
		return wrongConstant(raw, encode(nil, k.Want))
	case *kind.Minimum:
		return outside(raw, "at least", rational(k.Want))
	case *kind.Maximum:
		return outside(raw, "at most", rational(k.Want))
	case *kind.ExclusiveMinimum:
		return outside(raw, "more than", rational(k.Want))
	case *kind.ExclusiveMaximum:
		return outside(raw, "less than", rational(k.Want))
	case *kind.MultipleOf:
		return noMultiple(raw, rational(k.Want))
	case *kind.MinLength:
		return tooShort(raw, k.Got, k.Want)
	case *kind.MaxLength:
		return tooLong(raw, k.Got, k.Want)
	case *kind.Pattern:
		return noMatch(raw, k.Want)
	case *kind.Format:
		if k.Want == "regex" && k.Err != nil {
			return k.Err.Error()
		}
		return "must have the format " + k.Want + ", got " + describe(raw)
	case *kind.FalseSchema:
		return forbidden(raw)
	case *kind.RefCycle:
		return "cannot be checked: " + errEndless.Error()
	}
	return containerLeaf(e.ErrorKind)
}

// containerLeaf writes the message for a finding about members or items, or
// about how the forms of a schema combine.
func containerLeaf(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.MinProperties:
		return tooFew(k.Got, k.Want, "member")
	case *kind.MaxProperties:
		return tooMany(k.Got, k.Want, "member")
	case *kind.MinItems:
		return tooFew(k.Got, k.Want, "item")
	case *kind.MaxItems:
		return tooMany(k.Got, k.Want, "item")
	case *kind.AdditionalItems:
		return fmt.Sprintf("has %s too many", plural(k.Count, "item"))
	case *kind.UniqueItems:
		return fmt.Sprintf("must not repeat items, but items %d and %d are equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.Contains:
		return "must contain at least one item of the form that the schema asks for"
	case *kind.MinContains:
		return fmt.Sprintf("must contain at least %s of the form that the schema asks for, got %d", plural(k.Want, "item"), len(k.Got))
	case *kind.MaxContains:
		return fmt.Sprintf("must contain at most %s of the form that the schema limits, got %d", plural(k.Want, "item"), len(k.Got))
	case *kind.Dependency:
		return alsoNeeds(k.Prop, k.Missing)
	case *kind.DependentRequired:
		return alsoNeeds(k.Prop, k.Missing)
	case *kind.Not:
		return "has a form that is not allowed"
	case *kind.OneOf:
		return "fits more than one of the forms of which it must fit exactly one"
	}
	return "does not match the schema"
}

func alsoNeeds(name string, missing []string) string {
	names := make([]string, len(missing))
	for i, m := range missing {
		names[i] = quoted(m)
	}
	return "argument " + quoted(name) + " also needs " + list(names)
}

func encodeAll(values []any) [][]byte {
	encoded := make([][]byte, len(values))
	for i, v := range values {
		encoded[i] = encode(nil, v)
	}
	return encoded
}

// encode writes a value that the library decoded, for show.
func encode(dst []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(dst, "null"...)
	case string:
		return jsonscan.AppendQuote(dst, v)
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = string(encode(nil, item))
		}
		return append(dst, "["+strings.Join(parts, ",")+"]"...)
	case map[string]any:
		parts := make([]string, 0, len(v))
		for _, name := range sortedNames(v) {
			parts = append(parts, string(encode(append(jsonscan.AppendQuote(nil, name), ':'), v[name])))
		}
		return append(dst, "{"+strings.Join(parts, ",")+"}"...)
	}
	return fmt.Append(dst, value)
}
