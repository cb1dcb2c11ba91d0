package jsonscan_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

var samples = []string{
	`{}`, `[]`, `null`, `true`, `-0`, `1.5e+10`, `""`, ` {"a" : [1, {"b":null}] } `,
	`{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"a":{"x":1},"b":{"x":1}}`, `{"a":[{"x":1},{"x":2}]}`,
	`"\ud83d\ude00"`, `"\ud800"`, `"\udc00"`, `"\ud800\u0041"`, "\"\xff\"", "\"\xed\xa0\x80\"", "\"\xc0\xaf\"", "\"caf\u00e9\"",
	`01`, `1.`, `.5`, `-`, `1e`, `+1`, `NaN`, `tru`, `{"a"}`, `{"a":}`, `{,}`, `[1,]`, `[1 2]`, `{"a":1,}`, `"\x"`, `"\u12"`, "\"\t\"", `"abc`,
	`{} {}`, "\ufeff{}", ``, ` `, `{"a":1`, `[[[]]]`, `"` + strings.Repeat("long plain text ", 20) + `"`, `"` + strings.Repeat("x", 7) + "\x01" + `"`,
	`{"1":1,"2":1,"3":1,"4":1,"5":1,"6":1,"7":1,"8":1,"9":1,"10":1,"11":1,"12":1,"13":1,"14":1,"15":1}`,
	`{"1":1,"2":1,"3":1,"4":1,"5":1,"6":1,"7":1,"8":1,"9":1,"10":1,"11":1,"12":1,"13":1,"14":1,"3":1}`,
}

func TestCheckAgreesWithTheLibrary(t *testing.T) {
	for _, s := range samples {
		if got, want := jsonscan.Check([]byte(s), 1000) == nil, jsontext.Value(s).IsValid(); got != want {
			t.Errorf("Check(%q) accepts: %v, the library: %v (%v)", s, got, want, jsonscan.Check([]byte(s), 1000))
		}
	}
}

func TestCheckCapsNesting(t *testing.T) {
	for _, tc := range []struct {
		name  string
		text  string
		allow bool
	}{
		{"a hundred arrays", strings.Repeat("[", 100) + strings.Repeat("]", 100), true},
		{"the cap itself", strings.Repeat("[", 1000) + strings.Repeat("]", 1000), true},
		{"one more than the cap", strings.Repeat("[", 1001) + strings.Repeat("]", 1001), false},
		{"half a million objects", strings.Repeat(`{"a":`, 500_000), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := jsonscan.Check([]byte(tc.text), 1000); (err == nil) != tc.allow {
				t.Fatalf("Check: %v", err)
			}
		})
	}
}

func TestCheckSaysWhere(t *testing.T) {
	err := jsonscan.Check([]byte(`{"a":1,"a":2}`), 10)
	if got, want := err.Error(), "duplicate member name at byte 7"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestMembersAndElements(t *testing.T) {
	var got []string
	for name, value := range jsonscan.Members([]byte(` { "a" : 1 , "b\n\u00e9\ud83d\ude00":{"x":"}"}, "c":[ 1 , "]\"" ], "d":null } `)) {
		got = append(got, string(name)+"="+string(value))
	}
	want := "a=1|b\n\u00e9\U0001f600={\"x\":\"}\"}|c=[ 1 , \"]\\\"\" ]|d=null"
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("members\n got %q\nwant %q", s, want)
	}
	got = nil
	for value := range jsonscan.Elements([]byte(`[ 1 , [2,3] , "a,b" , {} ]`)) {
		got = append(got, string(value))
	}
	if s := strings.Join(got, "|"); s != `1|[2,3]|"a,b"|{}` {
		t.Errorf("elements: %q", s)
	}
	if v := jsonscan.Get([]byte(`{"a":1,"name":"x"}`), "name"); string(v) != `"x"` {
		t.Errorf("Get: %q", v)
	}
	if v := jsonscan.Get([]byte(`[1]`), "name"); v != nil {
		t.Errorf("Get on an array: %q", v)
	}
}

