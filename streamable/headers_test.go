package streamable_test

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

func TestRoutingHeaders(t *testing.T) { // R036
	b := newBench()
	b.AddResource(mcp.Resource{URI: "test://x", Name: "x"}, func(context.Context, *mcp.Call, server.ReadRequest) ([]mcp.ResourceContents, error) {
		return []mcp.ResourceContents{{Text: "contents"}}, nil
	})
	for _, method := range []string{mcp.MethodGetDeferred, mcp.MethodUpdateDeferred, mcp.MethodCancelDeferred} {
		b.Method(method, func(context.Context, *mcp.Call) (any, error) { return &mcp.EmptyResult{}, nil })
	}
	s := open(t, b, nil)
	get := modernBody("tasks/get", `"taskId":"A"`)
	update := modernBody("tasks/update", `"taskId":"A","inputResponses":{}`)
	drop := modernBody("tasks/cancel", `"taskId":"A"`)
	call := modernBody("tools/call", `"name":"hello","arguments":{}`)
	read := modernBody("resources/read", `"uri":"test://x"`)
	tests := []struct {
		name, body string
		headers    []string
		good       bool
	}{
		{"all as they should be", call, modernHeaders("tools/call", "hello"), true},
		{"a name of a resource is its URI", read, modernHeaders("resources/read", "test://x"), true},
		{"the version is missing", call, modernHeaders("tools/call", "hello", "MCP-Protocol-Version:"), false},
		{"the version differs", call, modernHeaders("tools/call", "hello", "MCP-Protocol-Version: 2025-11-25"), false},
		{"the version is there twice", call, modernHeaders("tools/call", "hello", "+MCP-Protocol-Version: 2025-11-25"), false},
		{"the same version is there twice", call, modernHeaders("tools/call", "hello", "+MCP-Protocol-Version: "+newest), false},
		{"the method is missing", call, modernHeaders("tools/call", "hello", "Mcp-Method:"), false},
		{"the method differs", call, modernHeaders("tools/list", "hello"), false},
		{"the method has another case", call, modernHeaders("TOOLS/CALL", "hello"), false},
		{"the method is there twice", call, modernHeaders("tools/call", "hello", "+Mcp-Method: tools/list"), false},
		{"the method is base64, which only names may be", call, modernHeaders(sentinel("tools/call"), "hello"), false},
		{"the name is missing", call, modernHeaders("tools/call", ""), false},
		{"the name differs", call, modernHeaders("tools/call", "wait"), false},
		{"the name has another case", call, modernHeaders("tools/call", "Hello"), false},
		{"the name is there twice", call, modernHeaders("tools/call", "hello", "+Mcp-Name: wait"), false},
		{"the resource's name differs", read, modernHeaders("resources/read", "test://y"), false},
		{"the name of a deferred result is its id", get, modernHeaders("tasks/get", "A"), true},
		{"also when it is answered", update, modernHeaders("tasks/update", "A"), true},
		{"also when it is given up", drop, modernHeaders("tasks/cancel", "A"), true},
		{"the id differs", get, modernHeaders("tasks/get", "B"), false},
		{"the id differs when it is answered", update, modernHeaders("tasks/update", "B"), false},
		{"the id differs when it is given up", drop, modernHeaders("tasks/cancel", "B"), false},
		{"the id is missing", get, modernHeaders("tasks/get", ""), false},
		{"the id is another member's", update, modernHeaders("tasks/update", "{}"), false},
		{"a header's name may be in any case", call, []string{"mcp-protocol-version: " + newest, "MCP-METHOD: tools/call", "mcp-name: hello"}, true},
		{"a name where none belongs is nobody's business", modernBody("tools/list", ""), modernHeaders("tools/list", "whatever"), true},
		{"session and last event mean nothing", call, modernHeaders("tools/call", "hello", "Mcp-Session-Id: x", "Last-Event-ID: 0-0"), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := s.post(tt.body, tt.headers...)
			if tt.good {
				if res.status != 200 || res.header.Get("Mcp-Session-Id") != "" {
					t.Errorf("got %d %v %s, want 200 and no session", res.status, res.header, res.body)
				}
				return
			}
			res.wantError(t, 400, mcp.CodeHeaderMismatch, "1")
		})
	}
}

