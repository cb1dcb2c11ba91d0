package schema_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/schema"
)

// FuzzPlanAgreesWithLibrary makes a schema of common keywords and a value from
// the data, and holds the two engines to one verdict and to the same places.
func FuzzPlanAgreesWithLibrary(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("the quick brown fox jumps over the lazy dog"))
	seed := uint32(1)
	for n := range 400 {
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
		if !s.Planned() {
			t.Fatalf("%s is not planned: %v", text, s.Compile())
		}
		for range 4 {
			compareEngines(t, s, g.value(3))
		}
	})
}

// FuzzSchemaText takes any schema and any value: nothing may panic, and where
// there is a plan it must agree with the library.
func FuzzSchemaText(f *testing.F) {
	for _, c := range cases {
		f.Add(c.schema, c.value)
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		if jsonscan.Check([]byte(value), 100) != nil {
			return
		}
		s, err := schema.Parse([]byte(text))
		if err != nil || s.Compile() != nil {
			return
		}
		filled, err := s.Defaults([]byte(value))
		if err != nil || jsonscan.Check(filled, 1000) != nil {
			t.Fatalf("%s: defaults made %s of %s: %v", text, filled, value, err)
		}
		if s.Planned() {
			compareEngines(t, s, value)
		} else if err := s.Validate([]byte(value)); err != nil && err.Error() == "" {
			t.Fatalf("%s: an error without text for %s", text, value)
		}
	})
}

// compareEngines checks a planned schema's verdict with the library's.
func compareEngines(t *testing.T, s *schema.Schema, value string) {
	t.Helper()
	library, err := schema.ForceLibrary(s.JSON(), schema.Draft2020)
	if err != nil {
		if strings.Contains(err.Error(), "out of range") || strings.Contains(err.Error(), "too l") || strings.Contains(err.Error(), "too many") {
			return
		}
		t.Fatalf("the library refuses %s, which has a plan: %v", s, err)
	}
	ours, theirs := s.Validate([]byte(value)), library.Validate([]byte(value))
	if theirs != nil && (strings.Contains(theirs.Error(), "out of range") || strings.Contains(theirs.Error(), "too l")) {
		return // beyond what the library is asked
	}
	if (ours == nil) != (theirs == nil) {
		t.Fatalf("%s\n%s\nplan: %v\nlibrary: %v", s, value, ours, theirs)
	}
	if a, b := paths(ours), paths(theirs); len(a) < 15 && len(b) < 15 && !slices.Equal(a, b) {
		t.Fatalf("%s\n%s\nplan: %v\nlibrary: %v", s, value, ours, theirs)
	}
}

