package jsonrpc_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/jsonrpc"
)

func TestParseKeepsIDsAsTheyWereWritten(t *testing.T) {
	for _, tc := range []struct{ name, id string }{
		{"a small integer", `7`},
		{"zero", `0`},
		{"zero with a sign", `-0`},
		{"the first integer that a float cannot hold", `9007199254740993`},
		{"the smallest 64-bit integer", `-9223372036854775808`},
		{"thirty digits", `123456789012345678901234567890`},
		{"the empty string", `""`},
		{"a string that looks like a number", `"0"`},
		{"a string with escapes", `"\u0041\n\"\\\/\ud83d\ude00"`},
		{"a string with raw text beyond ASCII", `"caf\u00e9 é"`},
		{"the longest string that is kept", `"` + strings.Repeat("x", 1022) + `"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, err := jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":` + tc.id + `,"method":"ping"}`))
			if err != nil {
				t.Fatal(err)
			}
			if got := m.ID.String(); got != tc.id {
				t.Errorf("id %s, want %s", got, tc.id)
			}
			answer, err := jsonrpc.AppendResult(nil, m.ID, struct{}{})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := string(answer), `{"jsonrpc":"2.0","id":`+tc.id+`,"result":{}}`; got != want {
				t.Errorf("answer %s, want %s", got, want)
			}
		})
	}
}

// refusedIDs are JSON values that are no ids.
var refusedIDs = []struct{ name, id string }{
	{"null", `null`},
	{"a fraction", `1.5`},
	{"an exponent", `1e2`},
	{"an integer written as a fraction", `1.0`},
	{"a boolean", `true`},
	{"an object", `{}`},
	{"an array", `[]`},
	{"a string of 1 MiB", `"` + strings.Repeat("x", 1<<20) + `"`},
	{"a number of 1 MiB", strings.Repeat("7", 1<<20)},
	{"a string one byte over the limit", `"` + strings.Repeat("x", 1023) + `"`},
}

func TestParseRefusesOtherIDsAndDoesNotEchoThem(t *testing.T) {
	for _, tc := range refusedIDs {
		t.Run(tc.name, func(t *testing.T) {
			m, err := jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":` + tc.id + `,"method":"ping"}`))
			e := wantCode(t, err, jsonrpc.CodeInvalidRequest)
			if !m.ID.IsZero() {
				t.Errorf("the message carries the id %.40s", m.ID)
			}
			if answer := string(jsonrpc.AppendError(nil, m.ID, e)); strings.Contains(answer, `"id"`) || len(answer) > 200 {
				t.Errorf("answer %.300s", answer)
			}
		})
	}
}

func TestParseRefusesIDsThatAreNoJSON(t *testing.T) {
	for _, id := range []string{`-`, `01`, `-01`, `+1`, `1_000`, `0x1`, `'a'`, `"a`, `"\ud800"`, "\"\xff\"", `undefined`} {
		m, err := jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`))
		wantCode(t, err, jsonrpc.CodeParseError)
		if !m.ID.IsZero() {
			t.Errorf("id %s: the message carries the id %s", id, m.ID)
		}
	}
}

func TestParseIDAcceptsOnlyStringsAndIntegers(t *testing.T) {
	for _, text := range []string{`1`, ` 1 `, `-1`, `"a"`, `""`} {
		if id, err := jsonrpc.ParseID([]byte(text)); err != nil || id.String() != strings.TrimSpace(text) {
			t.Errorf("ParseID(%s) = %s, %v", text, id, err)
		}
	}
	for _, text := range []string{``, ` `, `-`, `01`, `-01`, `--1`, `1-`, `1 2`, `1a`, `1.`, `1.0`, `1e2`, `"a`, `"a" "b"`, `"a"b`, `"\ud800"`, `null`, `true`, `{}`, `[]`} {
		id, err := jsonrpc.ParseID([]byte(text))
		wantCode(t, err, jsonrpc.CodeInvalidRequest)
		if !id.IsZero() {
			t.Errorf("ParseID(%s) returned the id %s", text, id)
		}
	}
}

func TestKeyIsEqualForEqualIDs(t *testing.T) {
	for _, tc := range []struct {
		name, a, b string
		equal      bool
	}{
		{"a letter and its escape", `"a"`, `"\u0061"`, true},
		{"a slash and its escape", `"a/b"`, `"a\/b"`, true},
		{"two escapes of a line break", `"\n"`, `"\u000A"`, true},
		{"raw text and its surrogate pair", `"😀"`, `"\ud83d\uDE00"`, true},
		{"zero with and without sign", `0`, `-0`, true},
		{"a number and a string", `1`, `"1"`, false},
		{"two strings", `"a"`, `"A"`, false},
		{"a backslash and nothing", `"\\"`, `""`, false},
		{"the string of a sign and zero", `"-0"`, `"0"`, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, b := mustID(t, tc.a).Key(), mustID(t, tc.b).Key()
			if (a == b) != tc.equal {
				t.Errorf("keys %s and %s: equal %v, want %v", a, b, a == b, tc.equal)
			}
		})
	}
}

func TestIDsAreMadeFromGoValues(t *testing.T) {
	if got := jsonrpc.IntID(-12).String(); got != `-12` {
		t.Errorf("IntID: %s", got)
	}
	if got := jsonrpc.StringID("a\"b\n").String(); got != `"a\"b\n"` {
		t.Errorf("StringID: %s", got)
	}
	if got := jsonrpc.StringID(""); got.IsZero() {
		t.Error("the id of the empty string counts as no id")
	}
	if !(jsonrpc.ID{}).IsZero() {
		t.Error("the zero ID counts as an id")
	}
}

func TestIDsTravelInsideOtherValues(t *testing.T) {
	type params struct {
		RequestID jsonrpc.ID `json:"requestId"`
	}
	const text = `{"requestId":9007199254740993}`
	var p params
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	if out, err := json.Marshal(p); err != nil || string(out) != text {
		t.Errorf("Marshal: %s, %v", out, err)
	}
	if out, err := json.Marshal(params{}); err != nil || string(out) != `{"requestId":null}` {
		t.Errorf("Marshal of no id: %s, %v", out, err)
	}
	for _, bad := range []string{`{"requestId":1.5}`, `{"requestId":null}`, `{"requestId":tru}`} {
		if err := json.Unmarshal([]byte(bad), &p); err == nil {
			t.Errorf("Unmarshal(%s) gave the id %s", bad, p.RequestID)
		}
	}
}

func mustID(t *testing.T, text string) jsonrpc.ID {
	t.Helper()
	id, err := jsonrpc.ParseID([]byte(text))
	if err != nil {
		t.Fatalf("ParseID(%s): %v", text, err)
	}
	return id
}

// wantCode fails the test unless err is an error to answer with that code.
func wantCode(t *testing.T, err error, code int) *jsonrpc.Error {
	t.Helper()
	var e *jsonrpc.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v (%T), want code %d", err, err, code)
	}
	if e.Code != code {
		t.Fatalf("error %v, want code %d", e, code)
	}
	return e
}
