package schema

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

const (
	maxText  = 1 << 20 // bytes of a schema's text
	maxDepth = 100     // nesting of a schema's text
)

// Schema is one JSON Schema: its text, and, once it has been used, its compiled
// form. The zero Schema and the nil *Schema accept every value. A Schema is
// safe for concurrent use and must not be copied.
type Schema struct {
	text      jsontext.Value
	documents Documents
	dialect   dialect // without $schema; 0 is 2020-12, others are for tests

	compiled sync.Once
	plan     *plan
	err      error

	filled sync.Once
	filler *filler
}

// Parse returns the schema with the given text, which it copies and keeps
// verbatim. It fails unless text is one strict JSON value, an object or a
// boolean, within the limits of size and depth. Whether the keywords make sense
// shows when the schema is compiled.
func Parse(text []byte) (*Schema, error) {
	s := new(Schema)
	if err := s.set(text); err != nil {
		return nil, err
	}
	return s, nil
}

// MustParse is [Parse] for schemas written in Go code. It panics on an error.
func MustParse(text string) *Schema {
	s, err := Parse([]byte(text))
	if err != nil {
		panic(err.Error() + " in schema " + shorten(text, 200))
	}
	return s
}

func (s *Schema) set(text []byte) error {
	if len(text) > maxText {
		return fmt.Errorf("parse schema: text of %d bytes is over the limit of %d", len(text), maxText)
	}
	if err := jsonscan.Check(text, maxDepth); err != nil {
		return fmt.Errorf("parse schema: %w", err)
	}
	text = jsonscan.Trim(text)
	switch k := jsonscan.KindOf(text); k {
	case jsonscan.Object, jsonscan.Bool:
	default:
		return fmt.Errorf("parse schema: must be an object or a boolean, got %s", describe(text))
	}
	s.text = bytes.Clone(text)
	return nil
}

// JSON returns the schema's text, as given to [Parse] without the white space
// around it, or as inferred. The caller must not change it.
func (s *Schema) JSON() jsontext.Value {
	if s == nil || s.text == nil {
		return jsontext.Value("{}")
	}
	return s.text
}

// String returns the schema's text.
func (s *Schema) String() string { return string(s.JSON()) }

// MarshalJSONTo writes the schema's text.
func (s *Schema) MarshalJSONTo(enc *jsontext.Encoder) error {
	return enc.WriteValue(s.JSON())
}

// UnmarshalJSONFrom reads a schema as [Parse] does. It must not be called on a
// schema that is in use.
func (s *Schema) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	text, err := dec.ReadValue()
	if err != nil {
		return err
	}
	*s = Schema{}
	return s.set(text)
}

// Compile prepares the schema for validation, which otherwise happens on first
// use, and reports why it cannot be used: a keyword with a value that it cannot
// have, a dialect that is not supported, a reference that leads nowhere or
// outside the schema, a limit. Repeated calls return the same error.
func (s *Schema) Compile() error {
	if s == nil {
		return nil
	}
	s.compiled.Do(func() {
		s.plan, s.err = compile(s)
		if s.err != nil {
			s.err = fmt.Errorf("compile schema: %w", s.err)
		}
	})
	return s.err
}

// Validate checks a value, which must be strict JSON: one value, no member twice,
// valid UTF-8. What it says about other text means nothing. It returns nil when
// the value is valid, an [*Invalid] when it is not, and the error of
// [Schema.Compile] when the schema itself cannot be used.
func (s *Schema) Validate(value jsontext.Value) error {
	if err := s.Compile(); err != nil {
		return err
	}
	if s == nil {
		return nil
	}
	if problems := s.plan.problems(jsonscan.Trim(value)); len(problems) > 0 {
		return &Invalid{Problems: problems}
	}
	return nil
}

// errTooLarge is the error for a text with too much in it.
var errTooLarge = fmt.Errorf("too large: more than %d objects or %d values", maxObjects, maxNodes)

// compile checks the limits of size before anything is built.
func compile(s *Schema) (*plan, error) {
	text := s.JSON()
	if objects, values := survey(text); objects > maxObjects || values > maxNodes {
		return nil, errTooLarge
	}
	return newPlan(text, s)
}
