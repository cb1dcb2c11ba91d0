package lifecycle

import (
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/mcp"
)

// sameAsJSON fails the test unless read does with text what package json does.
func sameAsJSON[T any](t *testing.T, text string, read func([]byte, *T) error) {
	t.Helper()
	var got, want T
	err, wantErr := read([]byte(text), &got), json.Unmarshal([]byte(text), &want)
	if (err == nil) != (wantErr == nil) || !reflect.DeepEqual(got, want) {
		t.Errorf("%s\ngot  %+v, %v\nwant %+v, %v", text, got, err, want, wantErr)
	}
}

func TestIntroductionsAreReadAsPackageJSONReadsThem(t *testing.T) {
	for _, text := range []string{
		`{}`,
		`{"name":"load","version":"1.0.0"}`,
		`{ "name" : "l\u00f6\"ad" , "version":"1", "title":"T", "description":"D", "websiteUrl":"https://example.com", "unknown":[1] }`,
		`{"Name":"not ours","n\u0061me":"ours"}`,
		`{"name":null,"version":"1"}`,
		`{"name":"a","icons":[{"src":"x","sizes":["any"]}]}`,
		`{"version":"1","name":7}`,
		`null`, `[]`, `"name"`, ``,
	} {
		sameAsJSON(t, text, readInfo)
	}
	for _, text := range []string{
		`{}`,
		`{"roots":{"listChanged":true},"sampling":{},"elicitation":{}}`,
		`{"roots":{},"unknown":{"a":1}}`,
		`{"roots":{"listChanged":false},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}}`,
		`{"roots": { "listChanged": true }}`,
		`{"roots":null,"sampling":null,"elicitation":null}`,
		`{"experimental":{"a":{}},"roots":{}}`,
		`{"extensions":{"a/b":{"c":1}}}`,
		`{"sampling":true}`, `{"elicitation":[]}`, `{"roots":{"listChanged":1}}`, `{"extensions":1}`,
		`null`, `[]`, `1`, ``,
	} {
		sameAsJSON(t, text, readCapabilities)
	}
	for _, text := range []string{
		`{"protocolVersion":"1","capabilities":{},"clientInfo":{"name":"a","version":"1"}}`,
		`{"protocolVersion":"1","clientInfo":{"name":"a","icons":[]},"capabilities":{"roots":{}}}`,
		`{"protocolVersion":"1"}`,
		`{"protocolVersion":"1","capabilities":null,"clientInfo":null}`,
	} {
		sameAsJSON(t, text, func(text []byte, p *mcp.InitializeParams) (err error) {
			*p, err = readInitialize(text)
			return err
		})
	}
	for _, text := range []string{`{"protocolVersion":"1","capabilities":[]}`, `{"protocolVersion":"1","clientInfo":"me"}`} {
		if p, err := readInitialize([]byte(text)); err == nil {
			t.Errorf("%s is taken as %+v", text, p)
		}
	}
}
