package server

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/yosida95/uritemplate/v3"
)

func TestTemplatesMatch(t *testing.T) {
	for _, tc := range []struct {
		name, template, uri string
		want                map[string]string // nil: no match
	}{
		{"one variable", "note://{name}", "note://today", map[string]string{"name": "today"}},
		{"a variable is no path", "note://{name}", "note://a/b", nil},
		{"a reserved one may be", "file:///{+path}", "file:///a/b.txt", map[string]string{"path": "a/b.txt"}},
		{"percent-encoding is undone", "note://{name}", "note://a%20b%2Fc", map[string]string{"name": "a b/c"}},
		{"two expressions", "x://{a}/data/{b}", "x://1/data/2", map[string]string{"a": "1", "b": "2"}},
		{"two variables in one", "x://{a,b}", "x://1,2", map[string]string{"a": "1", "b": "2"}},
		{"path segments", "x:{/a,b}", "x:/1/2", map[string]string{"a": "1", "b": "2"}},
		{"an exploded path", "x:{/a*}", "x:/1/2/3", map[string]string{"a": "1/2/3"}},
		{"labels", "x{.a,b}", "x.1.2", map[string]string{"a": "1", "b": "2"}},
		{"a query, in any order", "x://y{?a,b}", "x://y?b=2&a=1", map[string]string{"a": "1", "b": "2"}},
		{"parameters", "x{;a,b}", "x;a=1;b=2", map[string]string{"a": "1", "b": "2"}},
		{"a prefix modifier", "x://{a:3}", "x://abc", map[string]string{"a": "abc"}},
		{"absent variables", "x://y{?a}", "x://y", map[string]string{}},
		{"another prefix", "x://{a}", "z://1", nil},
		{"no expression at all", "x://fixed", "x://fixed", map[string]string{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := parsePattern(tc.template)
			if err != nil {
				t.Fatal(err)
			}
			got := p.match(tc.uri)
			if (got == nil) != (tc.want == nil) || !maps.Equal(got, tc.want) {
				t.Errorf("%s against %s: %q, want %q", tc.uri, tc.template, got, tc.want)
			}
		})
	}
}

// TestMatchingIsLinear_R070 matches the longest URIs that are looked up, of every
// shape that could make a matcher go back, with templates of every operator.
func TestMatchingIsLinear_R070(t *testing.T) {
	const most = 50 * time.Millisecond * slowdown
	parts := []string{"a,", "a/", ";a=", "a=b&", "%41", "a", ".a", "?a=b", "/", "a=,", "#a,"}
	tails := []string{"!", "", "%"}
	if slowdown > 1 { // the race detector has seen enough
		parts, tails = parts[:3], tails[:1]
	}
	for _, template := range []string{
		"x://{a*}", "x://{a*}/{b*}/{c*}{?d*}", "x:{/a*}{?b*}", "x://{+a}{+b}{+c}", "x:{/a*,b*,c*}",
		"x://{+a*,b*}{/c*,d*}{;e*}{?f*,g}{&h*}{#i*}", "x://{a:3}{.b*}{+c:999}", "x://{#a*}{+b*}{.c*}{/d*}{;e*}",
	} {
		p, err := parsePattern(template)
		if err != nil {
			t.Fatal(err)
		}
		p.match("x://warm")
		for _, part := range parts {
			for _, tail := range tails {
				uri := "x://" + strings.Repeat(part, maxURI/len(part)) + tail
				took := time.Hour
				for range 20 { // others may have the processor at first
					start := time.Now()
					p.match(uri)
					if took = min(took, time.Since(start)); took <= most {
						break
					}
				}
				if took > most {
					t.Errorf("%s with many %q took %v", template, part, took)
				}
			}
		}
	}
}

// FuzzTemplate holds matching to the library: what it expands, we match, and a
// single plain variable comes back as it was.
func FuzzTemplate(f *testing.F) {
	f.Add("note://{name}", "today")
	f.Add("file:///{+path}", "a/b c")
	f.Add("x{?q}", "u&=")
	f.Fuzz(func(t *testing.T, text, value string) {
		p, err := parsePattern(text)
		if err != nil || len(p.expressions) != 1 || len(p.expressions[0].vars) != 1 || strings.ContainsAny(text, "*:+#") {
			t.Skip("not the plain form")
		}
		name := p.expressions[0].vars[0]
		uri, err := p.template.Expand(uritemplate.Values{name: uritemplate.String(value)})
		if err != nil || value == "" || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Skip("not expandable; the library expands other scripts as if they were Latin-1, and drops control characters")
		}
		got := p.match(uri)
		if got == nil || got[name] != value {
			t.Fatalf("%q with %q expands to %q, which gives %q", text, value, uri, got)
		}
	})
}
