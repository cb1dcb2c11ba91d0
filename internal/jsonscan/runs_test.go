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