func sentinel(text string) string {
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(text)) + "?="
}

func TestEncodedNames(t *testing.T) { // R037
	b := newBench()
	for _, name := range []string{"grüße", "a b", "=?base64?literal?=", "=?base64?aGVsbG8"} {
		b.AddTool(mcp.Tool{Name: name}, server.Func(func(context.Context, nothing) (string, error) { return "fine", nil }))
	}
	s := open(t, b, nil)
	tests := []struct {
		name, tool, header string
		good               bool
	}{
		{"a plain name in base64", "hello", sentinel("hello"), true},
		{"a name that is not ASCII", "grüße", sentinel("grüße"), true},
		{"a name with a blank in it", "a b", "a b", true},
		{"blanks around a name", "hello", " \t hello  ", true},
		{"a literal that looks encoded, encoded", "=?base64?literal?=", sentinel("=?base64?literal?="), true},
		{"a literal that looks encoded, as it is", "=?base64?literal?=", "=?base64?literal?=", false},
		{"a prefix without its suffix is a literal", "=?base64?aGVsbG8", "=?base64?aGVsbG8", true},
		{"a name that is not ASCII as it is", "grüße", "grüße", false},
		{"base64 of another name", "hello", sentinel("wait"), false},
		{"missing padding", "hello", "=?base64?aGVsbG8?=", false},
		{"a character outside the alphabet", "hello", "=?base64?aGVs*G8=?=", false},
		{"the alphabet of URLs", "grüße", strings.NewReplacer("+", "-", "/", "_").Replace(sentinel("grüße") + "_"), false},
		{"bits left over", "hello", "=?base64?aGVsbG9=?=", false},
		{"a prefix in upper case", "hello", "=?BASE64?aGVsbG8=?=", false},
		{"what is no UTF-8", "hello", "=?base64?" + base64.StdEncoding.EncodeToString([]byte("\xff\xfe")) + "?=", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			name, err := jsontext.AppendQuote(nil, tt.tool)
			if err != nil {
				t.Fatal(err)
			}
			res := s.post(modernBody("tools/call", `"name":`+string(name)+`,"arguments":{}`), modernHeaders("tools/call", tt.header)...)
			if tt.good {
				res.wantText(t, "content")
				return
			}
			res.wantError(t, 400, mcp.CodeHeaderMismatch, "1")
		})
	}
}

