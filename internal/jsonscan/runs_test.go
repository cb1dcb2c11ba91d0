package jsonscan_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

func TestNothingSpecialIsPassedOverInALongRun(t *testing.T) {
	for _, size := range []int{1, 7, 8, 9, 63, 64, 71, 72, 320, 327, 700} {
		for at := range size {
			for _, special := range []string{`"`, `\`, "\x00", "\x1f", "\x7f", " ", "é", "\u2028", "😀"} {
				s := strings.Repeat("~", at) + special + strings.Repeat(" ", size-at-1)
				got := jsonscan.AppendQuote(nil, s)
				want, err := jsontext.AppendQuote(nil, s)
				if err != nil || string(got) != string(want) {
					t.Fatalf("%q at %d of %d is written %s, %v", special, at, size, got, err)
				}
				if err := jsonscan.Check(got, 0); err != nil || jsonscan.Unquote(got) != s {
					t.Fatalf("%q at %d of %d: %v", special, at, size, err)
				}
			}
			for _, wrong := range []string{"\x00", "\x1f", "\xff", "\xc3"} {
				text := `"` + strings.Repeat("~", at) + wrong + strings.Repeat(" ", size-at-1) + `"`
				var e *jsonscan.SyntaxError
				if err := jsonscan.Check([]byte(text), 0); !errors.As(err, &e) || e.Offset != at+1 {
					t.Fatalf("%q at %d of %d: %v", wrong, at, size, err)
				}
				if _, valid := jsonscan.AppendValid(nil, text); valid != (wrong < "\x80") {
					t.Fatalf("%q at %d of %d is valid: %v", wrong, at, size, valid)
				}
			}
		}
	}
}

func TestWhatFollowsSomethingSpecialInALongTextIsSeen(t *testing.T) {
	for at := range 200 {
		for _, pair := range []string{`\n`, `\"`, `\\`, "é", "“", "名前は", "😀", `\u00e9`, `\ud83d\ude00`} {
			before := `"` + strings.Repeat("x", 64+at) + pair
			for _, good := range []string{"", "y", "\u2028", `\u00e9`, `\"`, "é", "😀"} {
				text := []byte(before + good + strings.Repeat("z", 150) + `"`)
				want, err := jsontext.AppendUnquote(nil, text)
				if err != nil || jsonscan.Check(text, 0) != nil || jsonscan.Unquote(text) != string(want) {
					t.Fatalf("%q at %d, then %q: %v, %v", pair, at, good, err, jsonscan.Check(text, 0))
				}
				quoted, _ := jsontext.AppendQuote(nil, want)
				if got := jsonscan.AppendQuote(nil, string(want)); string(got) != string(quoted) {
					t.Fatalf("%q at %d, then %q is written %s", pair, at, good, got)
				}
			}
			for _, wrong := range []string{`"`, `\x`, `\u12`, `\ud800`, "\x00", "\n", "\xff", "\xc3", "\xa9"} {
				text := []byte(before + wrong + strings.Repeat("z", 150) + `"`)
				if jsonscan.Check(text, 0) == nil {
					t.Fatalf("%q at %d, then %q is accepted", pair, at, wrong)
				}
			}
		}
	}
}

func TestTextThatGrowsMuchIsWrittenWhole(t *testing.T) {
	for _, s := range []string{strings.Repeat("\"", 5000), strings.Repeat("\x01", 5000), strings.Repeat("\xff", 5000), strings.Repeat("a\n\x02é", 2000)} {
		got := jsonscan.AppendQuote(nil, s)
		if want := string([]rune(s)); jsonscan.Check(got, 0) != nil || jsonscan.Unquote(got) != want {
			t.Errorf("%.20q… is written %.60s…", s, got)
		}
	}
}
