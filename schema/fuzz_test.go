package schema_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/schema"
)

// FuzzVerdictsAgreeWithTheOracle makes a schema and values from the data, with
// numbers that the oracle can hold, and holds plan and oracle to one verdict.
func FuzzVerdictsAgreeWithTheOracle(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("the quick brown fox jumps over the lazy dog"))
	seed := uint32(1)
	for n := range 600 {
		data := make([]byte, 20+n)
		for i := range data {
			seed = seed*1664525 + 1013904223
			data[i] = byte(seed >> 24)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		g := &generator{data: data}
		text := g.root()
		s, err := schema.Parse([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if err := s.Compile(); err != nil {
			for _, limit := range []string{"without end", "multiply into", "too long"} {
				if strings.Contains(err.Error(), limit) {
					return
				}
			}
			t.Fatalf("%s: %v", text, err)
		}
		o, err := newOracle([]byte(text))
		if err != nil {
			t.Fatalf("the oracle refuses %s: %v", text, err)
		}
		for range 4 {
			compareVerdicts(t, s, o, g.value(3))
		}
	})
}

func compareVerdicts(t *testing.T, s *schema.Schema, o *oracle, value string) {
	t.Helper()
	ours := s.Validate([]byte(value))
	if ours != nil && strings.Contains(ours.Error(), "too large") {
		return // the oracle might not come back
	}
	if theirs := o.validate(value); (ours == nil) != (theirs == nil) {
		t.Fatalf("%s\n%s\nplan: %v\noracle: %v", s, value, ours, theirs)
	}
}

// FuzzSchemaText takes any schema and any value. Nothing may panic, defaults must
// leave JSON behind, and what is compiled must please the metaschema.
func FuzzSchemaText(f *testing.F) {
	for _, c := range cases {
		f.Add(c.schema, c.value)
	}
	for _, c := range nonsense {
		f.Add(c.text, `1`)
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		if jsonscan.Check([]byte(value), 100) != nil {
			return
		}
		s, err := schema.Parse([]byte(text))
		if err != nil {
			return
		}
		err = s.Compile()
		checkMetaschema(t, s, err)
		if err != nil {
			return
		}
		filled, err := s.Defaults([]byte(value))
		if err != nil || jsonscan.Check(filled, 1000) != nil {
			t.Fatalf("%s: defaults made %s of %s: %v", text, filled, value, err)
		}
		if err := s.Validate([]byte(value)); err != nil && err.Error() == "" {
			t.Fatalf("%s: an error without text for %s", text, value)
		}
	})
}

// checkMetaschema holds planner and metaschema to one opinion about a schema.
// They need not share it about several dialects, nor about what a reference of
// the older ones overrules.
func checkMetaschema(t *testing.T, s *schema.Schema, compiled error) {
	t.Helper()
	text := s.String()
	if strings.Count(text, "schema") > 1 || strings.Contains(text, `\u`) || strings.Contains(text, "draft-0") && strings.Contains(text, "$ref") {
		return
	}
	meta, err := schema.Metaschema(s.JSON())
	if err != nil {
		return
	}
	verdict := meta.Validate(s.JSON())
	if verdict != nil && compiled == nil {
		t.Fatalf("%s compiles, but: %v", text, verdict)
	}
	// A reference can make a schema of what no metaschema takes for one.
	if compiled != nil && !strings.Contains(text, `Ref"`) && !strings.Contains(text, `$ref"`) && strings.Contains(compiled.Error(), "a value that it cannot have") {
		t.Fatalf("%s does not compile, but its metaschema accepts it: %v", text, compiled)
	}
}

// FuzzNumbers compares our arithmetic with that of the standard library.
func FuzzNumbers(f *testing.F) {
	for _, a := range fuzzNumbers {
		for _, b := range []string{"0.01", "3", "1e-7", "12.5", "999999999999999999"} {
			f.Add(a, b)
		}
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y, ok := rationals(a, b)
		if !ok {
			return
		}
		if got, want := schema.CompareNumbers(a, b), x.Cmp(y); got != want {
			t.Errorf("compare %s with %s: got %d, want %d", a, b, got, want)
		}
		if got, can := schema.Divides(b, a); can && y.Sign() > 0 {
			if want := new(big.Rat).Quo(x, y).IsInt(); got != want {
				t.Errorf("%s is a multiple of %s: got %v, want %v", a, b, got, want)
			}
		}
	})
}

// rationals returns two JSON numbers as the standard library reads them, unless
// they are too large for it.
func rationals(a, b string) (x, y *big.Rat, ok bool) {
	for _, text := range []string{a, b} {
		if jsonscan.Check([]byte(text), 1) != nil || jsonscan.KindOf([]byte(text)) != jsonscan.Number || strings.TrimSpace(text) != text || len(text) > 60 {
			return nil, nil, false
		}
		if _, exponent, found := strings.Cut(strings.ToLower(text), "e"); found && len(exponent) > 4 {
			return nil, nil, false
		}
	}
	x, okX := new(big.Rat).SetString(a)
	y, okY := new(big.Rat).SetString(b)
	return x, y, okX && okY
}
