package mcp_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/mcp"
)

func TestHeaderParams(t *testing.T) {
	got, err := mcp.HeaderParams(jsontext.Value(`{"type":"object","properties":{
		"region":{"type":"string","x-mcp-header":"Region"},
		"where":{"type":"object","properties":{"tenant":{"type":["null","integer"],"x-mcp-header":"Tenant-ID"}}},
		"x-mcp-header":{"type":"string"},
		"dry":{"type":"boolean","x\u002dmcp-header":"Dry"},
		"plain":{"type":"string","default":{"x-mcp-header":"no mark"},"enum":[{"x-mcp-header":""}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, p := range got {
		text = append(text, p.Name+" "+strings.Join(p.Path, ".")+" "+p.Type)
	}
	want := "Region region string, Tenant-ID where.tenant integer, Dry dry boolean"
	if joined := strings.Join(text, ", "); joined != want {
		t.Errorf("got %s, want %s", joined, want)
	}
	for _, none := range []string{`{"type":"object"}`, `true`, ``} {
		if got, err := mcp.HeaderParams(jsontext.Value(none)); got != nil || err != nil {
			t.Errorf("%s: got %v, %v", none, got, err)
		}
	}
}

func TestHeaderParamsRefusesBadMarks(t *testing.T) {
	property := func(p string) string { return `{"type":"object","properties":{"p":` + p + `}}` }
	for name, schema := range map[string]string{
		"an empty name":               property(`{"type":"string","x-mcp-header":""}`),
		"a blank in the name":         property(`{"type":"string","x-mcp-header":"My Region"}`),
		"a colon in the name":         property(`{"type":"string","x-mcp-header":"Region:"}`),
		"a line break in the name":    property(`{"type":"string","x-mcp-header":"Region\r\n"}`),
		"a name that is not ASCII":    property(`{"type":"string","x-mcp-header":"Région"}`),
		"a name that is no string":    property(`{"type":"string","x-mcp-header":5}`),
		"a number":                    property(`{"type":"number","x-mcp-header":"N"}`),
		"an object":                   property(`{"type":"object","x-mcp-header":"N"}`),
		"an array":                    property(`{"type":"array","x-mcp-header":"N"}`),
		"null":                        property(`{"type":"null","x-mcp-header":"N"}`),
		"no type":                     property(`{"x-mcp-header":"N"}`),
		"two types":                   property(`{"type":["string","integer"],"x-mcp-header":"N"}`),
		"the root":                    `{"type":"string","x-mcp-header":"N"}`,
		"inside items":                property(`{"type":"array","items":{"type":"string","x-mcp-header":"N"}}`),
		"inside prefixItems":          property(`{"prefixItems":[{"type":"string","x-mcp-header":"N"}]}`),
		"properties inside items":     property(`{"items":{"properties":{"q":{"type":"string","x-mcp-header":"N"}}}}`),
		"inside anyOf":                property(`{"anyOf":[{"type":"string","x-mcp-header":"N"}]}`),
		"properties inside allOf":     `{"allOf":[{"properties":{"p":{"type":"string","x-mcp-header":"N"}}}]}`,
		"inside then":                 `{"if":{},"then":{"properties":{"p":{"type":"string","x-mcp-header":"N"}}}}`,
		"inside $defs":                `{"$defs":{"d":{"type":"string","x-mcp-header":"N"}}}`,
		"inside patternProperties":    `{"patternProperties":{".":{"type":"string","x-mcp-header":"N"}}}`,
		"inside additionalProperties": `{"additionalProperties":{"type":"string","x-mcp-header":"N"}}`,
		"the same name twice":         `{"properties":{"a":{"type":"string","x-mcp-header":"Region"},"b":{"type":"string","x-mcp-header":"REGION"}}}`,
	} {
		if got, err := mcp.HeaderParams(jsontext.Value(schema)); err == nil {
			t.Errorf("%s: got %v, want an error", name, got)
		}
	}
}
