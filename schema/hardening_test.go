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
		{"2^20 through dynamic anchors end", dynamicLadder(20), `1`, "too large"},
		{"a reference to itself is refused", `{"$ref":"#"}`, `1`, "without end"},
		{"a circle of references is refused", `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, `1`, "without end"},
		{"a circle through anyOf is refused", `{"anyOf":[{"type":"string"},{"not":{"$ref":"#"}}]}`, `1`, "without end"},
		{"a long chain is refused", chain(900, `"not":false,`), `1`, "too long"},
		{"a long chain of common keywords is quick", chain(9_900, ""), `1`, ""},
		{"(a+)+$ is quick", `{"type":"string","pattern":"(a+)+$"}`, `"` + strings.Repeat("a", 64<<10) + `b"`, "must match"},
		{"(a+)+$ is quick beside other keywords", `{"pattern":"(a+)+$","not":false}`, `"` + strings.Repeat("a", 64<<10) + `b"`, "must match"},
		{"a pattern of many steps on long text is refused", `{"pattern":"(a?){1000}b"}`, `"` + strings.Repeat("a", 256<<10) + `"`, "too large"},
		{"a pattern of many steps on long text is refused beside other keywords", `{"pattern":"(a?){1000}b","not":false}`, `"` + strings.Repeat("a", 256<<10) + `"`, "too large"},
		{"a pattern that explodes is refused", `{"pattern":"` + strings.Repeat("a{1000}", 1000) + `"}`, `"a"`, "too large"},
		{"look-ahead is refused", `{"pattern":"a(?=b)"}`, `"a"`, "RE2 syntax"},
		{"10 MB of schema are refused", `{"description":"` + strings.Repeat("x", 10<<20) + `"}`, `1`, "over the limit"},
		{"nesting of a thousand is refused", `{"default":` + deep(1000) + `}`, `1`, "deep"},
		{"10,000 $defs are refused", `{"$defs":{` + many(10_000, `"d%d":{"type":"string"}`) + `}}`, `1`, "objects"},
		{"10,000 $defs are refused beside other keywords", `{"not":false,"$defs":{` + many(9_990, `"d%d":{"type":"string"}`) + `}}`, `1`, "objects"},
		{"5,000 common $defs are fine", `{"$defs":{` + many(5_000, `"d%d":{"type":"string"}`) + `},"type":"integer"}`, `1`, ""},
		{"1,900 $defs are fine", `{"not":false,"$defs":{` + many(1_900, `"d%d":{"type":"string"}`) + `}}`, `1`, ""},
		{"900 identifiers are quick", `{"$defs":{` + many(900, `"d%d":{"$id":"x%d"}`) + `}}`, `1`, ""},
		{"1,900 identifiers are refused", `{"$defs":{` + many(1_900, `"d%d":{"$id":"x%d"}`) + `}}`, `1`, "identifiers"},
		{"a thousand references to odd places are refused", `{"foo":{` + many(900, `"d%d":{}`) + `},"allOf":[` + many(900, `{"$ref":"#/foo/d%d"}`) + `]}`, `1`, "references to places"},
		{"a long name around many schemas is refused", `{"not":false,"properties":{"` + strings.Repeat("x", 100_000) + `":{"properties":{` + many(1000, `"d%d":{}`) + `}}}}`, `1`, "too large"},
		{"uniqueItems over 100,000 items is quick", `{"uniqueItems":true}`, "[" + many(100_000, "%d") + "]", ""},
		{"uniqueItems over items that look alike is quick", `{"uniqueItems":true}`, collisions(13), ""},
		{"uniqueItems over 250,000 items is refused", `{"uniqueItems":true}`, "[" + many(250_000, "%d") + "]", "too large"},
		{"multipleOf 1e-300 is quick", `{"multipleOf":1e-300}`, `1e300`, ""},
		{"multipleOf 1e-300 finds what is smaller", `{"multipleOf":1e-300}`, `1e-301`, "multiple of 1e-300"},
		{"multipleOf 1e-999999999 is refused", `{"multipleOf":1e-999999999}`, `1`, "out of range"},
		{"a number of 10^999999 is refused where arithmetic is needed", `{"multipleOf":3}`, `1e999999`, "out of range"},
		{"a number of 10^999999999 is no trouble where it is compared", `{"type":"integer","maximum":5}`, `1e999999999`, "at most 5"},
		{"a number of 100,000 digits is refused where arithmetic is needed", `{"multipleOf":3}`, strings.Repeat("7", 100_000), "too long"},
		{"a bound of 10^999999999 is no trouble", `{"maximum":1e999999999}`, `7`, ""},
		{"maxLength beyond counting is refused", `{"maxLength":1e30}`, `"a"`, "out of range"},
		{"100,000 wrong items are told briefly", `{"items":{"type":"string"}}`, "[" + many(100_000, "%d") + "]", "more problems than these"},
		{"40,000 wrong items are told briefly beside other keywords", `{"not":false,"items":{"type":"string"}}`, "[" + many(40_000, "%d") + "]", "more problems than these"},
		{"100,000 wrong items are refused beside other keywords", `{"not":false,"items":{"type":"string"}}`, "[" + many(100_000, "%d") + "]", "too large"},
		{"10,000 unknown members are told briefly", `{"properties":{` + many(500, `"p%d":{}`) + `},"additionalProperties":false}`, "{" + many(10_000, `"x%d":1`) + "}", "more problems than these"},
		{"a huge enum against many items ends", `{"items":{"enum":[` + many(50_000, "%d.5") + `]}}`, "[" + many(50_000, "%d.5") + "]", "too large"},
		{"depth against a schema that refers to itself ends", `{"properties":{"a":{"$ref":"#"}},"additionalProperties":false}`, strings.Repeat(`{"a":`, 990) + `{"a":{},"b":"` + strings.Repeat("x", 400_000) + `"}` + strings.Repeat("}", 990), "too large"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var err error
			took, allocated := time.Hour, uint64(1<<60)
			for range 3 { // the best of three, since garbage of other tests counts too
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				start := processorTime()
				err = parseAndValidate(test.schema, test.value)
				took = min(took, processorTime()-start)
				runtime.ReadMemStats(&after)
				allocated = min(allocated, after.TotalAlloc-before.TotalAlloc)
			}
			t.Logf("%v, %d KiB: %.150v", took, allocated>>10, err)
			if !says(err, test.want) {
				t.Errorf("got error %.300v, want one with %q", err, test.want)
			}
			if took > 100*time.Millisecond*slowdown {
				t.Errorf("took %v", took)
			}
			if allocated > 32<<20 {
				t.Errorf("allocated %d KiB", allocated>>10)
			}
			if err != nil && len(err.Error()) > 20_000 {
				t.Errorf("the error has %d bytes", len(err.Error()))
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

// chain returns a schema of n references, one to the next, with another keyword.
func chain(n int, keyword string) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/d0",` + keyword + `"$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"d%d":{"$ref":"#/$defs/d%d"},`, i, i+1)
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
