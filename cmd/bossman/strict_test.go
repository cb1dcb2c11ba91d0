package main_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
)

// creation is a call that makes a task: if it is ever carried out, there is one.
const creation = `"name":"create_task","arguments":{"description":"shadow"}`

// R002: of two members with one name neither is taken.
func TestR002Duplicates(t *testing.T) {
	p := start(t)
	p.handshake(revision.NewestHandshake().Name)
	both := func(format, a, b string) []string {
		return []string{fmt.Sprintf(format, a, b), fmt.Sprintf(format, b, a)}
	}
	for _, tc := range []struct {
		name  string
		lines []string // in both orders
	}{
		{"jsonrpc", both(`{%s,%s,"id":1,"method":"tools/call","params":{`+creation+`}}`, `"jsonrpc":"2.0"`, `"jsonrpc":"1.0"`)},
		{"id", both(`{"jsonrpc":"2.0",%s,%s,"method":"tools/call","params":{`+creation+`}}`, `"id":1`, `"id":2`)},
		{"method", both(`{"jsonrpc":"2.0","id":1,%s,%s,"params":{`+creation+`}}`, `"method":"ping"`, `"method":"tools/call"`)},
		{"params", both(`{"jsonrpc":"2.0","id":1,"method":"tools/call",%s,%s}`, `"params":{"name":"list_tasks"}`, `"params":{`+creation+`}`)},
		{"name", both(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{%s,%s,"arguments":{"description":"x"}}}`, `"name":"list_tasks"`, `"name":"create_task"`)},
		{"arguments", both(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_task",%s,%s}}`, `"arguments":{}`, `"arguments":{"description":"x"}`)},
		{"_meta", both(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{%s,%s,`+creation+`}}`, meta(), `"_meta":{}`)},
		{"a key of _meta", both(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{%s,%s,"`+mcp.MetaClientCapabilities+`":{}},`+creation+`}}`,
			fmt.Sprintf("%q:%q", mcp.MetaProtocolVersion, revision.Newest().Name), fmt.Sprintf("%q:%q", mcp.MetaProtocolVersion, "1.0"))},
		{"one argument", both(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_task","arguments":{%s,%s}}}`, `"description":"a"`, `"description":"b"`)},
		{"a name written with an escape", both(`{"jsonrpc":"2.0","id":1,%s,%s,"params":{`+creation+`}}`, `"method":"ping"`, `"\u006dethod":"tools/call"`)},
		{"the same member twice, word for word", both(`{"jsonrpc":"2.0","id":1,%s,%s,"params":{`+creation+`}}`, `"method":"tools/call"`, `"method":"tools/call"`)},
		{"an unknown member", both(`{"jsonrpc":"2.0","id":1,"method":"tools/call",%s,%s,"params":{`+creation+`}}`, `"extra":1`, `"extra":2`)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, line := range tc.lines {
				m := p.ask(line)
				m.refused(t, parseError, "")
			}
			p.alive()
		})
	}
	if n := p.tasks(); n != 0 {
		t.Errorf("%d refused calls were carried out", n)
	}
	p.end()
}

