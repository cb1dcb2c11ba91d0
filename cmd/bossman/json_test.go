package main_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/internal/need"
)

// R001: every file of JSONTestSuite, as a whole message and as a value inside
// params. Ten files hold a line break, which ends a message here; four of them
// are good, so that 89 of the 93 good ones that we take are seen.
func TestR001JSONTestSuite(t *testing.T) {
	folder := need.Shared(t, "suites", "json")
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	p := start(t)
	seen := make(map[string]int) // by verdict
	for _, file := range files {
		kind, _, _ := strings.Cut(file.Name(), "_")
		seen[kind]++
		text, err := os.ReadFile(filepath.Join(folder, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.ContainsAny(text, "\r\n") {
			seen["more than a line"]++
			continue
		}
		accepted := kind == "y" && !duplicates[file.Name()]
		if open, ok := openFiles[file.Name()]; ok {
			accepted = open
		} else if kind == "i" {
			t.Errorf("%s has no verdict of ours: add it to openFiles", file.Name())
		}
		if accepted {
			seen[kind+" accepted"]++
		}
		p.tryValue(file.Name(), string(text), accepted)
	}
	want := map[string]int{"y": 95, "n": 188, "i": 35, "more than a line": 10, "y accepted": 89, "i accepted": 11}
	if fmt.Sprint(seen) != fmt.Sprint(want) {
		t.Errorf("the suite has %v, want %v", seen, want)
	}
	p.end()
}

// duplicates are the two files that RFC 8259 lets pass and we do not, since two
// programs that take different ones of two equal members can be played off
// against each other.
var duplicates = map[string]bool{
	"y_object_duplicated_key.json":           true,
	"y_object_duplicated_key_and_value.json": true,
}

// openFiles are those that RFC 8259 leaves open, and whether we accept them. We
// keep numbers as they are written, whatever their size, and refuse all that is
// no Unicode text.
var openFiles = map[string]bool{
	"i_number_double_huge_neg_exp.json":                   true,
	"i_number_huge_exp.json":                              true,
	"i_number_neg_int_huge_exp.json":                      true,
	"i_number_pos_double_huge_exp.json":                   true,
	"i_number_real_neg_overflow.json":                     true,
	"i_number_real_pos_overflow.json":                     true,
	"i_number_real_underflow.json":                        true,
	"i_number_too_big_neg_int.json":                       true,
	"i_number_too_big_pos_int.json":                       true,
	"i_number_very_big_negative_int.json":                 true,
	"i_structure_500_nested_arrays.json":                  true,
	"i_object_key_lone_2nd_surrogate.json":                false,
	"i_string_1st_surrogate_but_2nd_missing.json":         false,
	"i_string_1st_valid_surrogate_2nd_invalid.json":       false,
	"i_string_UTF-16LE_with_BOM.json":                     false,
	"i_string_UTF-8_invalid_sequence.json":                false,
	"i_string_UTF8_surrogate_U+D800.json":                 false,
	"i_string_incomplete_surrogate_and_escape_valid.json": false,
	"i_string_incomplete_surrogate_pair.json":             false,
	"i_string_incomplete_surrogates_escape_valid.json":    false,
	"i_string_invalid_lonely_surrogate.json":              false,
	"i_string_invalid_surrogate.json":                     false,
	"i_string_invalid_utf-8.json":                         false,
	"i_string_inverted_surrogates_U+1D11E.json":           false,
	"i_string_iso_latin_1.json":                           false,
	"i_string_lone_second_surrogate.json":                 false,
	"i_string_lone_utf8_continuation_byte.json":           false,
	"i_string_not_in_unicode_range.json":                  false,
	"i_string_overlong_sequence_2_bytes.json":             false,
	"i_string_overlong_sequence_6_bytes.json":             false,
	"i_string_overlong_sequence_6_bytes_null.json":        false,
	"i_string_truncated-utf-8.json":                       false,
	"i_string_utf16BE_no_BOM.json":                        false,
	"i_string_utf16LE_no_BOM.json":                        false,
	"i_structure_UTF-8_BOM_empty_object.json":             false,
}

// R001 for clones that lack the suite: texts of our own for each rule of the
// grammar.
func TestR001OwnTexts(t *testing.T) {
	p := start(t)
	for _, good := range []string{
		`null`, `true`, `false`, `0`, `-0`, `7`, `-12`, `1.25`, `-0.5`, `3e8`, `3E+8`, `3e-08`, `0e0`, `1e999`,
		`123456789012345678901234567890`, `""`, `" "`, `"plain"`, `"\"\\\/\b\f\n\r\t"`, `"\u0041\u00e9\u20ac"`,
		`"\ud83d\ude00"`, `"\uD83D\uDE00"`, `"é€😀"`, "\"\u007f\"", "\"\u2028\u2029\"", `"\u0000"`, "\"\ufeff\"", "\"\uffff\"",
		`[]`, `[ ]`, `[null]`, `[1,[2,[3]]]`, "[\t1 ,\t2 ]", `{}`, `{ }`, `{"":0}`, `{"a":{"b":{"c":[]}}}`, `{"a":1,"A":2,"á":3}`,
		` {"spaced" : true } `, `{"\u0061":1,"b":2}`, nested(500, "[", "]"), nested(500, `{"a":`, "}"),
	} {
		p.tryValue(good, good, true)
	}
	for _, bad := range []string{
		`nul`, `NULL`, `True`, `nan`, `NaN`, `Infinity`, `-Infinity`, `undefined`, `00`, `01`, `-01`, `-`, `+1`, `.5`, `5.`, `-.5`,
		`1e`, `1e+`, `1.e3`, `1..2`, `0x1F`, `1_000`, `1,`, `１`, `"`, `"open`, `"\"`, `"\a"`, `"\x41"`, `"\u12"`, `"\u12G4"`, `"\U0041"`, `'single'`,
		`"\ud800"`, `"\udc00"`, `"\ud800\u0041"`, `"\ud800x"`, `"\udc00\ud800"`, `{"\ud800":1}`, "\"\t\"", "\"\x00\"", "\"\x1f\"",
		"\"\xff\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "\"\xe2\x82\"", "{\"\xff\":1}", "\ufeff1", "\x001", "1\x00",
		"\u00a01", "\f1", `[`, `]`, `[1`, `[1,`, `[1,]`, `[,1]`, `[1,,2]`, `[1 2]`, `[1}`, `[1]]`, `(1)`, `{`, `}`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`,
		`{,"a":1}`, `{"a" 1}`, `{"a",1}`, `{"a":1 "b":2}`, `{a:1}`, `{1:1}`, `{null:1}`, `{'a':1}`, `{"a":1]`, `{"a":1}}`, `{"a":1}{"b":2}`, `{"a"::1}`,
		`1 2`, `1,2`, `"a" "b"`, `[] []`, `{} 1`, `/**/1`, `1//`, `1#`, `<x/>`, `*`,
		`{"a":1,"a":1}`, `{"a":1,"b":2,"a":3}`, `{"a":1,"\u0061":2}`, `[{"x":{"a":1,"a":2}}]`, `{"":1,"":2}`,
		nested(1002, "[", "]"), nested(1001, `{"a":`, "}"), nested(100_000, "[", ""), nested(100_000, `[{"":`, ""),
	} {
		p.tryValue(bad, bad, false)
	}
	p.end()
}

// nested opens and closes brackets around a number so many times.
func nested(depth int, opening, closing string) string {
	return strings.Repeat(opening, depth) + "0" + strings.Repeat(closing, depth)
}

// tryValue sends text as a message, and as a value inside the params of a
// request, and checks the answers.
func (p *process) tryValue(name, text string, accepted bool) {
	p.t.Helper()
	want := parseError
	if accepted {
		want = invalidRequest // it is JSON, but no message
	}
	if strings.Trim(text, " \t") == "" { // a blank line is passed over
		p.send(text)
	} else if m := p.ask(text); m.code() != want || m.ID != nil && !strings.Contains(text, `"id"`) {
		p.t.Errorf("%s as a message: got %s, want error %d without an id", shorten(name), shorten(m.text), want)
	}
	p.alive()
	m := p.ask(`{"jsonrpc":"2.0","id":7,"method":"ping","params":{"value":` + text + `}}`)
	switch {
	case accepted && m.text != `{"jsonrpc":"2.0","id":7,"result":{}}`:
		p.t.Errorf("%s inside params: got %s, want a result", shorten(name), shorten(m.text))
	case !accepted && (m.code() != parseError || m.ID != nil):
		p.t.Errorf("%s inside params: got %s, want error %d without an id", shorten(name), shorten(m.text), parseError)
	}
	p.alive()
}
