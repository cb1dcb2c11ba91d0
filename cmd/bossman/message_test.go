package main_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
)

// The codes that tests speak of most.
const (
	parseError     = -32700
	invalidRequest = -32600
	methodNotFound = -32601
	invalidParams  = -32602
	internalError  = -32603
)

// message is what bossman may say. It is read by the JSON library and not by our
// own scanner, which is what the tests try.
type message struct {
	JSONRPC string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id,omitzero"`
	Method  string         `json:"method,omitzero"`
	Params  jsontext.Value `json:"params,omitzero"`
	Result  jsontext.Value `json:"result,omitzero"`
	Error   *failure       `json:"error,omitzero"`

	text string
}

type failure struct {
	Code    int            `json:"code"`
	Message string         `json:"message"`
	Data    jsontext.Value `json:"data,omitzero"`
}

// parse reads one message of bossman, strictly.
func parse(text string) (message, error) {
	m := message{text: text}
	if err := json.Unmarshal([]byte(text), &m, json.RejectUnknownMembers(true)); err != nil {
		return m, err
	}
	switch {
	case m.JSONRPC != "2.0":
		return m, fmt.Errorf("jsonrpc is %q", m.JSONRPC)
	case m.Method != "" && (m.Result != nil || m.Error != nil), m.Method == "" && (m.Result != nil) == (m.Error != nil):
		return m, fmt.Errorf("neither a request nor a response")
	case m.Result != nil && m.ID == nil:
		return m, fmt.Errorf("a result without an id")
	case string(m.ID) == "null":
		return m, fmt.Errorf("an id that is null")
	}
	return m, nil
}

func decode(t testing.TB, text string) message {
	t.Helper()
	m, err := parse(text)
	if err != nil {
		t.Fatalf("not a message: %v: %s", err, shorten(text))
	}
	return m
}

// code is the error's, 0 if there is none.
func (m *message) code() int {
	if m.Error == nil {
		return 0
	}
	return m.Error.Code
}

// refused fails the test unless the message is an error with that code under
// that id; an empty id means none.
func (m *message) refused(t testing.TB, code int, id string) {
	t.Helper()
	if m.code() != code || string(m.ID) != id {
		t.Errorf("got %s, want error %d under id %q", shorten(m.text), code, id)
	}
}

// member returns the raw value at a path of member names in the result, nil if
// there is none.
func (m *message) member(path ...string) jsontext.Value { return member(m.Result, path...) }

// content returns the text of a tool's result, and whether it is an error.
func (m *message) content(t testing.TB) (text string, failed bool) {
	t.Helper()
	var result struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		IsError bool `json:"isError"`
	}
	if err := json.Unmarshal(m.Result, &result); err != nil || len(result.Content) != 1 {
		t.Fatalf("no result with one block of text: %s", shorten(m.text))
	}
	return result.Content[0].Text, result.IsError
}

// modern is a request of the newest revision, which describes itself. The id is
// JSON; params are the members beside _meta.
func modern(id, method, params string) string {
	if params != "" {
		params = "," + params
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s%s}}`, id, method, meta(), params)
}

// meta is the member _meta of such a request.
func meta() string {
	return fmt.Sprintf(`"_meta":{%q:%q,%q:{"name":"test","version":"1"},%q:{}}`,
		mcp.MetaProtocolVersion, revision.Newest().Name, mcp.MetaClientInfo, mcp.MetaClientCapabilities)
}

func initialize(revision string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"initialize","method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`, revision)
}

// batching returns the revision that has batches.
func batching(t testing.TB) string {
	t.Helper()
	for _, r := range revision.All() {
		if r.Batch {
			return r.Name
		}
	}
	t.Fatal("no revision has batches")
	return ""
}

// create makes a task and returns its id.
func (p *process) create(description string) string {
	p.t.Helper()
	m := p.call("tools/call", `"name":"create_task","arguments":{"description":`+quote(description)+`}`)
	id := taskID(m)
	if id == "" {
		p.t.Fatalf("create_task: %s", m.text)
	}
	return id
}

// taskID is the id in the result of create_task and its like.
func taskID(m message) string {
	var id string
	_ = json.Unmarshal(m.member("structuredContent", "id"), &id) // empty if there is none
	return id
}

// tasks returns how many there are.
func (p *process) tasks() int {
	p.t.Helper()
	m := p.call("tools/call", `"name":"list_tasks","arguments":{"limit":500}`)
	var list struct {
		Tasks      []jsontext.Value `json:"tasks"`
		NextCursor string           `json:"next_cursor"`
	}
	if err := json.Unmarshal(m.member("structuredContent"), &list); err != nil || list.NextCursor != "" {
		p.t.Fatalf("list_tasks: %s", shorten(m.text))
	}
	return len(list.Tasks)
}

// quote is text as a JSON string.
func quote(text string) string {
	raw, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(text, "?"))
	if err != nil {
		panic(err)
	}
	return string(raw)
}
