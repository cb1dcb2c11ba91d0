package jsonrpc_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/jsonrpc"
)

func TestParseTellsTheKindsOfMessagesApart(t *testing.T) {
	id := jsonrpc.IntID(1)
	for _, tc := range []struct {
		name, text string
		want       jsonrpc.Message
		kind       string
	}{
		{"a request", `{"jsonrpc":"2.0","id":1,"method":"add","params":{"a":1}}`,
			jsonrpc.Message{ID: id, Method: "add", Params: jsontext.Value(`{"a":1}`)}, "request"},
		{"a request in another order, with white space", " { \"params\" : {\"a\": 1} ,\r\n\t\"method\" : \"add\" , \"id\" : 1 , \"jsonrpc\" : \"2.0\" } ",
			jsonrpc.Message{ID: id, Method: "add", Params: jsontext.Value(`{"a": 1}`)}, "request"},
		{"a request without params", `{"jsonrpc":"2.0","id":1,"method":"add"}`,
			jsonrpc.Message{ID: id, Method: "add"}, "request"},
		{"a request whose params are null", `{"jsonrpc":"2.0","id":1,"method":"add","params":null}`,
			jsonrpc.Message{ID: id, Method: "add"}, "request"},
		{"a request with escapes in names and method", `{"\u006asonrpc":"2\u002e0","i\u0064":1,"metho\u0064":"a\u0064d"}`,
			jsonrpc.Message{ID: id, Method: "add"}, "request"},
		{"a request with members of others", `{"jsonrpc":"2.0","id":1,"method":"add","trace":{"id":2,"method":"sub"}}`,
			jsonrpc.Message{ID: id, Method: "add"}, "request"},
		{"a notification", `{"jsonrpc":"2.0","method":"note","params":{}}`,
			jsonrpc.Message{Method: "note", Params: jsontext.Value(`{}`)}, "notification"},
		{"a result", `{"jsonrpc":"2.0","id":1,"result":{"sum":[1, 2]}}`,
			jsonrpc.Message{ID: id, Result: jsontext.Value(`{"sum":[1, 2]}`)}, "response"},
		{"a result of null", `{"jsonrpc":"2.0","id":1,"result":null}`,
			jsonrpc.Message{ID: id, Result: jsontext.Value(`null`)}, "response"},
		{"an error", `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no \u0061dd","data":{"a": 1}}}`,
			jsonrpc.Message{ID: id, Error: &jsonrpc.Error{Code: -32601, Message: "no add", Data: jsontext.Value(`{"a": 1}`)}}, "response"},
		{"an error without data", `{"jsonrpc":"2.0","id":1,"error":{"message":"","code":0,"more":1}}`,
			jsonrpc.Message{ID: id, Error: &jsonrpc.Error{}}, "response"},
		{"an error with the id null", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"bad"}}`,
			jsonrpc.Message{Error: &jsonrpc.Error{Code: -32700, Message: "bad"}}, "response"},
		{"an error without id", `{"jsonrpc":"2.0","error":{"code":-32700,"message":"bad"}}`,
			jsonrpc.Message{Error: &jsonrpc.Error{Code: -32700, Message: "bad"}}, "response"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, err := jsonrpc.Parse([]byte(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(m, tc.want) {
				t.Errorf("got %+v, want %+v", m, tc.want)
			}
			kinds := map[string]bool{"request": m.IsRequest(), "notification": m.IsNotification(), "response": m.IsResponse()}
			for kind, is := range kinds {
				if is != (kind == tc.kind) {
					t.Errorf("is a %s: %v", kind, is)
				}
			}
		})
	}
}

func TestParseRefusesMalformedMessages(t *testing.T) {
	const invalid, params = jsonrpc.CodeInvalidRequest, jsonrpc.CodeInvalidParams
	for _, tc := range []struct {
		name, text string
		code       int
		id         string // that the answer carries
		message    string
	}{
		{"no version", `{"id":1,"method":"a"}`, invalid, "1", `Invalid Request: jsonrpc must be "2.0"`},
		{"an old version", `{"jsonrpc":"1.0","id":1,"method":"a"}`, invalid, "1", `Invalid Request: jsonrpc must be "2.0"`},
		{"a version that is a number", `{"jsonrpc":2,"id":1,"method":"a"}`, invalid, "1", `Invalid Request: jsonrpc must be "2.0"`},
		{"a version that is 2.0, not a string", `{"jsonrpc":2.0,"id":1,"method":"a"}`, invalid, "1", `Invalid Request: jsonrpc must be "2.0"`},
		{"a version of null", `{"jsonrpc":null,"id":1,"method":"a"}`, invalid, "1", `Invalid Request: jsonrpc must be "2.0"`},
		{"a method that is a number", `{"jsonrpc":"2.0","id":"a","method":5}`, invalid, `"a"`, "Invalid Request: method must be a string"},
		{"a method of null", `{"jsonrpc":"2.0","id":1,"method":null}`, invalid, "1", "Invalid Request: method must be a string"},
		{"no method", `{"jsonrpc":"2.0","id":1}`, invalid, "1", "Invalid Request: method must be a string"},
		{"an empty object", `{}`, invalid, "", `Invalid Request: jsonrpc must be "2.0"`},
		{"an empty method", `{"jsonrpc":"2.0","id":1,"method":""}`, invalid, "1", "Invalid Request: method must not be empty"},
		{"params that are a string", `{"jsonrpc":"2.0","id":1,"method":"a","params":"x"}`, params, "1", "params must be an object"},
		{"params that are a number", `{"jsonrpc":"2.0","id":1,"method":"a","params":1}`, params, "1", "params must be an object"},
		{"params that are a boolean", `{"jsonrpc":"2.0","id":1,"method":"a","params":false}`, params, "1", "params must be an object"},
		{"params that are an array", `{"jsonrpc":"2.0","id":1,"method":"a","params":[1]}`, params, "1", "params must be an object"},
		{"a method and a result", `{"jsonrpc":"2.0","id":1,"method":"a","result":{}}`, invalid, "1", ""},
		{"a method and an error", `{"jsonrpc":"2.0","id":1,"method":"a","error":{"code":1,"message":""}}`, invalid, "1", ""},
		{"a string", `"hello"`, invalid, "", "Invalid Request: a message must be an object"},
		{"a number", `12`, invalid, "", "Invalid Request: a message must be an object"},
		{"null", `null`, invalid, "", "Invalid Request: a message must be an object"},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"a"}]`, invalid, "", "Invalid Request: a message must be an object"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, err := jsonrpc.Parse([]byte(tc.text))
			e := wantCode(t, err, tc.code)
			if m.ID.String() != tc.id {
				t.Errorf("the message carries the id %q, want %q", m.ID, tc.id)
			}
			if tc.message != "" && e.Message != tc.message {
				t.Errorf("message %q, want %q", e.Message, tc.message)
			}
			if m.Result != nil || m.Error != nil {
				t.Errorf("taken for a response: %+v", m)
			}
		})
	}
}

