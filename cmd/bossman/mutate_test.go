package main_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// field is a value somewhere in a message: where it stands, and where the member
// it belongs to begins, -1 for an element of an array and for the message itself.
type field struct{ member, from, to int }

// fieldsOf lists every value of a good message.
func fieldsOf(text string) []field {
	var fields []field
	var walk func(from, member int) int
	dec := jsontext.NewDecoder(strings.NewReader(text))
	skip := func(at int) int { // over what stands between two tokens
		for at < len(text) && strings.IndexByte(" \t,:", text[at]) >= 0 {
			at++
		}
		return at
	}
	walk = func(from, member int) int {
		own := len(fields)
		fields = append(fields, field{member: member, from: from})
		kind := dec.PeekKind()
		if kind != '{' && kind != '[' {
			_ = dec.SkipValue()
			fields[own].to = int(dec.InputOffset())
			return fields[own].to
		}
		_, _ = dec.ReadToken()
		for dec.PeekKind() != '}' && dec.PeekKind() != ']' {
			member := -1
			if kind == '{' {
				member = skip(int(dec.InputOffset()))
				_ = dec.SkipValue()
			}
			walk(skip(int(dec.InputOffset())), member)
		}
		_, _ = dec.ReadToken()
		fields[own].to = int(dec.InputOffset())
		return fields[own].to
	}
	walk(0, -1)
	return fields
}

// oddValues are what fields are replaced by: JSON of every kind, and text that
// is none.
func oddValues() []string {
	return []string{
		`null`, `true`, `false`, `0`, `-0`, `-1`, `1.5`, `1e2`, `1e400`, `-1e-400`, `9007199254740993`, `99999999999999999999999999`, `2147483648`,
		`""`, `"x"`, `" "`, `"\u0000"`, `"\ud83d\ude00"`, `"NULL"`, `"${jndi:x}"`, `"%s%n%d"`, `"'; DROP TABLE x; --"`, `"../../../x"`, `"<script>"`, `"\u202e"`,
		`"` + strings.Repeat("long ", 2000) + `"`, `"` + strings.Repeat(`\u0041`, 300) + `"`, strings.Repeat("7", 2000),
		`[]`, `[null]`, `[[[[[]]]]]`, `["x","x"]`, `{}`, `{"":{}}`, `{"a":{"a":{"a":1}}}`, `{"id":1,"method":"ping"}`, `[{}]`,
		nested(1200, "[", "]"), nested(600, `{"a":`, "}"), `{"a":1,"a":2}`, `"\ud800"`, "\"\xff\"", "\"\xc0\xaf\"", "\"\x01\"", "\x00",
		`NaN`, `Infinity`, `undefined`, `+1`, `01`, `.5`, `'x'`, `"x`, `[1,]`, `{"a":}`, `{"a"}`, `nul`, `"\x41"`, ``,
	}
}

// mutation changes a message at a field.
type mutation struct {
	name string
	do   func(rng *rand.Rand, text string, f field) string
}

// fieldMutations mostly leave JSON behind.
func fieldMutations() []mutation {
	values := oddValues()
	return []mutation{
		{"replace the value", func(rng *rand.Rand, text string, f field) string {
			return text[:f.from] + values[rng.IntN(len(values))] + text[f.to:]
		}},
		{"leave the member out", leaveOut},
		{"say the member twice", func(rng *rand.Rand, text string, f field) string {
			return insertMember(text, f, text[max(f.member, 0):f.to])
		}},
		{"say the member twice, once differently", func(rng *rand.Rand, text string, f field) string {
			return insertMember(text, f, nameOf(text, f)+":"+values[rng.IntN(len(values))])
		}},
		{"rename the member", func(rng *rand.Rand, text string, f field) string {
			if f.member < 0 {
				return text[:f.from] + "{" + text[f.from:f.to] + "}" + text[f.to:]
			}
			return text[:f.member] + otherName(rng, nameOf(text, f)) + text[f.member+len(nameOf(text, f)):]
		}},
		{"put the value into an array", func(_ *rand.Rand, text string, f field) string {
			return text[:f.from] + "[" + text[f.from:f.to] + "]" + text[f.to:]
		}},
		{"make the value a string", func(_ *rand.Rand, text string, f field) string {
			return text[:f.from] + quote(text[f.from:f.to]) + text[f.to:]
		}},
		{"add a member", func(rng *rand.Rand, text string, f field) string {
			return insertMember(text, f, otherName(rng, `"extra"`)+":"+values[rng.IntN(len(values))])
		}},
	}
}

