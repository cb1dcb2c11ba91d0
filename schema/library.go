package schema

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// base is the address that a schema has towards the library. Relative references
// that leave the schema resolve against it, and lead nowhere.
const base = "schema://local/this-very-schema"

// library is the compiled form of a schema that needs the complete validator.
type library struct {
	root    *jsonschema.Schema
	anchors map[string][]*jsonschema.Schema // where dynamic references may lead
	located map[string]*jsonschema.Schema   // by location
}

// newLibrary compiles a schema whose text survey has looked at.
func newLibrary(text []byte, found findings, h hooks) (lib *library, err error) {
	if err := found.forLibrary(text); err != nil {
		return nil, err
	}
	defer func() {
		if p := recover(); p != nil {
			lib, err = nil, errors.New("the schema cannot be compiled")
		}
	}()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(h.dialect.library())
	c.UseLoader(loader{h.load})
	c.UseRegexpEngine(func(text string) (jsonschema.Regexp, error) { return newPattern(text) })
	if err := c.AddResource(base, doc); err != nil {
		return nil, err
	}
	root, err := c.Compile(base)
	if err != nil {
		return nil, refusal(err, text)
	}
	anchors, err := findAnchors(c, text)
	if err != nil {
		return nil, err
	}
	lib = &library{root: root, anchors: anchors, located: map[string]*jsonschema.Schema{}}
	lib.adopt(root)
	for _, list := range anchors {
		for _, s := range list {
			lib.adopt(s)
		}
	}
	return lib, newWeigher().check(root)
}

// loader refuses what lies outside a schema, unless a test brings its own.
type loader struct {
	load func(url string) (any, error)
}

func (l loader) Load(url string) (any, error) {
	if l.load == nil {
		return nil, errExternal
	}
	return l.load(url)
}

var errExternal = errors.New("external references are not fetched")

// refusal says in our words why the library does not take a schema.
func refusal(err error, text []byte) error {
	var (
		wrong   *jsonschema.SchemaValidationError
		outside *jsonschema.LoadURLError
		nowhere *jsonschema.JSONPointerNotFoundError
		broken  *jsonschema.InvalidJsonPointerError
		anchor  *jsonschema.AnchorNotFoundError
		regex   *jsonschema.InvalidRegexError
	)
	switch {
	case errors.As(err, &wrong):
		if found, ok := errors.AsType[*jsonschema.ValidationError](wrong.Err); ok && isRoot(wrong.URL) {
			// Plain text: an Invalid would speak of a value, not of the schema.
			return errors.New((&Invalid{Problems: explain(found, text, nil)}).Error())
		}
		return errors.New("a part of the schema that is referred to is not a valid schema")
	case errors.As(err, &outside) && errors.Is(outside.Err, errExternal):
		return fmt.Errorf("reference to %s: %w", local(outside.URL), errExternal)
	case errors.As(err, &outside):
		return fmt.Errorf("reference to %s: %w", local(outside.URL), outside.Err)
	case errors.As(err, &nowhere):
		return fmt.Errorf("reference to %s leads nowhere", local(nowhere.URL))
	case errors.As(err, &broken):
		return fmt.Errorf("reference to %s is malformed", local(broken.URL))
	case errors.As(err, &anchor):
		return fmt.Errorf("reference to %s leads nowhere", local(anchor.Reference))
	case errors.As(err, &regex):
		return regex.Err
	}
	return errors.New(strings.ReplaceAll(strings.ReplaceAll(err.Error(), base, ""), "schema://local/", ""))
}

func isRoot(url string) bool { return strings.TrimSuffix(url, "#") == base }

// local returns an address as its author wrote it, more or less.
func local(url string) string {
	if rest, ok := strings.CutPrefix(url, base); ok {
		return quoted(rest)
	}
	return quoted(strings.TrimPrefix(url, "schema://local/"))
}

// adopt goes through the compiled schemas, once each. It records them by
// location and takes two things into our hands: format, which only annotates,
// and uniqueItems, which the library checks in time that a sender can make
// quadratic.
func (lib *library) adopt(s *jsonschema.Schema) {
	if s == nil || lib.located[s.Location] == s {
		return
	}
	lib.located[s.Location] = s
	s.Format = nil
	if s.UniqueItems {
		s.UniqueItems = false
		s.Extensions = append(s.Extensions, unique{})
	}
	for _, sub := range subschemas(s) {
		lib.adopt(sub)
	}
}

// unique is the keyword uniqueItems.
type unique struct{}

// Validate implements the library's interface for additional keywords.
func (unique) Validate(ctx *jsonschema.ValidatorContext, value any) {
	items, ok := value.([]any)
	if !ok || len(items) < 2 {
		return
	}
	seen := make(map[string]int, len(items))
	var key []byte
	for i, item := range items {
		key = appendKey(key[:0], item)
		if first, dup := seen[string(key)]; dup {
			ctx.AddError(&kind.UniqueItems{Duplicates: [2]int{first, i}})
			return
		}
		seen[string(key)] = i
	}
}

func (lib *library) problems(value []byte) (problems []Problem) {
	found := survey(value)
	if found.number != nil {
		return []Problem{{Message: found.number.Error()}}
	}
	if found.nodes > maxValueNodes {
		return []Problem{{Message: tooLarge}}
	}
	defer func() {
		if p := recover(); p != nil {
			problems = []Problem{{Message: "cannot be checked against the schema"}}
		}
	}()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return []Problem{{Message: "is not one JSON value"}}
	}
	m := meter{left: maxChecks, anchors: lib.anchors}
	if !m.value(lib.root, doc) {
		return []Problem{{Message: tooLarge}}
	}
	err = lib.root.Validate(doc)
	if err == nil {
		return nil
	}
	if found, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return explain(found, value, lib.located)
	}
	return []Problem{{Message: "does not match the schema"}}
}
