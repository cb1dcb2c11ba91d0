package main_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/mcp/revision"
)

// R006: what is no string and no integer is no id, and nothing is answered under
// it or under something made from it.
func TestR006IDsThatAreNone(t *testing.T) {
	p := start(t)
	for _, id := range []string{
		`null`, `1.5`, `1.0`, `-1.5`, `1e2`, `1E2`, `1e-2`, `-0.0`, `true`, `false`, `{}`, `{"id":1}`, `[]`, `[1]`,
		`"` + strings.Repeat("x", 1<<20) + `"`, `"` + strings.Repeat("é", 600) + `"`, strings.Repeat("9", 1<<20),
	} {
		for _, line := range []string{
			`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`,
			modern(id, "tools/call", creation),
			`{"jsonrpc":"2.0","id":` + id + `,"method":"getNextTask"}`,
			`{"jsonrpc":"2.0","id":` + id + `,"method":"no such method"}`,
		} {
			m := p.ask(line)
			m.refused(t, invalidRequest, "")
		}
		p.alive()
	}
	if n := p.tasks(); n != 0 {
		t.Errorf("%d calls without a good id were carried out", n)
	}
	p.end()
}

// R007: an id comes back digit for digit, in results and in errors.
func TestR007IDsComeBackAsTheyWere(t *testing.T) {
	p := start(t)
	for _, id := range []string{
		`0`, `-0`, `1`, `-1`, `9007199254740991`, `9007199254740992`, `9007199254740993`, `-9007199254740993`,
		`9223372036854775807`, `9223372036854775808`, `-9223372036854775808`, `-9223372036854775809`, `18446744073709551616`,
		`123456789012345678901234567890`, `-` + strings.Repeat("9", 1000),
		`""`, `"0"`, `"1"`, `" 1 "`, `"null"`, `"é"`, `"\u00e9"`, `"\/"`, `"/"`, `"\""`, `"\\"`, `"\u0000"`, `"\n"`, `"😀"`, `"\ud83d\ude00"`,
		`"` + strings.Repeat("x", 1000) + `"`, `"</script>"`, `"\u2028"`, "\"\u2028\"",
	} {
		for _, tc := range []struct {
			line string
			code int
		}{
			{`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`, 0},
			{modern(id, "tools/list", ""), 0},
			{modern(id, "tools/call", `"name":"get_task","arguments":{"id":"none"}`), 0},
			{modern(id, "tools/call", `"name":"none"`), invalidParams},
			{`{"jsonrpc":"2.0","id":` + id + `,"method":"none"}`, methodNotFound},
			{`{"jsonrpc":"1.0","id":` + id + `,"method":"ping"}`, invalidRequest},
			{`{"jsonrpc":"2.0","id":` + id + `,"method":"ping","params":1}`, invalidParams},
		} {
			m := p.ask(tc.line)
			m.refused(t, tc.code, id)
			if !strings.HasPrefix(m.text, `{"jsonrpc":"2.0","id":`+id+`,`) {
				t.Errorf("the id %s came back as %s", shorten(id), shorten(m.text))
			}
		}
	}
	p.end()
}