func TestParseMarksMalformedResponsesSoThatNobodyAnswersThem(t *testing.T) {
	for _, tc := range []struct{ name, text, id string }{
		{"both result and error", `{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}`, "1"},
		{"a result and an error of null", `{"jsonrpc":"2.0","id":1,"result":{},"error":null}`, "1"},
		{"a result without id", `{"jsonrpc":"2.0","result":{}}`, ""},
		{"a result with the id null", `{"jsonrpc":"2.0","id":null,"result":{}}`, ""},
		{"a result with a fraction for an id", `{"jsonrpc":"2.0","id":1.5,"result":{}}`, ""},
		{"a result of an old version", `{"jsonrpc":"1.0","id":1,"result":{}}`, "1"},
		{"an error that is null", `{"jsonrpc":"2.0","id":1,"error":null}`, "1"},
		{"an error that is a string", `{"jsonrpc":"2.0","id":1,"error":"no"}`, "1"},
		{"an error without code", `{"jsonrpc":"2.0","id":1,"error":{"message":"no"}}`, "1"},
		{"an error without message", `{"jsonrpc":"2.0","id":1,"error":{"code":1}}`, "1"},
		{"an error code that is a fraction", `{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"no"}}`, "1"},
		{"an error code that is a string", `{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":"no"}}`, "1"},
		{"an error code beyond 64 bits", `{"jsonrpc":"2.0","id":1,"error":{"code":99999999999999999999,"message":"no"}}`, "1"},
		{"an error message that is a number", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":1}}`, "1"},
		{"an error code in capitals", `{"jsonrpc":"2.0","id":1,"error":{"Code":1,"message":"no"}}`, "1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, err := jsonrpc.Parse([]byte(tc.text))
			wantCode(t, err, jsonrpc.CodeInvalidRequest)
			if m.ID.String() != tc.id {
				t.Errorf("the message carries the id %q, want %q", m.ID, tc.id)
			}
			if m.Result == nil && m.Error == nil {
				t.Error("not marked as a response")
			}
		})
	}
}

