package schema

import (
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// meter walks a value as the library will, and counts. It assumes the worst of
// every choice, but knows that a value of the wrong type ends a check at once.
type meter struct {
	left    int
	anchors map[string][]*jsonschema.Schema
}

// value counts the checks that s makes of v and its parts. It returns false when
// they are too many, as do the other methods.
func (m *meter) value(s *jsonschema.Schema, v any) bool {
	if s == nil {
		return true
	}
	if m.left--; m.left < 0 {
		return false
	}
	if s.Bool != nil || !mayBe(s.Types, v) {
		return true
	}
	if s.Enum != nil {
		m.left -= len(s.Enum.Values) / 4
	}
	if s.Ref != nil {
		if !m.value(s.Ref, v) {
			return false
		}
		if s.DraftVersion < 2019 {
			return true
		}
	}
	ok := true
	switch v := v.(type) {
	case map[string]any:
		ok = m.object(s, v)
	case []any:
		ok = m.array(s, v)
	case string:
		ok = m.text(s.Pattern, v)
	}
	return ok && m.others(s, v)
}

// others counts what s applies to the same value, $ref aside.
func (m *meter) others(s *jsonschema.Schema, v any) bool {
	if s.RecursiveRef != nil && !m.dynamic(s.RecursiveRef, recursive, v) {
		return false
	}
	if s.DynamicRef != nil && !m.dynamic(s.DynamicRef.Ref, s.DynamicRef.Anchor, v) {
		return false
	}
	for _, sub := range [...]*jsonschema.Schema{s.Not, s.If, s.Then, s.Else} {
		if !m.value(sub, v) {
			return false
		}
	}
	for _, subs := range [...][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf} {
		for _, sub := range subs {
			if !m.value(sub, v) {
				return false
			}
		}
	}
	return true
}

func (m *meter) object(s *jsonschema.Schema, v map[string]any) bool {
	m.left -= len(v) / 4 // each check goes over all members
	for name, sub := range s.DependentSchemas {
		if _, ok := v[name]; ok && !m.value(sub, v) {
			return false
		}
	}
	for name, dependency := range s.Dependencies {
		sub, isSchema := dependency.(*jsonschema.Schema)
		if _, ok := v[name]; ok && isSchema && !m.value(sub, v) {
			return false
		}
	}
	for name, member := range v {
		for re := range s.PatternProperties {
			if !m.text(re, name) {
				return false
			}
		}
		if !m.value(s.PropertyNames, name) || !m.member(s, name, member) {
			return false
		}
	}
	return m.left >= 0
}

func (m *meter) member(s *jsonschema.Schema, name string, v any) bool {
	declared, known := s.Properties[name]
	if known && !m.value(declared, v) {
		return false
	}
	for re, sub := range s.PatternProperties {
		if re.MatchString(name) {
			known = true
			if !m.value(sub, v) {
				return false
			}
		}
	}
	if additional, ok := s.AdditionalProperties.(*jsonschema.Schema); ok && !known && !m.value(additional, v) {
		return false
	}
	return m.value(s.UnevaluatedProperties, v)
}

func (m *meter) array(s *jsonschema.Schema, v []any) bool {
	tuple := s.PrefixItems
	rest := s.Items2020
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		rest = items
	case []*jsonschema.Schema:
		tuple = items
		rest, _ = s.AdditionalItems.(*jsonschema.Schema)
	}
	if slices.Contains(s.Extensions, jsonschema.SchemaExt(unique{})) {
		m.left -= len(v) / 4
	}
	for i, item := range v {
		sub := rest
		if i < len(tuple) {
			sub = tuple[i]
		}
		if !m.value(sub, item) || !m.value(s.Contains, item) || !m.value(s.UnevaluatedItems, item) {
			return false
		}
	}
	return m.left >= 0
}

func (m *meter) text(re jsonschema.Regexp, v string) bool {
	if p, ok := re.(*pattern); ok {
		m.left -= p.steps * len(v) / stepsPerCheck
	}
	return m.left >= 0
}

// mayBe reports whether a value can be of one of the types.
func mayBe(types *jsonschema.Types, v any) bool {
	if types == nil || types.IsEmpty() {
		return true
	}
	var kind jsonschema.Types
	switch v.(type) {
	case nil:
		kind.Add("null")
	case bool:
		kind.Add("boolean")
	case string:
		kind.Add("string")
	case []any:
		kind.Add("array")
	case map[string]any:
		kind.Add("object")
	default:
		kind.Add("number")
		kind.Add("integer")
	}
	return *types&kind != 0
}
