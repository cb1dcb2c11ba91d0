package schema

// Dialects for tests.
const (
	Draft7    = draft7
	Draft2020 = draft2020
)

// ParseAs is Parse for a schema of another default dialect, which may load
// documents from elsewhere.
func ParseAs(text []byte, d dialect, load func(url string) (any, error)) (*Schema, error) {
	s, err := Parse(text)
	if err == nil {
		s.hooks = hooks{dialect: d, load: load}
	}
	return s, err
}

// Planned reports whether the schema is compiled into a plan.
func (s *Schema) Planned() bool {
	if s.Compile() != nil {
		return false
	}
	_, ok := s.engine.(*plan)
	return ok
}

// ForceLibrary returns the schema compiled for the library, plan or no plan.
func ForceLibrary(text []byte, d dialect) (*Schema, error) {
	s, err := ParseAs(text, d, nil)
	if err != nil {
		return nil, err
	}
	s.compiled.Do(func() { s.engine, s.err = newLibrary(s.text, survey(s.text), s.hooks) })
	return s, s.err
}

// CompareNumbers compares two JSON numbers as plans do.
func CompareNumbers(a, b string) int { return newDecimal([]byte(a)).cmp(newDecimal([]byte(b))) }

// ShowNumber writes a JSON number as messages do.
func ShowNumber(a string) string { return newDecimal([]byte(a)).String() }

// Nearest is the search for slips.
var Nearest = nearest
