package server_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

// even is a type with an opinion about its text.
type even string

func (e *even) UnmarshalText(text []byte) error {
	if len(text)%2 != 0 {
		return errors.New("must have an even number of letters")
	}
	*e = even(text)
	return nil
}

func TestIntegersMayBeWrittenWithAFractionOrAnExponent(t *testing.T) {
	type numbers struct {
		Int   int     `json:"int,omitzero"`
		Small int8    `json:"small,omitzero"`
		Big   uint64  `json:"big,omitzero"`
		Float float64 `json:"float,omitzero"`
		Text  string  `json:"text,omitzero"`
		Many  []int   `json:"many,omitzero"`
		Even  even    `json:"even,omitzero"`
	}
	s := server.New("test", "1", quiet())
	server.Tool(s, "numbers", "", func(_ context.Context, in numbers) (numbers, error) { return in, nil })
	for _, tc := range []struct{ arguments, want string }{
		{`{"int":5}`, `{"int":5}`},
		{`{"int":5.0}`, `{"int":5}`},
		{`{"int":-5.000}`, `{"int":-5}`},
		{`{"int":1e2}`, `{"int":100}`},
		{`{"int":1.5E1}`, `{"int":15}`},
		{`{"int":1500e-2}`, `{"int":15}`},
		{`{"int":-0.0}`, `{}`},
		{`{"int":0e999999999999}`, `{}`},
		{`{"big":1.8446744073709551615e19}`, `{"big":18446744073709551615}`},
		{`{"many":[1.0,2e0,3],"float":1.50,"text":"1.0"}`, `{"float":1.5,"text":"1.0","many":[1,2,3]}`},
		{`{"int":5.5}`, `failed: `},
		{`{"int":1e30}`, `failed: `},
		{`{"int":1e999999999999999999999}`, `failed: `},
		{`{"small":1e3}`, `failed: `},
		{`{"many":[1.0,12345678901234567890123]}`, `failed: `},
		{`{"even":"ab"}`, `{"even":"ab"}`},
		{`{"even":"abc"}`, `failed: invalid arguments for numbers: even: must have an even number of letters`},
	} {
		got := callText(t, s, `{"name":"numbers","arguments":`+tc.arguments+`}`)
		if tc.want == "failed: " {
			if !strings.HasPrefix(got, "failed: invalid arguments for numbers: ") {
				t.Errorf("%s: got %s, want a refusal", tc.arguments, got)
			}
			for _, inside := range []string{"Go ", "json", "int64", "int8", "marshal"} {
				if strings.Contains(got, inside) {
					t.Errorf("%s: the refusal speaks of %s: %s", tc.arguments, inside, got)
				}
			}
			t.Log(got)
		} else if got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.arguments, got, tc.want)
		}
	}
}

func TestArgumentsAreThoseOfTheParamsWhateverLongStringIsKnown(t *testing.T) {
	s := server.New("test", "1", quiet())
	server.Tool(s, "join", "", func(_ context.Context, in struct {
		A string   `json:"a"`
		B []string `json:"b"`
	}) (string, error) {
		return in.A + "|" + strings.Join(in.B, "|"), nil
	})
	const first, second = `"one \" two"`, `"three"`
	params := jsontext.Value(`{"arguments":{"a":` + first + `,"b":[` + second + `]},"name":"join"}`)
	part := func(text string) jsontext.Value {
		at := strings.Index(string(params), text)
		return params[at : at+len(text)]
	}
	for name, long := range map[string]jsontext.Value{
		"none": nil, "the first": part(first), "the last": part(second), "a name": part(`"arguments"`), "of another text": jsontext.Value(first),
	} {
		t.Run(name, func(t *testing.T) {
			result, err := s.Handle(t.Context(), &mcp.Call{Method: mcp.MethodCallTool, Params: params, Long: long})
			if err != nil {
				t.Fatal(err)
			}
			if got := result.(*mcp.CallToolResult).Content[0].(*mcp.TextContent).Text; got != `one " two|three` {
				t.Errorf("the tool got %s", got)
			}
		})
	}
}
