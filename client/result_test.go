package client_test

import (
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/mcp"
)

var toolResults = []string{
	`{"resultType":"complete","content":[{"type":"text","text":"a\u00e9\n"}],"structuredContent":{"a": 1.0},"isError":true,"_meta":{"x":1}}`,
	`{"content":[]}`, `{}`, `{"content":null}`, `{"content":[{"type":"text","text":""},{"text":"b","type":"text"}]}`,
	`{"content":[{"type":"text"}]}`, `{"content":[{"text":"a"}]}`, `{"content":[{"type":"text","text":7}]}`, `{"content":[{"type":"text","text":null}]}`,
	`{"content":[{"type":"text","text":"a","annotations":{"priority":1}}]}`, `{"content":[{"type":"image","data":"aGk=","mimeType":"x"}]}`,
	`{"content":[7]}`, `{"content":[null]}`, `{"content":{}}`, `{"content":"x"}`, `{"isError":1}`, `{"isError":null}`, `{"isError":"true"}`,
	`{"resultType":"complet\u0065"}`, `{"resultType":7}`, `{"resultType":null}`, `{"structuredContent":null}`, `{"structuredContent":[1,{}]}`,
	`{"_meta":null}`, `{"_meta":7}`, `{"unknown":{"content":[]},"Content":7}`, ` { "isError" : false , "content" : [ { "type" : "text" , "text" : "x" } ] } `,
	`{"\u0063ontent":[{"t\u0079pe":"text","text":"x"}]}`,
}

// sameVerdict holds the fast way to what package json says.
func sameVerdict(t *testing.T, text string) {
	t.Helper()
	var want mcp.CallToolResult
	wantErr := json.Unmarshal([]byte(text), &want)
	got, err := client.ReadToolResult(jsontext.Value(text))
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%s: %v, package json says %v", text, err, wantErr)
	}
	if err == nil && !reflect.DeepEqual(*got, want) {
		t.Fatalf("%s:\n got %+v\nwant %+v", text, *got, want)
	}
}

func TestToolResultsAreReadAsPackageJSONDoes(t *testing.T) {
	for _, text := range toolResults {
		sameVerdict(t, text)
	}
}

func FuzzReadToolResult(f *testing.F) {
	for _, text := range toolResults {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if jsonscan.Check([]byte(text), 100) != nil || jsonscan.KindOf(jsonscan.Trim([]byte(text))) != jsonscan.Object {
			t.Skip("no result of a response")
		}
		sameVerdict(t, text)
	})
}
