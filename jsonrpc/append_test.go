package jsonrpc_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/jsonrpc"
)

// point appends itself, or fails half-way.
type point struct {
	x   string
	err error
}

func (p point) AppendJSON(dst []byte) ([]byte, error) {
	return append(dst, `{"x":`+p.x+`}`...), p.err
}

func TestAppendRequest(t *testing.T) {
	type params struct {
		A int `json:"a"`
	}
	for _, tc := range []struct {
		name   string
		id     jsonrpc.ID
		method string
		params any
		want   string
	}{
		{"a request", jsonrpc.IntID(1), "add", params{2}, `{"jsonrpc":"2.0","id":1,"method":"add","params":{"a":2}}`},
		{"a notification", jsonrpc.ID{}, "note", params{2}, `{"jsonrpc":"2.0","method":"note","params":{"a":2}}`},
		{"nil params", jsonrpc.IntID(1), "add", nil, `{"jsonrpc":"2.0","id":1,"method":"add"}`},
		{"raw params that are nil", jsonrpc.IntID(1), "add", jsontext.Value(nil), `{"jsonrpc":"2.0","id":1,"method":"add"}`},
		{"raw params", jsonrpc.IntID(1), "add", jsontext.Value(`{"n": 1.00}`), `{"jsonrpc":"2.0","id":1,"method":"add","params":{"n": 1.00}}`},
		{"params that append themselves", jsonrpc.IntID(1), "add", point{x: "1"}, `{"jsonrpc":"2.0","id":1,"method":"add","params":{"x":1}}`},
		{"a method that needs escapes", jsonrpc.StringID("é"), "a\"b\n", nil, `{"jsonrpc":"2.0","id":"é","method":"a\"b\n"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := jsonrpc.AppendRequest([]byte("before "), tc.id, tc.method, tc.params)
			if err != nil || string(got) != "before "+tc.want {
				t.Fatalf("got %s, %v; want %s", got, err, tc.want)
			}
			m, err := jsonrpc.Parse([]byte(tc.want))
			if err != nil || m.ID != tc.id || m.Method != tc.method {
				t.Errorf("Parse: %+v, %v", m, err)
			}
		})
	}
}

func TestAppendResult(t *testing.T) {
	for _, tc := range []struct {
		name   string
		result any
		want   string
	}{
		{"nil", nil, `null`},
		{"raw JSON that is nil", jsontext.Value(nil), `null`},
		{"raw JSON, digit for digit", jsontext.Value(`{"n":10000000000000000000000.10}`), `{"n":10000000000000000000000.10}`},
		{"a struct", struct{}{}, `{}`},
		{"a map", map[string]int{"a": 1}, `{"a":1}`},
		{"a value that appends itself", point{x: "1"}, `{"x":1}`},
		{"text that HTML would escape", "<&>", `"<&>"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			id := jsonrpc.StringID("a\tb")
			got, err := jsonrpc.AppendResult(nil, id, tc.result)
			if err != nil {
				t.Fatal(err)
			}
			if want := `{"jsonrpc":"2.0","id":"a\tb","result":` + tc.want + `}`; string(got) != want {
				t.Fatalf("got %s, want %s", got, want)
			}
			m, err := jsonrpc.Parse(got)
			if err != nil || m.ID != id || string(m.Result) != tc.want || m.Error != nil {
				t.Errorf("Parse: %+v, %v", m, err)
			}
		})
	}
}

