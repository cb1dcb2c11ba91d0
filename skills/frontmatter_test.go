package skills_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/skills"
)

func TestFrontmatterBecomesJSON(t *testing.T) {
	for name, test := range map[string]struct{ yaml, want string }{
		"fields keep their order":                  {"z: a\nb: c", `{"z":"a","b":"c"}`},
		"mappings and lists nest":                  {"a: {b: [1, {c: d}], e: []}", `{"a":{"b":[1,{"c":"d"}],"e":[]}}`},
		"blocks of text keep their lines":          {"a: |\n  one\n  two\nb: >-\n  one\n  two", `{"a":"one\ntwo\n","b":"one two"}`},
		"quoted scalars are strings":               {`a: "1"` + "\nb: 'true'\nc: \"\\u00e9\\n\"", `{"a":"1","b":"true","c":"é\n"}`},
		"the words for null and truth":             {"a: ~\nb:\nc: null\nd: True\ne: FALSE", `{"a":null,"b":null,"c":null,"d":true,"e":false}`},
		"yes, no, on and off are strings":          {"a: yes\nb: No\nc: on\nd: off\ne: y", `{"a":"yes","b":"No","c":"on","d":"off","e":"y"}`},
		"dates and times are strings":              {"a: 2024-01-31\nb: 2024-01-31T10:00:00Z\nc: 12:30:45", `{"a":"2024-01-31","b":"2024-01-31T10:00:00Z","c":"12:30:45"}`},
		"integers keep their digits":               {"a: 123456789012345678901234567890\nb: -7\nc: +7\nd: 007\ne: 0", `{"a":123456789012345678901234567890,"b":-7,"c":7,"d":7,"e":0}`},
		"integers of other bases":                  {"a: 0o17\nb: 0xfF\nc: 0b11\nd: 0x\ne: 1_000", `{"a":15,"b":255,"c":"0b11","d":"0x","e":"1_000"}`},
		"fractions keep their digits":              {"a: 1.10\nb: .5\nc: 5.\nd: -1.5e+3\ne: 1E5\nf: 1e\ng: 1.2.3\nh: '.'\ni: .", `{"a":1.10,"b":0.5,"c":5,"d":-1.5e+3,"e":1E5,"f":"1e","g":"1.2.3","h":".","i":"."}`},
		"a tag decides":                            {"a: !!str 1\nb: !!int 2\nc: !!float 3", `{"a":"1","b":2,"c":3}`},
		"an alias stands for its anchor":           {"a: &x [1]\nb: *x", `{"a":[1],"b":[1]}`},
		"names that are no strings become strings": {"1: a\ntrue: b\nnull: c", `{"1":"a","true":"b","null":"c"}`},
		"a merge key is a name like any other":     {"a: 1\n<<: {b: 2}", `{"a":1,"<<":{"b":2}}`},
		"comments are dropped":                     {"# one\na: b # two", `{"a":"b"}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := skills.Frontmatter([]byte("---\n" + test.yaml + "\n---\nbody"))
			if err != nil || string(got) != test.want {
				t.Errorf("got %s, %v\nwant %s", got, err, test.want)
			}
		})
	}
}

func TestFrontmatterStandsBetweenTwoLines(t *testing.T) {
	for name, text := range map[string]string{
		"as usual":                     "---\na: b\n---\nbody",
		"without a body":               "---\na: b\n---",
		"with carriage returns":        "---\r\na: b\r\n---\r\nbody",
		"with a byte order mark":       "\ufeff---\na: b\n---\n",
		"with spaces after the dashes": "--- \na: b\n---\t \n",
		"with a rule in the body":      "---\na: b\n---\nx\n---\nc: d\n",
	} {
		if got, err := skills.Frontmatter([]byte(text)); err != nil || string(got) != `{"a":"b"}` {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	for name, text := range map[string]string{
		"nothing":                  "",
		"no frontmatter":           "# A title\n",
		"no end":                   "---\na: b\n",
		"text before it":           "\n---\na: b\n---\n",
		"no fields":                "---\n---\n",
		"only a comment":           "---\n# a\n---\n",
		"a list":                   "---\n- a\n---\n",
		"a scalar":                 "---\na\n---\n",
		"two documents":            "---\na: b\n...\nc: d\n---\n",
		"a field twice":            "---\na: b\na: c\n---\n",
		"a field twice, by a tag":  "---\n1: b\n\"1\": c\n---\n",
		"a name that is a list":    "---\n? [a]\n: b\n---\n",
		"what is no YAML":          "---\na: [\n---\n",
		"a tab as indentation":     "---\na:\n\tb: c\n---\n",
		"a number without JSON":    "---\na: .inf\n---\n",
		"no number":                "---\na: .NaN\n---\n",
		"a tag of its own":         "---\na: !secret b\n---\n",
		"a tag that does not fit":  "---\na: !!int b\n---\n",
		"a mapping with a tag":     "---\na: !!set {b}\n---\n",
		"binary data":              "---\na: !!binary aGVsbG8=\n---\n",
		"an alias without anchor":  "---\na: *b\n---\n",
		"invalid UTF-8":            "---\na: \xff\n---\n",
		"a control character":      "---\na: \x01\n---\n",
		"an alias of itself":       "---\na: &a [*a]\n---\n",
		"an alias around itself":   "---\na: &a {b: *a}\n---\n",
		"deep lists":               "---\na: " + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "\n---\n",
		"too much":                 "---\na: " + strings.Repeat("x", 65<<10) + "\n---\n",
		"too much without end":     "---\na: " + strings.Repeat("x\n", 65<<10),
		"a billion laughs":         bomb(10, 10),
		"one long text many times": "---\na: &a " + strings.Repeat("x", 30<<10) + "\nb: [" + strings.Repeat("*a,", 10_000) + "]\n---\n",
	} {
		if got, err := skills.Frontmatter([]byte(text)); err == nil {
			t.Errorf("%s: %.100s", name, got)
		}
	}
}

// bomb is YAML whose aliases multiply.
func bomb(width, depth int) string {
	var b strings.Builder
	b.WriteString("---\na0: &a0 [lol]\n")
	for i := range depth {
		from, to := string(rune('a'+i)), string(rune('b'+i))
		b.WriteString(to + "0: &" + to + "0 [" + strings.Repeat("*"+from+"0,", width) + "]\n")
	}
	return b.String() + "---\n"
}

// What a stranger's frontmatter costs is in proportion to its length, which is
// bounded.
func TestHostileFrontmatterIsCheap(t *testing.T) {
	for name, text := range map[string]string{
		"a billion laughs":    bomb(10, 10),
		"nested lists":        "a: " + strings.Repeat("[", 60_000),
		"nested mappings":     "a: " + strings.Repeat("{a: ", 15_000),
		"nested sequences":    strings.Repeat("- ", 30_000) + "a",
		"many fields":         fields(6000),
		"many anchors":        "a: [" + strings.Repeat("&a b,", 12_000) + "]",
		"many keys to follow": strings.Repeat("? a\n", 16_000),
		"many escapes":        "a: \"" + strings.Repeat(`\x01`, 16_000) + "\"",
		"many digits":         "a: 0x" + strings.Repeat("f", 60_000),
		"many nines":          "a: " + strings.Repeat("9", 60_000),
		"many comments":       strings.Repeat("# x\n", 15_000) + "a: b",
		"many lines":          "a: |\n" + strings.Repeat("  x\n", 15_000),
	} {
		start := time.Now()
		if !strings.HasPrefix(text, "---") {
			text = "---\n" + text + "\n---\n"
		}
		got, _ := skills.Frontmatter([]byte(text))
		if spent := time.Since(start); spent > 2*time.Second || len(got) > 1<<20 {
			t.Errorf("%s: %v, %d bytes", name, spent, len(got))
		} else {
			t.Logf("%s: %v", name, spent)
		}
	}
}

func fields(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d: b\n", i)
	}
	return b.String()
}

func FuzzFrontmatter(f *testing.F) {
	for _, seed := range []string{
		"a: b", "name: x\ndescription: >\n  y\n  z", "a: &a [1, .5e3, 0x1f]\nb: *a", "? a\n: [b, {c: 'd'}]", "a: !!str 1\n...\n", "- a\n- b", "%YAML 1.2\n---\na: b",
	} {
		f.Add("---\n" + seed + "\n---\n")
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := skills.Frontmatter([]byte(text))
		if err != nil {
			return
		}
		if !got.IsValid(jsontext.AllowDuplicateNames(false), jsontext.AllowInvalidUTF8(false)) || got.Kind() != '{' || len(got) > 1<<20 {
			t.Fatalf("%q became %s", text, got)
		}
		s := skills.Skill{URI: "skill://a/SKILL.md", Frontmatter: got, Dynamic: true}
		if err := s.Verify(s.URI, []byte(text)); err != nil {
			t.Fatalf("it does not match itself: %v", err)
		}
	})
}
