package schema

import "github.com/bossman-mcp/bossman/internal/jsonscan"

// Dialects for tests.
const (
	Draft7    = draft7
	Draft2020 = draft2020
)

// ParseAs is Documents.Parse for a schema of another default dialect.
func ParseAs(text []byte, d dialect, documents Documents) (*Schema, error) {
	s, err := documents.Parse(text)
	if err == nil {
		s.dialect = d
	}
	return s, err
}

// Metaschema returns the metaschema of the dialect that a schema names.
func Metaschema(text []byte) (*Schema, error) {
	raw := jsonscan.Get(text, "$schema")
	if raw == nil {
		return MustParse(metaschema(draft2020)), nil
	}
	l, err := (&planner{given: new(Schema)}).language(raw)
	return MustParse(metaschema(l.dialect)), err
}

// CompareNumbers compares two JSON numbers as plans do.
func CompareNumbers(a, b string) int { return newDecimal([]byte(a)).cmp(newDecimal([]byte(b))) }

// Divides reports whether a JSON number is a multiple of another, if it can tell.
func Divides(multiple, number string) (divides, can bool) {
	m, ok := newMultiple([]byte(multiple))
	if !ok || m.factor == 0 {
		return false, false
	}
	return m.divides([]byte(number)), true
}

// ShowNumber writes a JSON number as messages do.
func ShowNumber(a string) string { return newDecimal([]byte(a)).String() }