// R009: a message that is no request is refused under its id, if it has one.
func TestR009Envelopes(t *testing.T) {
	p := start(t)
	p.handshake(revision.NewestHandshake().Name)
	call := `"params":{` + creation + `}`
	for _, tc := range []struct {
		name, line string
		code       int
		id         string
	}{
		{"jsonrpc is missing", `{"id":1,"method":"tools/call",` + call + `}`, invalidRequest, "1"},
		{"jsonrpc is 1.0", `{"jsonrpc":"1.0","id":1,"method":"tools/call",` + call + `}`, invalidRequest, "1"},
		{"jsonrpc is the number 2", `{"jsonrpc":2,"id":1,"method":"tools/call",` + call + `}`, invalidRequest, "1"},
		{"jsonrpc is the number 2.0", `{"jsonrpc":2.0,"id":1,"method":"tools/call",` + call + `}`, invalidRequest, "1"},
		{"jsonrpc is null", `{"jsonrpc":null,"id":1,"method":"tools/call",` + call + `}`, invalidRequest, "1"},
		{"jsonrpc is empty", `{"jsonrpc":"","id":1,"method":"tools/call",` + call + `}`, invalidRequest, "1"},
		{"jsonrpc has a blank", `{"jsonrpc":"2.0 ","id":1,"method":"tools/call",` + call + `}`, invalidRequest, "1"},
		{"jsonrpc is an array", `{"jsonrpc":["2.0"],"id":1,"method":"tools/call",` + call + `}`, invalidRequest, "1"},
		{"method is missing", `{"jsonrpc":"2.0","id":1,` + call + `}`, invalidRequest, "1"},
		{"method is a number", `{"jsonrpc":"2.0","id":1,"method":1,` + call + `}`, invalidRequest, "1"},
		{"method is empty", `{"jsonrpc":"2.0","id":1,"method":"",` + call + `}`, invalidRequest, "1"},
		{"method is null", `{"jsonrpc":"2.0","id":1,"method":null,` + call + `}`, invalidRequest, "1"},
		{"method is an object", `{"jsonrpc":"2.0","id":1,"method":{"tools/call":1},` + call + `}`, invalidRequest, "1"},
		{"method is an array", `{"jsonrpc":"2.0","id":1,"method":["tools/call"],` + call + `}`, invalidRequest, "1"},
		{"method is unknown", `{"jsonrpc":"2.0","id":1,"method":"tools/cal",` + call + `}`, methodNotFound, "1"},
		{"params is a string", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"x"}`, invalidParams, "1"},
		{"params is a number", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":1}`, invalidParams, "1"},
		{"params is true", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":true}`, invalidParams, "1"},
		{"params is an array", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["create_task",{"description":"x"}]}`, invalidParams, "1"},
		{"params is an empty array", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}`, invalidParams, "1"},
		{"params is null", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}`, invalidParams, "1"},
		{"params of a ping is a string", `{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}`, invalidParams, "1"},
		{"params of getNextTask is an array", `{"jsonrpc":"2.0","id":1,"method":"getNextTask","params":[]}`, invalidParams, "1"},
		{"method and result", `{"jsonrpc":"2.0","id":1,"method":"tools/call","result":{},` + call + `}`, invalidRequest, "1"},
		{"method and error", `{"jsonrpc":"2.0","id":1,"method":"tools/call","error":{"code":1,"message":"x"},` + call + `}`, invalidRequest, "1"},
		{"nothing", `{}`, invalidRequest, ""},
		{"an id alone", `{"id":1}`, invalidRequest, "1"},
		{"jsonrpc alone", `{"jsonrpc":"2.0"}`, invalidRequest, ""},
		{"jsonrpc and an id", `{"jsonrpc":"2.0","id":"a"}`, invalidRequest, `"a"`},
		{"jsonrpc and an id that is null", `{"jsonrpc":"2.0","id":null}`, invalidRequest, ""},
		{"a string", `"tools/call"`, invalidRequest, ""},
		{"a number", `1`, invalidRequest, ""},
		{"null", `null`, invalidRequest, ""},
		{"true", `true`, invalidRequest, ""},
		{"a notification without jsonrpc", `{"method":"notifications/initialized"}`, invalidRequest, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := p.ask(tc.line)
			m.refused(t, tc.code, tc.id)
			p.alive()
		})
	}
	if n := p.tasks(); n != 0 {
		t.Errorf("%d calls were carried out", n)
	}
	p.end()
}

func TestNotificationsAreNeverAnswered(t *testing.T) {
	p := start(t)
	p.handshake(revision.NewestHandshake().Name)
	for _, line := range []string{
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","method":"initialized"}`,
		`{"jsonrpc":"2.0","method":"notifications/none"}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`,
		`{"jsonrpc":"2.0","method":"ping"}`,
		`{"jsonrpc":"2.0","method":"tools/call","params":{` + creation + `}}`,
		`{"jsonrpc":"2.0","method":"getNextTask"}`,
		`{"jsonrpc":"2.0","method":"askQuestion","params":{"question":""}}`,
		`{"jsonrpc":"2.0","method":"initialize","params":{}}`,
		`{"jsonrpc":"2.0","method":"none","params":{}}`,
		`{"jsonrpc":"2.0","method":"none","params":[1,2]}`,
		`{"jsonrpc":"2.0","method":"none","params":"text"}`,
		`{"jsonrpc":"2.0","method":"none","params":null}`,
	} {
		p.send(line)
		p.alive()
	}
	if n := p.tasks(); n != 0 {
		t.Errorf("%d notifications were carried out as requests", n)
	}
	p.end()
}

// A request that lacks what its revision asks for is refused and the connection
// goes on, in whichever order the eras come.
func TestLifecycleOutOfTurn(t *testing.T) {
	p := start(t)
	m := p.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	m.refused(t, invalidRequest, "1")
	m = p.ask(`{"jsonrpc":"2.0","id":2,"method":"server/discover"}`)
	m.refused(t, invalidParams, "2")
	m = p.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":%d}}`, 1))
	m.refused(t, invalidParams, "3")
	p.alive()
	if m = p.ask(initialize(batching(t))); m.Error != nil {
		t.Error(m.text)
	}
	m = p.ask(`{"jsonrpc":"2.0","id":4,"method":"tools/list"}`)
	m.refused(t, invalidRequest, "4")
	m = p.ask(initialize(batching(t)))
	m.refused(t, invalidRequest, `"initialize"`)
	if m = p.call("tools/list", ""); m.Error != nil {
		t.Errorf("a request of the newest revision in between: %s", m.text)
	}
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if m = p.ask(`{"jsonrpc":"2.0","id":5,"method":"tools/list"}`); m.Error != nil {
		t.Error(m.text)
	}
	p.end()
}