func TestAppendError(t *testing.T) {
	for _, tc := range []struct {
		name string
		id   jsonrpc.ID
		err  *jsonrpc.Error
		want string
	}{
		{"with id and data", jsonrpc.IntID(7), &jsonrpc.Error{Code: -32602, Message: "bad", Data: jsontext.Value(`{"a":1}`)},
			`{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"bad","data":{"a":1}}}`},
		{"without id, because it could not be read", jsonrpc.ID{}, &jsonrpc.Error{Code: -32700, Message: "bad"},
			`{"jsonrpc":"2.0","error":{"code":-32700,"message":"bad"}}`},
		{"data of null", jsonrpc.IntID(7), &jsonrpc.Error{Data: jsontext.Value(`null`)},
			`{"jsonrpc":"2.0","id":7,"error":{"code":0,"message":"","data":null}}`},
		{"a message that is no UTF-8", jsonrpc.IntID(7), &jsonrpc.Error{Message: "a\xffb\x00"},
			`{"jsonrpc":"2.0","id":7,"error":{"code":0,"message":"a` + "\ufffd" + `b\u0000"}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := jsonrpc.AppendError([]byte("before "), tc.id, tc.err)
			if string(got) != "before "+tc.want {
				t.Fatalf("got %s, want %s", got, tc.want)
			}
			m, err := jsonrpc.Parse([]byte(tc.want))
			if err != nil || m.ID != tc.id {
				t.Fatalf("Parse: %+v, %v", m, err)
			}
			want := *tc.err
			want.Message = strings.ToValidUTF8(want.Message, "\ufffd")
			if !reflect.DeepEqual(*m.Error, want) {
				t.Errorf("Parse: %+v, want %+v", m.Error, want)
			}
		})
	}
}

func TestAppendErrorLeavesOutDataThatIsNoJSON(t *testing.T) {
	deep := strings.Repeat("[", jsonrpc.MaxDepth) + strings.Repeat("]", jsonrpc.MaxDepth)
	for _, data := range []string{`{`, `}},{`, `{"a":1,"a":2}`, "\"\xff\"", deep} {
		got := jsonrpc.AppendError(nil, jsonrpc.IntID(1), &jsonrpc.Error{Code: 1, Data: jsontext.Value(data)})
		if m, err := jsonrpc.Parse(got); err != nil || m.Error.Data != nil {
			t.Errorf("data %.20q: %+v, %v", data, m, err)
		}
	}
}

func TestAppendReportsValuesThatAreNoJSON(t *testing.T) {
	broken := errors.New("broken")
	for _, tc := range []struct {
		name  string
		value any
	}{
		{"a channel", make(chan int)},
		{"a function", func() {}},
		{"a number that JSON lacks", math.NaN()},
		{"text that is no UTF-8", "a\xff"},
		{"raw JSON inside a struct", struct{ Raw jsontext.Value }{jsontext.Value(`{`)}},
		{"a value whose own method fails", point{x: "1", err: broken}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if out, err := jsonrpc.AppendResult(nil, jsonrpc.IntID(1), tc.value); err == nil {
				t.Errorf("AppendResult wrote %s", out)
			}
			if out, err := jsonrpc.AppendRequest(nil, jsonrpc.IntID(1), "a", tc.value); err == nil {
				t.Errorf("AppendRequest wrote %s", out)
			}
			before := []byte("before")
			if out, err := jsonrpc.AppendValue(before, tc.value); err == nil || !strings.HasPrefix(string(out), "before") {
				t.Errorf("AppendValue: %s, %v", out, err)
			}
		})
	}
	if _, err := jsonrpc.AppendValue(nil, point{err: broken}); !errors.Is(err, broken) {
		t.Errorf("AppendValue: %v, want the method's own error", err)
	}
}

func TestErrorsSayWhatTheirCodeMeans(t *testing.T) {
	for _, tc := range []struct {
		err  *jsonrpc.Error
		want string
	}{
		{jsonrpc.ParseError(errors.New("unexpected end at byte 3")), "Parse error: unexpected end at byte 3 (-32700)"},
		{jsonrpc.InvalidRequest("method must be %s", "a string"), "Invalid Request: method must be a string (-32600)"},
		{jsonrpc.MethodNotFound("50%d"), "Method not found: 50%d (-32601)"},
		{jsonrpc.InvalidParams("a must be %d", 1), "a must be 1 (-32602)"},
		{jsonrpc.InternalError("100%"), "Internal error: 100% (-32603)"},
	} {
		if got := tc.err.Error(); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}