func TestQuoteAndUnquoteAreInverse(t *testing.T) {
	for _, s := range []string{"", "plain", "quote \" slash \\ tab \t nul \x00 del \x7f", "caf\u00e9 \U0001f600", "line\nbreak\r", "</script>"} {
		quoted := jsonscan.AppendQuote(nil, s)
		if err := jsonscan.Check(quoted, 1); err != nil {
			t.Errorf("AppendQuote(%q) = %s: %v", s, quoted, err)
		}
		if got := jsonscan.Unquote(quoted); got != s {
			t.Errorf("Unquote(AppendQuote(%q)) = %q", s, got)
		}
	}
	if got := string(jsonscan.AppendQuote(nil, "a\xffb")); got != "\"a\ufffdb\"" {
		t.Errorf("invalid UTF-8: %q", got)
	}
}

func TestReadersTrustButDoNotPanic(t *testing.T) {
	for _, s := range []string{`{"a`, `{"a"`, `{"a":`, `{"`, `{`, `[`, `["a`, `{"a":1`, `{"a\`, `[1,`, `{"a" 1}`, `{"\u`, `{"\ud800":1}`} {
		for name, value := range jsonscan.Members([]byte(s)) {
			_, _ = name, value
		}
		for range jsonscan.Elements([]byte(s)) {
			continue
		}
		jsonscan.Unquote([]byte(s))
	}
}

func BenchmarkCheck(b *testing.B) {
	for _, bc := range []struct{ name, text string }{
		{"call", `{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2000-01-01","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},"name":"add","arguments":{"a":2,"b":40}}}`},
		{"64KiB", `{"text":"` + strings.Repeat("all work and no play ", 3100) + `"}`},
	} {
		b.Run(bc.name, func(b *testing.B) {
			data := []byte(bc.text)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if err := jsonscan.Check(data, 1000); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMembers(b *testing.B) {
	data := []byte(`{"_meta":{"a":{"b":"c"}},"name":"add","arguments":{"a":2,"b":40}}`)
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for name, value := range jsonscan.Members(data) {
			n += len(name) + len(value)
		}
		if n == 0 {
			b.Fatal("nothing read")
		}
	}
}

func FuzzCheckAgreesWithTheLibrary(f *testing.F) {
	for _, s := range samples {
		f.Add([]byte(s))
	}
	files, _ := filepath.Glob("../../../shared/suites/json/*.json") // absent in a plain clone
	for _, name := range files {
		if data, err := os.ReadFile(name); err == nil && len(data) < 4096 {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		err := jsonscan.Check(data, 10000)
		if got, want := err == nil, jsontext.Value(data).IsValid(); got != want {
			t.Fatalf("Check(%q): %v, the library accepts: %v", data, err, want)
		}
		long := bytes.Repeat(data, 1+300/(len(data)+1))
		long = append(append([]byte(`"`+strings.Repeat("x", 61)), long...), '"')
		if e := jsonscan.Check(long, 0); (e == nil) != jsontext.Value(long).IsValid() {
			t.Fatalf("Check(%q): %v, the library accepts: %v", long, e, e != nil)
		}
		rebuilt := 0
		for _, value := range jsonscan.Members(data) {
			rebuilt += len(value)
			if err == nil && jsonscan.Check(value, 10000) != nil {
				t.Fatalf("member value %q of %q is no value", value, data)
			}
		}
		for value := range jsonscan.Elements(data) {
			if err == nil && jsonscan.Check(value, 10000) != nil {
				t.Fatalf("element %q of %q is no value", value, data)
			}
		}
		for _, text := range [][]byte{jsonscan.Trim(data), long} {
			if jsonscan.KindOf(text) != jsonscan.String || jsonscan.Check(text, 0) != nil {
				continue
			}
			want, err := jsontext.AppendUnquote(nil, text)
			if got := jsonscan.Unquote(text); err != nil || got != string(want) {
				t.Fatalf("Unquote(%q) = %q, the library: %q, %v", text, got, want, err)
			}
		}
	})
}
