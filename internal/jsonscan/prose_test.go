package jsonscan_test

import (
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// prose is 64 KiB of text with what text has: quotes, line breaks, letters beyond
// ASCII.
var prose = strings.Repeat("7: All work and no play makes \"Jack\" a dull boy, said the café's owner.\n", 900)

// proses are texts of other kinds, about as long.
var proses = []struct{ name, text string }{
	{"quotes", prose},
	{"curly quotes", strings.Repeat("“All work,” he said — and no play — makes Jack’s life dull.\n", 1050)},
	{"code", strings.Repeat("\tif err := f(\"x\"); err != nil {\n\t\treturn fmt.Errorf(\"do it: %w\", err)\n\t}\n", 850)},
	{"Russian", strings.Repeat("Все счастливые семьи похожи друг на друга, каждая\n", 720)},
	{"Japanese", strings.Repeat("吾輩は猫である。名前はまだ無い。\nどこで生れたかとんと見当がつかぬ。", 650)},
	{"plain", strings.Repeat("all work and no play ", 3100)},
}

func BenchmarkProse(b *testing.B) {
	for _, p := range proses {
		b.Run(p.name, func(b *testing.B) { benchmarkProse(b, p.text) })
	}
}

func benchmarkProse(b *testing.B, prose string) {
	quoted := jsonscan.AppendQuote(nil, prose)
	b.Run("check", func(b *testing.B) {
		b.SetBytes(int64(len(quoted)))
		for b.Loop() {
			if err := jsonscan.Check(quoted, 1); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("unquote", func(b *testing.B) {
		b.SetBytes(int64(len(quoted)))
		b.ReportAllocs()
		for b.Loop() {
			if len(jsonscan.Unquote(quoted)) != len(prose) {
				b.Fatal("something was lost")
			}
		}
	})
	b.Run("quote", func(b *testing.B) {
		b.SetBytes(int64(len(quoted)))
		var room []byte
		for b.Loop() {
			room = jsonscan.AppendQuote(room[:0], prose)
		}
	})
	b.Run("members", func(b *testing.B) {
		object := []byte(`{"text":` + string(quoted) + `}`)
		b.SetBytes(int64(len(quoted)))
		for b.Loop() {
			if jsonscan.Get(object, "text") == nil {
				b.Fatal("not found")
			}
		}
	})
}