// R003: a name that only resembles a member's is another member. Alone it leaves
// the real one missing; beside it, it changes nothing.
func TestR003NamesMatchExactly(t *testing.T) {
	p := start(t)
	p.handshake(revision.NewestHandshake().Name)
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_task","arguments":{"description":"shadow"}}}`
	alone := []struct {
		from, to string // in call
		code     int
	}{
		{`"jsonrpc"`, `"JSONRPC"`, invalidRequest}, {`"jsonrpc"`, `"jsonRPC"`, invalidRequest}, {`"jsonrpc"`, `"jſonrpc"`, invalidRequest},
		{`"method"`, `"Method"`, invalidRequest}, {`"method"`, `"METHOD"`, invalidRequest}, {`"method"`, `"method\u0000"`, invalidRequest},
		{`"method"`, `" method"`, invalidRequest}, {`"method"`, `"ｍethod"`, invalidRequest},
		{`"params"`, `"Params"`, invalidParams}, {`"params"`, `"paramſ"`, invalidParams}, {`"params"`, `"param\u017f"`, invalidParams},
		{`"params"`, `"PARAMS"`, invalidParams}, {`"params"`, `"params\u0000"`, invalidParams},
		{`"name"`, `"Name"`, invalidParams}, {`"name"`, `"NAME"`, invalidParams}, {`"name"`, `"name\u0000"`, invalidParams}, {`"name"`, `"n\u0430me"`, invalidParams},
		{`"create_task"`, `"create_tasK"`, invalidParams}, {`"create_task"`, `"create_tas\u212a"`, invalidParams}, {`"create_task"`, `"create_taſk"`, invalidParams},
		{`"create_task"`, `"Create_Task"`, invalidParams}, {`"create_task"`, `" create_task"`, invalidParams}, {`"create_task"`, `"create_task\u0000"`, invalidParams},
		{`"tools/call"`, `"Tools/Call"`, methodNotFound}, {`"tools/call"`, `"toolſ/call"`, methodNotFound}, {`"tools/call"`, `"tools/call\u0000"`, methodNotFound},
	}
	for _, tc := range alone {
		m := p.ask(strings.Replace(call, tc.from, tc.to, 1))
		m.refused(t, tc.code, "1")
	}
	for _, tc := range []struct{ from, to string }{ // tools report these to the model
		{`"arguments"`, `"Arguments"`}, {`"arguments"`, `"argumentſ"`}, {`"arguments"`, `"ARGUMENTS"`},
		{`"description"`, `"Description"`}, {`"description"`, `"deſcription"`}, {`"description"`, `"description\u0000"`},
	} {
		m := p.ask(strings.Replace(call, tc.from, tc.to, 1))
		if text, failed := m.content(t); !failed || string(m.ID) != "1" {
			t.Errorf("%s for %s: got %s", tc.to, tc.from, text)
		}
	}
	for _, name := range []string{`"ID"`, `"Id"`, `"iD"`, `"\u0131d"`, `"id\u0000"`} { // without an id it is a notification
		p.send(strings.Replace(call, `"id"`, name, 1))
		p.alive()
	}
	if n := p.tasks(); n != 0 {
		t.Errorf("%d calls were carried out", n)
	}
	p.end()
}