func TestParseRefusesDuplicateMembersR002(t *testing.T) {
	values := map[string][2]string{
		"jsonrpc": {`"2.0"`, `"1.0"`},
		"id":      {`1`, `2`},
		"method":  {`"a"`, `"b"`},
		"params":  {`{"x":1}`, `{"x":2}`},
		"result":  {`{"x":1}`, `{"x":2}`},
		"error":   {`{"code":1,"message":"a"}`, `{"code":2,"message":"b"}`},
	}
	rest := map[string]string{"jsonrpc": `"2.0"`, "id": `1`, "method": `"a"`}
	for name, pair := range values {
		for _, twin := range []string{name, escapeLast(name)} {
			for _, order := range [][2]string{{pair[0], pair[1]}, {pair[1], pair[0]}, {pair[0], pair[0]}} {
				text := fmt.Sprintf(`{%q:%s`, name, order[0])
				for other, value := range rest {
					if other != name && !(other == "method" && (name == "result" || name == "error")) {
						text += fmt.Sprintf(`,%q:%s`, other, value)
					}
				}
				text += fmt.Sprintf(`,"%s":%s}`, twin, order[1])
				m, err := jsonrpc.Parse([]byte(text))
				wantCode(t, err, jsonrpc.CodeParseError)
				if !reflect.DeepEqual(m, jsonrpc.Message{}) {
					t.Errorf("Parse(%s) left %+v", text, m)
				}
			}
		}
	}
	for _, params := range []string{`{"a":1,"a":2}`, `{"arguments":{"a":1,"b":{"c":1,"\u0063":2}}}`} {
		_, err := jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"a","params":` + params + `}`))
		wantCode(t, err, jsonrpc.CodeParseError)
	}
}

// escapeLast writes the last letter of a name as an escape.
func escapeLast(name string) string {
	last := len(name) - 1
	return fmt.Sprintf(`%s\u%04x`, name[:last], name[last])
}

func TestParseNeverFoldsMemberNamesR003(t *testing.T) {
	for _, tc := range []struct{ name, shadow, real string }{
		{"method with a capital", `"Method":"evil"`, `"method":"good"`},
		{"method in capitals", `"METHOD":"evil"`, `"method":"good"`},
		{"id in capitals", `"ID":66`, `"id":1`},
		{"id with a Turkish dotless i", `"ıd":66`, `"id":1`},
		{"params with a capital", `"Params":{"evil":1}`, `"params":{"good":1}`},
		{"params with a long s", `"paramſ":{"evil":1}`, `"params":{"good":1}`},
		{"jsonrpc with a long s", `"jſonrpc":"2.0"`, `"jsonrpc":"2.0"`},
		{"a Kelvin sign", "\"\u212a\":1", `"k":1`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			base := map[string]string{"jsonrpc": `"jsonrpc":"2.0"`, "id": `"id":1`, "method": `"method":"good"`, "params": `"params":{"good":1}`}
			for _, text := range []string{
				`{` + tc.shadow + `,` + strings.Join(without(base, ""), ",") + `}`,
				`{` + strings.Join(without(base, ""), ",") + `,` + tc.shadow + `}`,
			} {
				m, err := jsonrpc.Parse([]byte(text))
				if err != nil {
					t.Fatal(err)
				}
				want := jsonrpc.Message{ID: jsonrpc.IntID(1), Method: "good", Params: jsontext.Value(`{"good":1}`)}
				if !reflect.DeepEqual(m, want) {
					t.Errorf("Parse(%s) = %+v", text, m)
				}
			}
			alone := `{` + tc.shadow + `,` + strings.Join(without(base, tc.real), ",") + `}`
			if m, _ := jsonrpc.Parse([]byte(alone)); m.Method == "evil" || m.ID.String() == "66" || strings.Contains(string(m.Params), "evil") {
				t.Errorf("Parse(%s) took the shadow: %+v", alone, m)
			}
		})
	}
	_, err := jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":1,"Method":"evil"}`))
	wantCode(t, err, jsonrpc.CodeInvalidRequest)
	_, err = jsonrpc.Parse([]byte(`{"jſonrpc":"2.0","id":1,"method":"a"}`))
	wantCode(t, err, jsonrpc.CodeInvalidRequest)
}

