package jsonrpc_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/jsonrpc"
)

// FuzzParse holds Parse to the JSON library: text that is no strict JSON is a
// parse error and nothing else is; what is accepted has the members that the
// library finds; and it survives being written and read again.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"add","params":{"a":1}}`,
		`{"jsonrpc":"2.0","id":"\u0061","method":"a","params":null,"more":[{}]}`,
		`{"jsonrpc":"2.0","method":"note"}`,
		`{"jsonrpc":"2.0","id":123456789012345678901234567890,"result":{"a":[1,2.50,null,true]}}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"\ud83d\ude00","data":{"a": 1}}}`,
		`{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":""}}`,
		`{"jsonrpc":"2.0","id":1.5,"method":"a"}`,
		`{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}`,
		`{"jsonrpc":2,"id":-0,"method":"","params":[]}`,
		`[{"jsonrpc":"2.0"}]`, `"a"`, `{`, ` `, "{\"\xff\":1}", `{"error":{"code":1e2,"message":3}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := jsonrpc.Parse(text)
		var wrong *jsonrpc.Error
		if err != nil && !errors.As(err, &wrong) {
			t.Fatalf("Parse(%q): %v is no error to answer with", text, err)
		}
		if bad := wrong != nil && wrong.Code == jsonrpc.CodeParseError; bad == jsontext.Value(text).IsValid() && !deep(text) {
			t.Fatalf("Parse(%q): %v, but the library says that it is JSON: %v", text, err, !bad)
		}
		if err != nil {
			return
		}
		var members map[string]jsontext.Value
		if err := json.Unmarshal(text, &members); err != nil {
			t.Fatalf("Parse(%q) accepts what is no object: %v", text, err)
		}
		checkMembers(t, &m, members)
		checkRoundTrip(t, &m)
	})
}

// deep reports whether text may nest deeper than Parse allows.
func deep(text []byte) bool {
	brackets := 0
	for _, b := range text {
		if b == '[' || b == '{' {
			brackets++
		}
	}
	return brackets > jsonrpc.MaxDepth
}

// checkMembers compares an accepted message with what the library read.
func checkMembers(t *testing.T, m *jsonrpc.Message, members map[string]jsontext.Value) {
	var version, method string
	if json.Unmarshal(members["jsonrpc"], &version) != nil || version != "2.0" {
		t.Fatalf("accepted the version %s", members["jsonrpc"])
	}
	if id := members["id"]; m.ID.String() != string(id) && !(m.ID.IsZero() && string(id) == "null") {
		t.Fatalf("id %s became %s", id, m.ID)
	}
	if raw, ok := members["method"]; ok && (json.Unmarshal(raw, &method) != nil || method == "") || method != m.Method {
		t.Fatalf("method %s became %q", members["method"], m.Method)
	}
	if params := members["params"]; method != "" && string(params) != "null" && string(m.Params) != string(params) {
		t.Fatalf("params %s became %s", params, m.Params)
	}
	if string(m.Result) != string(members["result"]) {
		t.Fatalf("result %s became %s", members["result"], m.Result)
	}
	if _, ok := members["error"]; ok != (m.Error != nil) {
		t.Fatalf("error %s became %v", members["error"], m.Error)
	}
	parts := 0
	for _, is := range []bool{m.Method != "", m.Result != nil, m.Error != nil} {
		if is {
			parts++
		}
	}
	if parts != 1 {
		t.Fatalf("%d of method, result and error: %+v", parts, m)
	}
}

func checkRoundTrip(t *testing.T, m *jsonrpc.Message) {
	var text []byte
	var err error
	switch {
	case m.Error != nil:
		text = jsonrpc.AppendError(nil, m.ID, m.Error)
	case m.Result != nil:
		text, err = jsonrpc.AppendResult(nil, m.ID, m.Result)
	default:
		text, err = jsonrpc.AppendRequest(nil, m.ID, m.Method, m.Params)
	}
	if err != nil {
		t.Fatalf("append %+v: %v", m, err)
	}
	again, err := jsonrpc.Parse(text)
	if err != nil || !reflect.DeepEqual(*m, again) {
		t.Fatalf("%+v was written as %s and read as %+v, %v", m, text, again, err)
	}
}

// FuzzParseID checks that whatever is accepted as an id is exactly one JSON
// string or integer, and that its key is the same value.
func FuzzParseID(f *testing.F) {
	for _, text := range []string{`1`, `-0`, `01`, `1.0`, `"a"`, `"\u0061\ud83d\ude00"`, `"a" `, `null`, `"\ud800"`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		id, err := jsonrpc.ParseID(text)
		if err != nil {
			return
		}
		raw := jsontext.Value(id.String())
		if !raw.IsValid() || raw.Kind() != '"' && raw.Kind() != '0' {
			t.Fatalf("ParseID(%q) = %s", text, id)
		}
		key := jsontext.Value(id.Key().String())
		if err := errors.Join(raw.Canonicalize(), key.Canonicalize()); err != nil || string(raw) != string(key) {
			t.Fatalf("the key of %s is %s: %v", raw, key, err)
		}
		if id.Key().Key() != id.Key() {
			t.Fatalf("the key of %s is not its own key", id)
		}
	})
}
