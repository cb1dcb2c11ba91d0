package schema

import (
	"reflect"
	"strings"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// tags applies the tags of a field to its shape.
func (in *inferrer) tags(f *field, s *shape) error {
	s.title, s.description = f.Tag.Get("title"), f.Tag.Get("doc")
	if onlyDescribes(f.Tag) {
		return nil
	}
	steps := []func(*field, *shape) error{tagEnum, tagBounds, tagText, tagItems, tagNullable, in.tagHeader, tagDefault}
	for _, step := range steps {
		if err := step(f, s); err != nil {
			return err
		}
	}
	return nil
}

// onlyDescribes reports whether a tag says nothing but the names of a field and what
// it means, as most do: looking for each of the others takes most of the time that
// an inference takes.
func onlyDescribes(tag reflect.StructTag) bool {
	rest := string(tag)
	for rest != "" {
		name, value, quoted := strings.Cut(rest, `:"`)
		switch name {
		case "json", "doc", "title":
		default:
			return false
		}
		end := 0
		for end < len(value) && value[end] != '"' {
			if value[end] == '\\' {
				end++
			}
			end++
		}
		if !quoted || end >= len(value) {
			return false
		}
		rest = strings.TrimLeft(value[end+1:], " ")
	}
	return true
}

// subject returns what tags about numbers and strings are about: the elements of
// a slice, or the value itself.
func subject(s *shape) *shape {
	if s.items != nil {
		return s.items
	}
	return s
}

// fits reports an error unless a tag is absent or its subject is of the types.
func (f *field) fits(tag string, s *shape, types typeSet) (value string, present bool, err error) {
	value, present = f.Tag.Lookup(tag)
	if present && (s.types == 0 || s.types&^types != 0 || s.verbatim != nil) {
		return "", false, f.at.errorf("tag %s does not fit a field of type %s", tag, f.Type)
	}
	return value, present, nil
}

func tagEnum(f *field, s *shape) error {
	s = subject(s)
	value, ok, err := f.fits("enum", s, typeString|typeInteger|typeNumber)
	if !ok || err != nil {
		return err
	}
	for item := range strings.SplitSeq(value, ",") {
		item = strings.TrimSpace(item)
		switch {
		case item == "":
			return f.at.errorf("tag enum: %q has an empty value", value)
		case s.types == typeString:
			item = string(jsonscan.AppendQuote(nil, item))
		case !isNumber(item) || s.types == typeInteger && !isInteger([]byte(item)) || !s.within(item):
			return f.at.errorf("tag enum: %q is not a value of the field's type", item)
		}
		s.enum = append(s.enum, item)
	}
	return nil
}

func tagBounds(f *field, s *shape) error {
	s = subject(s)
	low, hasLow, err := f.fits("min", s, typeInteger|typeNumber)
	if err != nil {
		return err
	}
	high, hasHigh, err := f.fits("max", s, typeInteger|typeNumber)
	if err != nil {
		return err
	}
	for _, bound := range []struct {
		tag, value string
		present    bool
	}{{"min", low, hasLow}, {"max", high, hasHigh}} {
		if bound.present && (!isNumber(bound.value) || !s.within(bound.value)) {
			return f.at.errorf("tag %s: %q is not a number that the field can hold", bound.tag, bound.value)
		}
	}
	if hasLow {
		s.min = low
	}
	if hasHigh {
		s.max = high
	}
	if hasLow && hasHigh && !s.within(low) {
		return f.at.errorf("tags min and max: %s is more than %s", low, high)
	}
	return nil
}

func tagText(f *field, s *shape) error {
	s = subject(s)
	for _, tag := range []struct {
		name string
		to   *string
		good func(string) bool
		want string
	}{
		{"minLen", &s.minLen, isCount, "a whole number"},
		{"maxLen", &s.maxLen, isCount, "a whole number"},
		{"pattern", &s.pattern, isPattern, "a regular expression"},
		{"format", &s.format, func(v string) bool { return v != "" }, "the name of a format"},
	} {
		value, ok, err := f.fits(tag.name, s, typeString)
		if err != nil {
			return err
		}
		if ok && !tag.good(value) {
			return f.at.errorf("tag %s: %q is not %s", tag.name, value, tag.want)
		}
		if ok {
			*tag.to = value
		}
	}
	if s.minLen != "" && s.maxLen != "" && newDecimal([]byte(s.minLen)).cmp(newDecimal([]byte(s.maxLen))) > 0 {
		return f.at.errorf("tags minLen and maxLen: %s is more than %s", s.minLen, s.maxLen)
	}
	return nil
}

func isPattern(text string) bool {
	_, err := newPattern(text)
	return err == nil
}

func tagItems(f *field, s *shape) error {
	for _, tag := range []struct {
		name string
		to   *string
	}{{"minItems", &s.minItems}, {"maxItems", &s.maxItems}} {
		value, ok, err := f.fits(tag.name, s, typeArray)
		if err != nil {
			return err
		}
		if ok && !isCount(value) {
			return f.at.errorf("tag %s: %q is not a whole number", tag.name, value)
		}
		if ok {
			*tag.to = value
		}
	}
	return nil
}

func tagNullable(f *field, s *shape) error {
	value, ok := f.Tag.Lookup("nullable")
	switch {
	case !ok || value == "false":
		return nil
	case value != "true":
		return f.at.errorf("tag nullable: %q is neither true nor false", value)
	case s.types == 0 || s.verbatim != nil:
		return f.at.errorf("tag nullable does not fit a field of type %s", f.Type)
	}
	s.types |= typeNull
	if s.enum != nil {
		s.enum = append(s.enum, "null")
	}
	return nil
}

// tagHeader checks what Custom Headers from Tool Parameters demands: a token,
// unique, on a scalar that only properties lead to.
func (in *inferrer) tagHeader(f *field, s *shape) error {
	value, ok, err := f.fits("header", s, typeString|typeInteger|typeBoolean|typeNull)
	if !ok || err != nil {
		return err
	}
	if !isToken(value) {
		return f.at.errorf("tag header: %q is not the name of a header", value)
	}
	if !f.at.static {
		return f.at.errorf("tag header cannot be used inside slices and maps")
	}
	key := strings.ToLower(value)
	if other, taken := in.headers[key]; taken && other != f.at.path {
		return f.at.errorf("tag header: %s has the header %s already", other, value)
	}
	in.headers[key] = f.at.path
	s.header = value
	return nil
}

// isToken reports whether s is a token of RFC 9110, section 5.6.2.
func isToken(s string) bool {
	for _, c := range []byte(s) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
		if !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}

func tagDefault(f *field, s *shape) error {
	value, ok := f.Tag.Lookup("default")
	if !ok {
		return nil
	}
	if s.types&^typeNull == typeString && s.verbatim == nil {
		value = string(jsonscan.AppendQuote(nil, value))
	} else if err := jsonscan.Check([]byte(value), maxDepth); err != nil {
		return f.at.errorf("tag default: %q is not JSON: %w", value, err)
	}
	if s.verbatim != nil {
		return f.at.errorf("tag default does not fit a type with a schema of its own")
	}
	if !s.refers() {
		alone, err := Parse(s.append(nil))
		if err == nil {
			err = alone.Validate([]byte(value))
		}
		if err != nil {
			return f.at.errorf("tag default: %w", err)
		}
	}
	s.fallback = strings.TrimSpace(value)
	return nil
}