// without returns the members but the one that is given.
func without(members map[string]string, member string) (rest []string) {
	for _, m := range members {
		if m != member {
			rest = append(rest, m)
		}
	}
	return rest
}

func TestParseRefusesTextThatIsNotUnicodeR005(t *testing.T) {
	for _, tc := range []struct{ name, text string }{
		{"a byte that UTF-8 never has", "\xff"},
		{"an overlong slash", "\xc0\xaf"},
		{"a raw surrogate", "\xed\xa0\x80"},
		{"a sequence that is cut", "\xe2\x82"},
		{"Latin-1", "caf\xe9"},
		{"a high surrogate alone", `\ud800`},
		{"a low surrogate alone", `\udc00`},
		{"two high surrogates", `\ud800\ud800`},
		{"surrogates in the wrong order", `\udc00\ud800`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, text := range []string{
				`{"jsonrpc":"2.0","id":1,"method":"a` + tc.text + `"}`,
				`{"jsonrpc":"2.0","id":"` + tc.text + `","method":"a"}`,
				`{"jsonrpc":"2.0","id":1,"method":"a","params":{"text":"` + tc.text + `"}}`,
				`{"jsonrpc":"2.0","id":1,"method":"a","params":{"` + tc.text + `":1}}`,
				`{"jsonrpc":"2.0","id":1,"method":"a","` + tc.text + `":1}`,
			} {
				_, err := jsonrpc.Parse([]byte(text))
				wantCode(t, err, jsonrpc.CodeParseError)
			}
		})
	}
	for _, text := range []string{"\xff\xfe{\x00}\x00", "\xfe\xff\x00{\x00}", "{\x00}\x00", "\ufeff{}"} {
		_, err := jsonrpc.Parse([]byte(text))
		wantCode(t, err, jsonrpc.CodeParseError)
	}
}

// soon is much longer than the work takes, so that a busy machine fails no test,
// and much shorter than it would take if it grew with the square of its input.
const soon = 10 * time.Second