// paths returns the places that an error complains about.
func paths(err error) []string {
	set := map[string]bool{}
	var invalid *schema.Invalid
	if errors.As(err, &invalid) {
		for _, p := range invalid.Problems {
			set[p.Path] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// generator spends data on choices; when it runs out, the choices are all 0.
type generator struct {
	data []byte
}

func (g *generator) pick(n int) int {
	if len(g.data) == 0 {
		return 0
	}
	b := g.data[0]
	g.data = g.data[1:]
	return int(b) % n
}

func choose[T any](g *generator, from []T) T { return from[g.pick(len(from))] }

var (
	fuzzNames   = []string{"a", "b", "c", "a b", "é", "A"}
	fuzzNumbers = []string{"0", "-0", "1", "1.0", "10e-1", "1.5", "-1", "2", "100", "1e2", "0.1", "1E+2", "3", "-0.0", "12345678901234567890", "12345678901234567891", "1e30", "1.0000000000000000000001", "0.001e3", "-7", "1e-7", "255", "1e400", "1e99999"}
	fuzzStrings = []string{`""`, `"a"`, `"b"`, `"\u0061"`, `"ab"`, `"é"`, `"\ud83d\ude00"`, `"😀"`, `"a\nb"`, `"1"`, `"abc"`, `"\\"`, `"\""`, `"{}"`}
	fuzzCounts  = []string{"0", "1", "2", "3", "1.0", "1e0", "20e-1"}
	fuzzTypes   = []string{`"object"`, `"array"`, `"string"`, `"number"`, `"integer"`, `"boolean"`, `"null"`, `["string","null"]`, `["integer","string"]`, `["array","object"]`, `["number","integer"]`}
)

func (g *generator) root() string {
	body := g.object(3, false)
	members := []string{`"$defs":{"t":` + g.schema(2, false) + `,"u":` + g.schema(1, true) + `}`}
	if dialect := g.pick(4); dialect == 1 {
		members = append(members, `"$schema":"https://json-schema.org/draft/2019-09/schema"`)
	} else if dialect == 2 {
		members = append(members, `"$schema":"http://json-schema.org/draft-07/schema#"`)
	}
	return "{" + strings.Join(append(body, members...), ",") + "}"
}

func (g *generator) schema(depth int, refs bool) string {
	switch g.pick(12) {
	case 0:
		return choose(g, []string{"true", "false", "{}", "true"})
	case 1:
		if refs && depth > 0 {
			return `{"$ref":"` + choose(g, []string{"#", "#/$defs/t"}) + `","description":"x"}`
		}
	}
	return "{" + strings.Join(g.object(depth, true), ",") + "}"
}

// object returns the members of a schema, none of them twice.
func (g *generator) object(depth int, refs bool) []string {
	var members []string
	add := func(name, value string) { members = append(members, `"`+name+`":`+value) }
	for _, k := range []struct {
		name string
		make func() string
	}{
		{"type", func() string { return choose(g, fuzzTypes) }},
		{"properties", func() string { return g.properties(depth, refs) }},
		{"required", func() string { return `["` + strings.Join(fuzzNames[:g.pick(len(fuzzNames))], `","`) + `"]` }},
		{"additionalProperties", func() string { return g.nested(depth, refs) }},
		{"items", func() string { return g.nested(depth, refs) }},
		{"enum", func() string { return "[" + g.value(1) + "]" }},
		{"const", func() string { return g.value(1) }},
		{"minimum", func() string { return choose(g, fuzzNumbers) }},
		{"maximum", func() string { return choose(g, fuzzNumbers) }},
		{"exclusiveMinimum", func() string { return choose(g, fuzzNumbers) }},
		{"exclusiveMaximum", func() string { return choose(g, fuzzNumbers) }},
		{"minLength", func() string { return choose(g, fuzzCounts) }},
		{"maxLength", func() string { return choose(g, fuzzCounts) }},
		{"minItems", func() string { return choose(g, fuzzCounts) }},
		{"maxItems", func() string { return choose(g, fuzzCounts) }},
		{"minProperties", func() string { return choose(g, fuzzCounts) }},
		{"maxProperties", func() string { return choose(g, fuzzCounts) }},
		{"pattern", func() string { return choose(g, []string{`"a"`, `"^a*$"`, `"."`, `"^.$"`, `"\\n"`}) }},
		{"format", func() string { return choose(g, []string{`"email"`, `"date-time"`, `"regex"`}) }},
		{"default", func() string { return g.value(1) }},
		{"x-anything", func() string { return g.value(1) }},
	} {
		if g.pick(6) == 1 {
			value := k.make()
			if value != `[""]` {
				add(k.name, value)
			}
		}
	}
	return members
}

func (g *generator) nested(depth int, refs bool) string {
	if depth == 0 {
		return choose(g, []string{"true", "false", `{"type":"string"}`})
	}
	return g.schema(depth-1, true)
}

func (g *generator) properties(depth int, refs bool) string {
	var members []string
	for _, name := range fuzzNames[:g.pick(len(fuzzNames))] {
		members = append(members, `"`+name+`":`+g.nested(depth, refs))
	}
	return "{" + strings.Join(members, ",") + "}"
}

func (g *generator) value(depth int) string {
	kinds := 7
	if depth == 0 {
		kinds = 5
	}
	switch g.pick(kinds) {
	case 0:
		return choose(g, []string{"null", "true", "false"})
	case 1, 2:
		return choose(g, fuzzNumbers)
	case 3, 4:
		return choose(g, fuzzStrings)
	case 5:
		var items []string
		for range g.pick(4) {
			items = append(items, g.value(depth-1))
		}
		return choose(g, []string{"[", "[ "}) + strings.Join(items, ",") + "]"
	}
	var members []string
	for _, name := range fuzzNames[:g.pick(len(fuzzNames))] {
		members = append(members, `"`+name+`" : `+g.value(depth-1))
	}
	return "{" + strings.Join(members, ",\n") + "}"
}