func TestR003ShadowsBesideTheRealMember(t *testing.T) {
	p := start(t)
	p.handshake(revision.NewestHandshake().Name)
	id := p.create("real")
	before := p.tasks()
	for _, tc := range []struct{ line, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call","METHOD":"tools/call","params":{` + creation + `}}`, `"result":{}`},
		{`{"Method":"tools/call","jsonrpc":"2.0","ID":5,"id":1,"method":"ping","Id":6,"params":{` + creation + `}}`, `"id":1,"result":{}`},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_task","arguments":{"id":"` + id + `"}},"Params":{` + creation + `},"paramſ":{` + creation + `}}`, `real`},
		{`{"paramſ":{` + creation + `},"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_task","arguments":{"id":"` + id + `"}}}`, `real`},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"NAME":"create_task","name":"get_task","Name":"create_task","Arguments":{"description":"x"},"arguments":{"id":"` + id + `"},"argumentſ":{"description":"x"}}}`, `real`},
		{`{"jsonrpc":"2.0","id":1,"method":"reportTaskDone","params":{"taskId":"task_real","tas\u212aId":"` + id + `","TaskID":"` + id + `"}}`, `task not found: task_real`},
		{`{"jsonrpc":"2.0","id":1,"method":"reportTaskDone","params":{"tas` + "\u212a" + `Id":"` + id + `"}}`, `taskId must be a non-empty string`},
		{`{"jsonrpc":"2.0","id":1,"method":"reportTaskDone","params":{"taskId\u0000":"` + id + `"}}`, `taskId must be a non-empty string`},
		{`{"jsonrpc":"2.0","id":1,"method":"askQuestion","params":{"queſtion":"x","Question":"x"}}`, `question must be a non-empty string`},
		{strings.Replace(modern("1", "tools/call", creation), `"_meta"`, `"_Meta":{},"_metA"`, 1), `"id":1`}, // an older call in this session
		{strings.Replace(modern("1", "tools/call", creation), "protocolVersion", "protocolVerſion", 1), `"id":1`},
	} {
		m := p.ask(tc.line)
		if string(m.ID) != "1" || !strings.Contains(m.text, tc.want) {
			t.Errorf("%s: got %s, want %s", tc.line, m.text, tc.want)
		}
	}
	const fromOlderCalls = 2 // the last two are calls of the session, which are carried out
	if n := p.tasks(); n != before+fromOlderCalls {
		t.Errorf("there are %d tasks, want %d", n, before+fromOlderCalls)
	}
	if m := p.call("tools/call", `"name":"get_task","arguments":{"id":"`+id+`"}`); string(m.member("structuredContent", "status")) != `"pending"` {
		t.Errorf("a shadow reported the task: %s", m.text)
	}
	p.end()
}

// R005: what is no Unicode text is refused, and never repaired.
func TestR005TextThatIsNone(t *testing.T) {
	p := start(t)
	wide := func(text string, bigEndian bool) string {
		var b strings.Builder
		for _, unit := range utf16.Encode([]rune(text)) {
			low, high := byte(unit), byte(unit>>8)
			if bigEndian {
				low, high = high, low
			}
			b.WriteByte(low)
			b.WriteByte(high)
		}
		return b.String()
	}
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	whole := map[string]string{
		"UTF-16, little end first": wide(ping, false), "UTF-16, big end first": wide(ping, true),
		"UTF-16 with a mark": "\xff\xfe" + wide(ping, false), "UTF-8 with a mark": "\ufeff" + ping,
		"a byte before": "\x80" + ping, "a byte after": ping + "\xff",
	}
	for name, text := range whole {
		m := p.ask(text)
		if m.refused(t, parseError, ""); t.Failed() {
			t.Fatal(name)
		}
		p.alive()
	}
	for name, text := range map[string]string{
		"FF": "\xff", "FE": "\xfe", "a lone continuation": "\x80", "overlong slash": "\xc0\xaf", "overlong NUL": "\xc0\x80",
		"overlong in three bytes": "\xe0\x80\xaf", "overlong in four": "\xf0\x80\x80\xaf", "a raw high surrogate": "\xed\xa0\x80",
		"a raw low surrogate": "\xed\xb0\x80", "a raw pair of surrogates": "\xed\xa0\xbd\xed\xb8\x80", "beyond Unicode": "\xf4\x90\x80\x80",
		"five bytes": "\xf8\x88\x80\x80\x80", "two of three bytes": "\xe2\x82", "three of four bytes": "\xf0\x9f\x98", "Latin 1": "caf\xe9",
		"an escaped high surrogate": `\ud800`, "an escaped low surrogate": `\udc00`, "a pair the wrong way round": `\ude00\ud83d`,
		"two high ones": `\ud83d\ud83d`, "a high one before a letter": `\ud83dx`, "a high one before another escape": `\ud83d\n`,
		"a capital one": `\uDBFF`, "half an escape": `\ud83d\ude0`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, line := range []string{
				modern("1", "tools/call", `"name":"create_task","arguments":{"description":"`+text+`"}`),
				modern("1", "tools/call", `"name":"create_task","arguments":{"description":"x","`+text+`":1}`),
				modern(`"`+text+`"`, "tools/call", creation),
				`{"jsonrpc":"2.0","id":1,"method":"` + text + `"}`,
				`{"jsonrpc":"2.0","id":1,"method":"ping","` + text + `":1}`,
				`{"jsonrpc":"2.0","method":"notifications/` + text + `"}`,
			} {
				m := p.ask(line)
				m.refused(t, parseError, "")
			}
			p.alive()
		})
	}
	if n := p.tasks(); n != 0 {
		t.Errorf("%d refused calls were carried out", n)
	}
	good := "é € 😀 \U0010ffff \ufffd"
	if id := p.create(good); id == "" {
		t.Error("good text was refused")
	}
	if m := p.call("tools/call", `"name":"list_tasks"`); !strings.Contains(m.text, good) {
		t.Errorf("good text came back as %s", m.text)
	}
	p.end()
}