func TestParseCapsNestingR011(t *testing.T) {
	nest := func(open, middle, closing string, n int) string {
		return strings.Repeat(open, n) + middle + strings.Repeat(closing, n)
	}
	for _, tc := range []struct {
		depth int // of the whole message
		allow bool
	}{{100, true}, {1000, true}, {1001, false}, {100_000, false}, {500_000, false}} {
		t.Run(fmt.Sprintf("%d deep", tc.depth), func(t *testing.T) {
			start := time.Now()
			for _, params := range []string{
				`{"a":` + nest(`[`, ``, `]`, tc.depth-2) + `}`,
				nest(`{"a":`, `1`, `}`, tc.depth-1),
				nest(`{"a":`, ``, ``, tc.depth), // never closed
			} {
				m, err := jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"a","params":` + params + `}`))
				if tc.allow && strings.HasSuffix(params, "}") {
					if err != nil || len(m.Params) != len(params) {
						t.Fatalf("refused: %v", err)
					}
					continue
				}
				wantCode(t, err, jsonrpc.CodeParseError)
			}
			if took := time.Since(start); took > soon {
				t.Errorf("took %v", took)
			}
		})
	}
}

func TestAppendingToPartsOfAMessageDoesNotReachItsText(t *testing.T) {
	text := []byte(`{"jsonrpc":"2.0","id":1,"method":"a","params":{"a":1},"x":"rest"}`)
	m, err := jsonrpc.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	before := string(text)
	_ = append(m.Params, "overwritten"...)
	if string(text) != before {
		t.Errorf("the text became %s", text)
	}
}

func TestParseBatchSplits(t *testing.T) {
	got, err := jsonrpc.ParseBatch([]byte(` [ {"a":"],["} , 1 ,[2] ] `), 3)
	if err != nil {
		t.Fatal(err)
	}
	if want := []jsontext.Value{jsontext.Value(`{"a":"],["}`), jsontext.Value(`1`), jsontext.Value(`[2]`)}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %s", got)
	}
}

func TestParseBatchAllowsMessagesOfFullDepth(t *testing.T) {
	message := strings.Repeat(`{"a":`, jsonrpc.MaxDepth) + `1` + strings.Repeat(`}`, jsonrpc.MaxDepth)
	if _, err := jsonrpc.ParseBatch([]byte(`[`+message+`]`), 1); err != nil {
		t.Error(err)
	}
}

func TestParseBatchRefuses(t *testing.T) {
	const invalid, syntax = jsonrpc.CodeInvalidRequest, jsonrpc.CodeParseError
	for _, tc := range []struct {
		name, text string
		most, code int
	}{
		{"an empty batch", `[]`, 10, invalid},
		{"an empty batch with white space", ` [ ] `, 10, invalid},
		{"one message too many", `[1,2,3]`, 2, invalid},
		{"fifty thousand pings", `[` + strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"ping"},`, 49_999) + `1]`, 100, invalid},
		{"any message when none is allowed", `[1]`, 0, invalid},
		{"what is no array", `{"jsonrpc":"2.0","id":1,"method":"a"}`, 10, invalid},
		{"a batch that is not closed", `[1,2`, 10, syntax},
		{"a comma too many", `[1,]`, 10, syntax},
		{"duplicate members in one message", `[{"a":1,"a":2}]`, 10, syntax},
		{"a hundred thousand arrays", strings.Repeat(`[`, 100_000), 10, syntax},
		{"nothing", ``, 10, syntax},
	} {
		t.Run(tc.name, func(t *testing.T) {
			start := time.Now()
			all, err := jsonrpc.ParseBatch([]byte(tc.text), tc.most)
			wantCode(t, err, tc.code)
			if all != nil {
				t.Errorf("returned %d messages", len(all))
			}
			if took := time.Since(start); took > soon {
				t.Errorf("took %v", took)
			}
		})
	}
}

func TestIsBatchLooksAtTheFirstByte(t *testing.T) {
	for text, want := range map[string]bool{`[]`: true, " \t\r\n[1": true, `{}`: false, ``: false, `x[`: false, `"["`: false} {
		if got := jsonrpc.IsBatch([]byte(text)); got != want {
			t.Errorf("IsBatch(%q) = %v", text, got)
		}
	}
}
