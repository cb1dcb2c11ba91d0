package jsonscan_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

func TestAppendingToAPartDoesNotReachTheRest(t *testing.T) {
	const object, array = `{"a":1,"b":2}`, `[1,2]`
	obj, arr := []byte(object), []byte(array)
	for name, value := range jsonscan.Members(obj) {
		_, _ = append(name, '#'), append(value, '#')
	}
	for value := range jsonscan.Elements(arr) {
		_ = append(value, '#')
	}
	parts, err := new(jsonscan.Checker).Parts(obj, 10, 3)
	for _, part := range parts {
		_, _ = append(part.Name, '#'), append(part.Value, '#')
	}
	if string(obj) != object || string(arr) != array || err != nil {
		t.Errorf("the texts became %s and %s: %v", obj, arr, err)
	}
}

func TestPartsListsMembersNearTheRoot(t *testing.T) {
	var c jsonscan.Checker
	for _, tc := range []struct{ name, text, want string }{
		{"an object", ` { "a" : 1 , "b\u0062" : { "c" : [ {"d":2} ] } } `, `1a=1 2c=[ {"d":2} ] 1bb={ "c" : [ {"d":2} ] }`},
		{"objects in objects, as deep as was asked for", `{"a":{"b":{"c":{"d":1}}},"e":2}`, `3c={"d":1} 2b={"c":{"d":1}} 1a={"b":{"c":{"d":1}}} 1e=2`},
		{"an empty object", `{}`, ``},
		{"an array of objects", `[{"a":1}]`, `2a=1`},
		{"a string", `"a"`, ``},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			parts, err := c.Parts([]byte(tc.text), 10, 3)
			for _, p := range parts {
				got = append(got, fmt.Sprintf("%d%s=%s", p.Depth, p.Name, p.Value))
			}
			if s := strings.Join(got, " "); s != tc.want || err != nil || parts == nil {
				t.Errorf("got %s, %v; want %s", s, err, tc.want)
			}
		})
	}
	for _, text := range []string{`{"a":1,}`, `{"a":1} x`, `{"a":1,"a":2}`} {
		if parts, err := c.Parts([]byte(text), 10, 3); err == nil || parts != nil {
			t.Errorf("%s has the parts %v", text, parts)
		}
	}
	var many []string
	for i := range 1000 {
		many = append(many, fmt.Sprintf(`"%d":{"x":1}`, i))
	}
	if parts, err := c.Parts([]byte("{"+strings.Join(many, ",")+"}"), 10, 3); err != nil || parts != nil {
		t.Errorf("%d parts of too many, %v", len(parts), err)
	}
}

func TestCheckFindsDuplicatesAmongManyMembers(t *testing.T) {
	members := make([]string, 5000)
	for i := range members {
		members[i] = fmt.Sprintf(`"name%d":{"name%d":1}`, i, i)
	}
	object := func() []byte { return []byte("{" + strings.Join(members, ",") + "}") }
	if err := jsonscan.Check(object(), 10); err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{1, 11, 12, 13, 4999} {
		was := members[at]
		members[at] = `"\u006eame0":1`
		var wrong *jsonscan.SyntaxError
		if err := jsonscan.Check(object(), 10); !errors.As(err, &wrong) || wrong.What != "duplicate member name" {
			t.Errorf("the first name again in place %d: %v", at, err)
		}
		members[at] = was
	}
}

func TestCheckSeesEveryByteOfAString(t *testing.T) {
	for _, bad := range []string{"\x00", "\x1f", "\n", "\"", "\\", "\xff", "\xc3"} {
		for at := range 40 {
			text := `"` + strings.Repeat("x", at) + bad + strings.Repeat("y", 40-at) + `"`
			if err := jsonscan.Check([]byte(text), 1); err == nil {
				t.Errorf("accepted %q", text)
			}
		}
	}
	for _, good := range []string{" ", "!", "#", "[", "]", "\x7f", "é", "\u2028", "😀", `\n`, `\"`, `\\`, `\u00e9`} {
		for at := range 40 {
			text := `"` + strings.Repeat("x", at) + good + strings.Repeat("y", 40-at) + `"`
			if err := jsonscan.Check([]byte(text), 1); err != nil {
				t.Errorf("refused %q: %v", text, err)
			}
		}
	}
}

func TestKindOfNamesEveryKind(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: "object", `[]`: "array", `""`: "string", `-1`: "number", `0`: "number", `true`: "boolean", `false`: "boolean", `null`: "null", ``: "invalid", `x`: "invalid", ` 1`: "invalid",
	} {
		if got := jsonscan.KindOf([]byte(text)).String(); got != want {
			t.Errorf("KindOf(%q) = %s, want %s", text, got, want)
		}
	}
}

func TestTrimTakesOnlyJSONsWhiteSpace(t *testing.T) {
	for text, want := range map[string]string{" \t\r\n1 \n": "1", "": "", " ": "", "\f1": "\f1", "\u00a01": "\u00a01"} {
		if got := string(jsonscan.Trim([]byte(text))); got != want {
			t.Errorf("Trim(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestReadersStopWhenAsked(t *testing.T) {
	for range jsonscan.Members([]byte(`{"a":1,"b":2}`)) {
		break
	}
	for value := range jsonscan.Elements([]byte(`[1,2]`)) {
		if string(value) != "1" {
			t.Errorf("went on to %s", value)
		}
		break
	}
}

// FuzzAppendQuote holds the writer of strings to the library: the text is what
// the library reads back, with U+FFFD for what is no UTF-8.
func FuzzAppendQuote(f *testing.F) {
	for _, s := range []string{"", "plain", "\x00\x1f\"\\/\u2028", "é😀", "a\xffb\xc3", "\xed\xa0\x80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		checkQuote(t, s)
		checkQuote(t, strings.Repeat("x", 61)+strings.Repeat(s, 1+300/(len(s)+1)))
	})
}

func checkQuote(t *testing.T, s string) {
	text, ok := strings.CutPrefix(string(jsonscan.AppendQuote([]byte("before"), s)), "before")
	quoted := []byte(text)
	got, err := jsontext.AppendUnquote(nil, quoted)
	if want := string([]rune(s)); !ok || err != nil || string(got) != want {
		t.Fatalf("AppendQuote(%q) = %s, read back as %q, %v; want %q", s, quoted, got, err, want)
	}
	if back := jsonscan.Unquote(quoted); back != string(got) {
		t.Fatalf("Unquote(%s) = %q, the library: %q", quoted, back, got)
	}
}

func TestMembersStepsOverAStringThatIsKnown(t *testing.T) {
	obj := []byte(`{"a":{"b":["\"x\"",1]},"c":2}`)
	list := func(known jsonscan.Known, obj []byte) (all string) {
		for name, value := range known.Members(obj) {
			all += fmt.Sprintf("%s=%s ", name, value)
		}
		return all
	}
	at := bytes.IndexByte(obj, '[') + 1
	known := jsonscan.Known(obj[at : at+len(`"\"x\""`)])
	want := list(nil, obj)
	if got := list(known, obj); got != want {
		t.Errorf("the members are %s, want %s", got, want)
	}
	if got := list(known, bytes.Clone(obj)); got != want {
		t.Errorf("the members of another text are %s, want %s", got, want)
	}
	known[3] = '"' // nobody would look
	if got := list(known, obj); got != strings.Replace(want, "x", `"`, 1) {
		t.Errorf("the members are %s, though the string is known", got)
	}
	list(known, obj[:at+2]) // of half a text nothing is promised but an end
}