func TestMirroredParameters(t *testing.T) { // R037
	b := newBench()
	b.AddTool(mcp.Tool{Name: "sql"}, server.Raw(jsontext.Value(`{"type":"object","properties":{
		"region":{"type":["string","null"],"x-mcp-header":"Region"},
		"limit":{"type":"integer","x-mcp-header":"Limit"},
		"dry":{"type":"boolean","x-mcp-header":"Dry-Run"},
		"where":{"type":"object","properties":{"tenant":{"type":"string","x-mcp-header":"Tenant"}}},
		"query":{"type":"string"}}}`), nil,
		func(context.Context, *mcp.Call, jsontext.Value) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: mcp.Contents{mcp.Text("ran")}}, nil
		}))
	s := open(t, b, nil)
	tests := []struct {
		name, arguments string
		headers         []string
		good            bool
	}{
		{"nothing given, nothing sent", `{}`, nil, true},
		{"a string", `{"region":"us-west1"}`, []string{"Region: us-west1"}, true},
		{"an escaped string", `{"region":"us\u002dwest1"}`, []string{"Region: us-west1"}, true},
		{"a string in base64", `{"region":"us-west1"}`, []string{"Region: " + sentinel("us-west1")}, true},
		{"a string of many letters", `{"region":"Hello, 世界"}`, []string{"Region: =?base64?SGVsbG8sIOS4lueVjA==?="}, true},
		{"a padded string", `{"region":" padded "}`, []string{"Region: =?base64?IHBhZGRlZCA=?="}, true},
		{"a line break in base64", `{"region":"line1\nline2"}`, []string{"Region: =?base64?bGluZTEKbGluZTI=?="}, true},
		{"bad base64", `{"region":"Hello"}`, []string{"Region: =?base64?SGVsbG8?="}, false},
		{"base64 without its marks is a literal", `{"region":"SGVsbG8="}`, []string{"Region: SGVsbG8="}, true},
		{"a header in any case", `{"region":"x"}`, []string{"REGION: x"}, true},
		{"another value", `{"region":"us-west1"}`, []string{"Region: us-east1"}, false},
		{"another case", `{"region":"us-west1"}`, []string{"Region: US-WEST1"}, false},
		{"a header is missing", `{"region":"us-west1"}`, nil, false},
		{"a header is there twice", `{"region":"us-west1"}`, []string{"Region: us-west1", "+Region: eu-west1"}, false},
		{"null needs no header", `{"region":null}`, nil, true},
		{"a header for null", `{"region":null}`, []string{"Region: null"}, false},
		{"a header for nothing", `{}`, []string{"Region: x"}, false},
		{"an integer", `{"limit":42}`, []string{"Limit: 42"}, true},
		{"an integer with a point in the body", `{"limit":42.0}`, []string{"Limit: 42"}, true},
		{"an integer with a point in the header", `{"limit":42}`, []string{"Limit: 42.0"}, true},
		{"an integer with an exponent", `{"limit":4.2e1}`, []string{"Limit: 42"}, true},
		{"a negative integer", `{"limit":-7}`, []string{"Limit: -7"}, true},
		{"another integer", `{"limit":42}`, []string{"Limit: 43"}, false},
		{"a fraction", `{"limit":4.5}`, []string{"Limit: 4.5"}, false},
		{"an integer in hexadecimal", `{"limit":42}`, []string{"Limit: 0x2a"}, false},
		{"an integer beyond what all can read", `{"limit":9007199254740993}`, []string{"Limit: 9007199254740993"}, false},
		{"text for an integer", `{"limit":42}`, []string{"Limit: many"}, false},
		{"a string where an integer belongs", `{"limit":"42"}`, []string{"Limit: 42"}, false},
		{"a boolean", `{"dry":true}`, []string{"Dry-Run: true"}, true},
		{"a boolean in another case", `{"dry":true}`, []string{"Dry-Run: True"}, false},
		{"the other boolean", `{"dry":true}`, []string{"Dry-Run: false"}, false},
		{"a nested one", `{"where":{"tenant":"a"}}`, []string{"Tenant: a"}, true},
		{"a nested one missing", `{"where":{"tenant":"a"}}`, nil, false},
		{"a nested one elsewhere", `{"tenant":"a"}`, nil, true},
		{"an object where a string belongs", `{"region":{}}`, []string{"Region: {}"}, false},
		{"a header that the tool does not know", `{"query":"x"}`, []string{"Query: y"}, true},
		{"all of them", `{"region":"r","limit":1,"dry":false,"where":{"tenant":"t"}}`, []string{"Region: r", "Limit: 1", "Dry-Run: false", "Tenant: t"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			headers := modernHeaders("tools/call", "sql")
			for _, h := range tt.headers {
				plus, h := "", h
				if rest, ok := strings.CutPrefix(h, "+"); ok {
					plus, h = "+", rest
				}
				headers = append(headers, plus+"Mcp-Param-"+h)
			}
			res := s.post(modernBody("tools/call", `"name":"sql","arguments":`+tt.arguments), headers...)
			if tt.good {
				res.wantText(t, `"content"`)
				return
			}
			res.wantError(t, 400, mcp.CodeHeaderMismatch, "1")
		})
	}
	t.Run("sessions know no such headers", func(t *testing.T) {
		s.join(lastSession).call(1, "sql", `{"region":"x"}`).wantText(t, "ran")
	})
}