// textMutations do not care for fields, only for bytes near them.
func textMutations() []mutation {
	return []mutation{
		{"cut it off", func(rng *rand.Rand, text string, f field) string { return text[:f.from+rng.IntN(f.to-f.from+1)] }},
		{"cut its start off", func(rng *rand.Rand, text string, f field) string { return text[f.from+rng.IntN(f.to-f.from+1):] }},
		{"change a byte", func(rng *rand.Rand, text string, f field) string {
			b := []byte(text)
			b[f.from+rng.IntN(f.to-f.from)] = byte(rng.IntN(256))
			return string(b)
		}},
		{"add a byte", func(rng *rand.Rand, text string, f field) string {
			odd := "{}[],:\"\\ \t\x00\x7f\x80\xff019-+.eE"
			i := rng.IntN(len(odd))
			return text[:f.from] + odd[i:i+1] + text[f.from:]
		}},
		{"take a byte away", func(rng *rand.Rand, text string, f field) string {
			i := f.from + rng.IntN(f.to-f.from)
			return text[:i] + text[i+1:]
		}},
		{"exchange two bytes", func(rng *rand.Rand, text string, f field) string {
			b := []byte(text)
			i, j := f.from+rng.IntN(f.to-f.from), rng.IntN(len(b))
			b[i], b[j] = b[j], b[i]
			return string(b)
		}},
		{"repeat a part", func(rng *rand.Rand, text string, f field) string { return text[:f.to] + text[f.from:] }},
		{"send it twice on one line", func(rng *rand.Rand, text string, _ field) string { return text + text }},
		{"put it into a batch", func(rng *rand.Rand, text string, _ field) string { return "[" + text + "]" }},
		{"put it into a batch with others", func(rng *rand.Rand, text string, f field) string {
			return "[" + text + "," + text[f.from:f.to] + `,{"jsonrpc":"2.0","method":"notifications/x"},7]`
		}},
	}
}

// nameOf is the name of the field's member, with its quotes; for the rest, some
// name.
func nameOf(text string, f field) string {
	if f.member < 0 {
		return `"none"`
	}
	return text[f.member : f.member+1+strings.IndexByte(text[f.member+1:], '"')+1]
}

func leaveOut(_ *rand.Rand, text string, f field) string {
	start := f.member
	if start < 0 {
		start = f.from
	}
	before, after := text[:start], text[f.to:]
	if rest, ok := strings.CutPrefix(after, ","); ok {
		return before + rest
	}
	return strings.TrimSuffix(before, ",") + after
}

// insertMember adds a member before that of the field.
func insertMember(text string, f field, member string) string {
	if f.member < 0 {
		return text[:f.from] + member + "," + text[f.from:]
	}
	return text[:f.member] + member + "," + text[f.member:]
}

// otherName is a name that a careless reader takes for the given one.
func otherName(rng *rand.Rand, name string) string {
	plain := strings.Trim(name, `"`)
	variants := []string{
		strings.ToUpper(plain), strings.ToTitle(plain[:min(1, len(plain))]) + plain[min(1, len(plain)):], strings.ReplaceAll(plain, "s", "ſ"),
		strings.ReplaceAll(plain, "k", "\u212a"), plain + `\u0000`, plain + " ", " " + plain, "", plain + plain, `\u006dethod`, `__proto__`, "id", "method", "params", "result", "error",
	}
	return `"` + variants[rng.IntN(len(variants))] + `"`
}

// mutated is one mutated message on one line, under an id of its own.
func (g *generator) mutated(id string) (text, how string) {
	rng := g.rng
	text = strings.Replace(g.seeds[rng.IntN(len(g.seeds))], seedID, id, 1)
	for n := 1 + rng.IntN(4)/3; n > 0; n-- { // now and then a second one, where the first left JSON
		if !jsontext.Value(text).IsValid() || text == "" {
			break
		}
		fields := fieldsOf(text)
		changes := g.fields
		if rng.IntN(4) == 0 {
			changes = g.bytes
		}
		change := changes[rng.IntN(len(changes))]
		text, how = change.do(rng, text, fields[rng.IntN(len(fields))]), change.name
	}
	clean := bytes.ReplaceAll([]byte(text), []byte("\n"), []byte(" "))
	return string(slices.Clip(clean)), how
}
