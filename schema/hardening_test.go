package schema_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/schema"
)

// ladder returns a schema of n definitions, each of which applies the next twice.
func ladder(n int, keyword, wrap string) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range n {
		next := fmt.Sprintf(wrap, fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, i+1))
		fmt.Fprintf(&b, `"d%d":{"%s":[%s,%s]},`, i, keyword, next, next)
	}
	fmt.Fprintf(&b, `"d%d":{"type":"string"}}}`, n)
	return b.String()
}

// many joins n texts made by a format with the number.
func many(n int, format string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = strings.ReplaceAll(format, "%d", fmt.Sprint(i))
	}
	return strings.Join(parts, ",")
}

// collisions returns arrays that look alike to a hash that only strings items
// together.
func collisions(bits int) string {
	parts := make([]string, 1<<bits)
	for i := range parts {
		var b strings.Builder
		b.WriteString(`["a`)
		for j := range bits {
			if i>>j&1 == 1 {
				b.WriteString(`","a`)
			} else {
				b.WriteString(`\u0004a`)
			}
		}
		parts[i] = b.String() + `"]`
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func TestHostileSchemasAndValuesEndEarly_R073(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, test := range []struct {
		name   string
		schema string
		value  string
		want   string // part of the error; empty for none
	}{
		{"2^30 anyOf are refused", ladder(30, "anyOf", "%s"), `1`, "multiply into more than"},
		{"2^30 allOf are refused", ladder(30, "allOf", "%s"), `"a"`, "multiply into more than"},
		{"2^30 oneOf are refused", ladder(30, "oneOf", "%s"), `"a"`, "multiply into more than"},
		{"2^30 not are refused", ladder(30, "allOf", `{"not":%s}`), `"a"`, "multiply into more than"},
		{"2^30 through items end with the value", ladder(30, "anyOf", `{"items":%s}`), deep(40), "too large"},
		{"2^30 through properties end with the value", ladder(30, "anyOf", `{"properties":{"a":%s}}`), strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40), "too large"},
		{"2^n through a schema that refers to itself ends", `{"anyOf":[{"items":{"$ref":"#"},"minItems":1},{"items":{"$ref":"#"},"minItems":1}]}`, deep(60), "too large"},
		{"2^20 through dynamic anchors are refused", dynamicLadder(20), `1`, "multiply into more than"},
		{"a reference to itself is refused", `{"$ref":"#"}`, `1`, "without end"},
		{"a circle of references is refused", `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, `1`, "without end"},
		{"a circle of dynamic references is refused", `{"$id":"http://example.com/a","$dynamicAnchor":"x","$ref":"b","$defs":{"b":{"$id":"b","$dynamicRef":"#x","$defs":{"c":{"$dynamicAnchor":"x"}}}}}`, `1`, "without end"},
		{"a circle through anyOf is refused", `{"anyOf":[{"type":"string"},{"not":{"$ref":"#"}}]}`, `1`, "without end"},
		{"a long chain is refused where each link counts", chain(900, `,"not":false`), `1`, "too long"},
		{"a long chain of nothing but references is quick", chain(9_900, ""), `1`, ""},
		{"(a+)+$ is quick", `{"type":"string","pattern":"(a+)+$"}`, `"` + strings.Repeat("a", 64<<10) + `b"`, "must match"},
		{"(a+)+$ is quick beside other keywords", `{"pattern":"(a+)+$","not":false}`, `"` + strings.Repeat("a", 64<<10) + `b"`, "must match"},
		{"a pattern of many steps on long text is refused", `{"pattern":"(a?){1000}b"}`, `"` + strings.Repeat("a", 256<<10) + `"`, "too large"},
		{"a pattern of many steps on long text is refused beside other keywords", `{"pattern":"(a?){1000}b","not":false}`, `"` + strings.Repeat("a", 256<<10) + `"`, "too large"},
		{"a pattern that explodes is refused", `{"pattern":"` + strings.Repeat("a{1000}", 1000) + `"}`, `"a"`, "too large"},
		{"look-ahead is refused", `{"pattern":"a(?=b)"}`, `"a"`, "RE2 syntax"},
		{"10 MB of schema are refused", `{"description":"` + strings.Repeat("x", 10<<20) + `"}`, `1`, "over the limit"},
		{"nesting of a thousand is refused", `{"default":` + deep(1000) + `}`, `1`, "deep"},
		{"10,000 $defs are refused", `{"$defs":{` + many(10_000, `"d%d":{"type":"string"}`) + `}}`, `1`, "objects"},
		{"9,900 $defs are quick", `{"$defs":{` + many(9_900, `"d%d":{"type":"string"}`) + `},"type":"integer"}`, `1`, ""},
		{"70,000 members are quick", `{"properties":{` + many(70_000, `"d%d":true`) + `}}`, `1`, ""},
		{"9,000 identifiers are quick", `{"$defs":{` + many(9_000, `"d%d":{"$id":"x%d"}`) + `}}`, `1`, ""},
		{"9,000 long identifiers are refused", `{"$id":"http://example.com/` + strings.Repeat("x", 1_900) + `/","$defs":{` + many(9_000, `"d%d":{"$id":"x%d"}`) + `}}`, `1`, "too many identifiers"},
		{"an endless identifier is refused", `{"$id":"http://example.com/` + strings.Repeat("x", 100_000) + `"}`, `1`, "too long"},
		{"9,000 anchors are quick", `{"$ref":"#a8999","$defs":{` + many(9_000, `"d%d":{"$anchor":"a%d"}`) + `}}`, `1`, ""},
		{"100 references to odd places are quick", `{"foo":{` + many(100, `"d%d":{}`) + `},"allOf":[` + many(100, `{"$ref":"#/foo/d%d"}`) + `]}`, `1`, ""},
		{"4,000 references to odd places are refused", `{"foo":{` + many(4_000, `"d%d":{}`) + `},"allOf":[` + many(4_000, `{"$ref":"#/foo/d%d"}`) + `]}`, `1`, "too many identifiers or references"},
		{"a long text in the depth of a schema is refused", strings.Repeat(`{"properties":{"a":`, 45) + `{"description":"` + strings.Repeat("x", 900_000) + `"}` + strings.Repeat("}}", 45), `1`, "too much nesting"},
		{"1,000 patterns are quick", `{"patternProperties":{` + many(1_000, `"^a%d$":true`) + `}}`, `{"a":1}`, ""},
		{"10,000 patterns are refused", `{"patternProperties":{` + many(10_000, `"^a%d$":true`) + `}}`, `{"a":1}`, "too large"},
		{"a hundred patterns of many steps are refused", `{"patternProperties":{` + many(100, `"(a%d?){900}":true`) + `}}`, `{"a":1}`, "too large"},
		{"a pattern of many large classes is refused", `{"pattern":"` + strings.Repeat(`\\pL`, 2_000) + `"}`, `"a"`, "too large"},
		{"uniqueItems over 100,000 items is quick", `{"uniqueItems":true}`, "[" + many(100_000, "%d") + "]", ""},
		{"uniqueItems over items that look alike is quick", `{"uniqueItems":true}`, collisions(13), ""},
		{"uniqueItems over 250,000 items is refused", `{"uniqueItems":true}`, "[" + many(250_000, "%d") + "]", "too large"},
		{"multipleOf 1e-300 is quick", `{"multipleOf":1e-300}`, `1e300`, ""},
		{"multipleOf 1e-300 finds what is smaller", `{"multipleOf":1e-300}`, `1e-301`, "multiple of 1e-300"},
		{"multipleOf 1e-999999999 is quick", `{"multipleOf":1e-999999999}`, `1`, ""},
		{"multipleOf of 10^999999999 is quick", `{"multipleOf":3}`, `1e999999999`, "multiple of 3"},
		{"multipleOf of 40 digits is refused", `{"multipleOf":1.000000000000000000000000000000000000001}`, `1`, "more digits than can be checked"},
		{"a number of 10^999999999 is no trouble where it is compared", `{"type":"integer","maximum":5}`, `1e999999999`, "at most 5"},
		{"multipleOf of a million digits is quick", `{"multipleOf":0.7}`, strings.Repeat("7", 1_000_000), ""},
		{"a bound of 10^999999999 is no trouble", `{"maximum":1e999999999}`, `7`, ""},
		{"maxLength beyond counting is no trouble", `{"maxLength":1e30}`, `"a"`, ""},
		{"minLength beyond counting is no trouble", `{"minLength":1e9999999}`, `"a"`, "must have at least"},
		{"100,000 wrong items are told briefly", `{"items":{"type":"string"}}`, "[" + many(100_000, "%d") + "]", "more problems than these"},
		{"10,000 unknown members are told briefly", `{"properties":{` + many(500, `"p%d":{}`) + `},"additionalProperties":false}`, "{" + many(10_000, `"x%d":1`) + "}", "more problems than these"},
		{"a huge enum against many items ends", `{"items":{"enum":[` + many(50_000, "%d.5") + `]}}`, "[" + many(50_000, "%d.5") + "]", "too large"},
		{"a huge enum of objects against a long one ends", `{"enum":[` + many(9_000, `{"a":%d}`) + `]}`, `{"a":"` + strings.Repeat("x", 400_000) + `"}`, "too large"},
		{"long names that are unknown to many forms are told briefly", `{"anyOf":[` + many(90, `{"properties":{`+many(100, `"`+strings.Repeat("ab", 22)+`%d":{}`)+`},"required":["r%d"],"additionalProperties":false}`) + `]}`, "{" + many(50, `"`+strings.Repeat("xy", 22)+`%d":1`) + "}", "none of 90 allowed forms"},
		{"many forms for many items end", `{"items":{"anyOf":[` + many(900, `{"const":"c%d"}`) + `]}}`, "[" + many(50_000, `"x%d"`) + "]", "allowed"},
		{"many forms that mark what they see end", `{"anyOf":[` + many(900, `{"properties":{"a%d":{}}}`) + `],"unevaluatedProperties":{"type":"integer"}}`, "{" + many(20_000, `"m%d":1`) + "}", "too large"},
		{"many forms for a long string end", `{"anyOf":[` + many(4_900, `{"maxLength":%d}`) + `]}`, `"` + strings.Repeat("x", 1_000_000) + `"`, "too large"},
		{"many forms for a long number end", `{"anyOf":[` + many(4_900, `{"maximum":%d}`) + `]}`, strings.Repeat("7", 1_000_000), "too large"},
		{"many constants for a long string are quick", `{"anyOf":[` + many(4_900, `{"const":"x%d"}`) + `]}`, `"` + strings.Repeat("x", 1_000_000) + `"`, "allowed"},
		{"many values for a long string are quick", `{"anyOf":[` + many(900, `{"enum":["a","b","c","d","e","f","g","h","i","x%d"]}`) + `]}`, `"` + strings.Repeat("x", 200_000) + `"`, "allowed"},
		{"many types for a large array are told briefly", `{"anyOf":[` + many(900, `{"type":"string","minLength":%d}`) + `]}`, "[" + many(200_000, "%d") + "]", "got a large array"},
		{"many dependencies of a large object end", `{"dependentRequired":{` + many(9_000, `"n%d":["a"]`) + `}}`, "{" + many(20_000, `"m%d":1`) + "}", "too large"},
		{"contains in contains ends", strings.Repeat(`{"contains":`, 40) + "{}" + strings.Repeat("}", 40), deep(40), "must contain"},
		{"depth against a schema that refers to itself ends", `{"properties":{"a":{"$ref":"#"}},"additionalProperties":false}`, strings.Repeat(`{"a":`, 990) + `{"a":{},"b":"` + strings.Repeat("x", 400_000) + `"}` + strings.Repeat("}", 990), "too large"},
	} {
		t.Run(test.name, func(t *testing.T) {
			const maxTime, maxMemory = 100 * time.Millisecond * slowdown, 32 << 20
			var err error
			took, allocated := time.Hour, uint64(1<<60)
			for range 3 { // the garbage of other tests counts too, so a second try may do better
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				start := processorTime()
				err = parseAndValidate(test.schema, test.value)
				took = min(took, processorTime()-start)
				runtime.ReadMemStats(&after)
				allocated = min(allocated, after.TotalAlloc-before.TotalAlloc)
				if took <= maxTime && allocated <= maxMemory {
					break
				}
			}
			t.Logf("%v, %d KiB: %.150v", took, allocated>>10, err)
			if !says(err, test.want) {
				t.Errorf("got error %.300v, want one with %q", err, test.want)
			}
			if took > maxTime {
				t.Errorf("took %v", took)
			}
			if allocated > maxMemory {
				t.Errorf("allocated %d KiB", allocated>>10)
			}
			if err != nil && len(err.Error()) > 20_000 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

func TestHostileDefaultsEndEarly_R073(t *testing.T) {
	for _, test := range []struct{ name, schema, value, want string }{
		{"a large default for many items is refused", `{"items":{"properties":{"a":{"default":"` + strings.Repeat("x", 900_000) + `"}}}}`, "[" + many(1_000, `{"b":%d}`) + "]", "too large"},
		{"2,400 definitions that refer to each other are quick", `{"$ref":"#/$defs/d0","$defs":{` + many(2_400, `"d%d":{"properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d0"}}}`) + `}}`, `{"a":{}}`, ""},
		{"depth ends", `{"properties":{"a":{"$ref":"#"},"b":{"default":1}}}`, strings.Repeat(`{"a":`, 900) + `"` + strings.Repeat("x", 400_000) + `"` + strings.Repeat("}", 900), "too large"},
	} {
		t.Run(test.name, func(t *testing.T) {
			start := processorTime()
			_, err := schema.MustParse(test.schema).Defaults([]byte(test.value))
			if took := processorTime() - start; took > 200*time.Millisecond*slowdown {
				t.Errorf("took %v", took)
			}
			if !says(err, test.want) {
				t.Errorf("got error %v, want one with %q", err, test.want)
			}
		})
	}
}

// says reports whether an error has a text, of which the empty one stands for no
// error.
func says(err error, want string) bool {
	if err == nil || want == "" {
		return err == nil && want == ""
	}
	return strings.Contains(err.Error(), want)
}

func parseAndValidate(text, value string) error {
	s, err := schema.Parse([]byte(text))
	if err != nil {
		return err
	}
	return s.Validate([]byte(value))
}

// chain returns a schema of n references, one to the next, each with another
// keyword beside it.
func chain(n int, keyword string) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"d%d":{"$ref":"#/$defs/d%d"%s},`, i, i+1, keyword)
	}
	fmt.Fprintf(&b, `"d%d":{}}}`, n)
	return b.String()
}

// dynamicLadder is a ladder whose steps only show when it is climbed: each leads
// to a harmless anchor, for which another one stands in.
func dynamicLadder(n int) string {
	var outer, inner strings.Builder
	for i := range n {
		fmt.Fprintf(&outer, `"o%d":{"$dynamicAnchor":"a%d","allOf":[{"$ref":"inner#/$defs/s%d"},{"$ref":"inner#/$defs/s%d"}]},`, i, i, i+1, i+1)
		fmt.Fprintf(&inner, `"s%d":{"$dynamicRef":"#a%d"},"i%d":{"$dynamicAnchor":"a%d"},`, i, i, i, i)
	}
	fmt.Fprintf(&inner, `"s%d":{}`, n)
	return `{"$id":"http://example.com/outer","$ref":"inner#/$defs/s0","$defs":{` + outer.String() +
		`"inner":{"$id":"inner","$defs":{` + inner.String() + `}}}}`
}

func TestNothingIsFetched_R072(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	connected := make(chan struct{}, 100)
	go func() { // ends with the listener
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			connected <- struct{}{}
			conn.Close()
		}
	}()
	file := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(file, []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	addresses := []string{
		"http://" + listener.Addr().String() + "/schema.json",
		"https://" + listener.Addr().String() + "/schema.json",
		"file://" + filepath.ToSlash(file),
		filepath.ToSlash(file),
		"schema.json",
		"//" + listener.Addr().String() + "/schema.json",
		"ftp://" + listener.Addr().String() + "/schema.json",
		"https://json-schema.org/draft/next/schema",
	}
	for _, address := range addresses {
		for _, form := range []string{
			`{"$ref":"%s"}`, `{"$dynamicRef":"%s#a"}`, `{"$schema":"%s"}`,
			`{"properties":{"a":{"anyOf":[{"$ref":"%s"}]}}}`,
			`{"$id":"%s","$ref":"other.json"}`,
			`{"$defs":{"a":{"$id":"x","$schema":"%s"}},"not":false}`,
			`{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"%s"}`,
			`{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveRef":"%s"}`,
		} {
			text := fmt.Sprintf(form, address)
			err := parseAndValidate(text, `{"a":1}`)
			var invalid *schema.Invalid
			if err == nil || errors.As(err, &invalid) {
				t.Errorf("%s: got %v, want the schema to be refused", text, err)
			}
		}
	}
	select {
	case <-connected:
		t.Error("a connection was made")
	default:
	}
}
