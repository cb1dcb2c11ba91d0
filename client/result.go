package client

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/mcp"
)

// readToolResult reads the result of a tool. Most are text and structured
// content, which it takes from where they stand; all others go to package json,
// whose verdict is the same.
func readToolResult(text jsontext.Value) (*mcp.CallToolResult, error) {
	result := new(mcp.CallToolResult)
	if readPlain(text, result) {
		return result, nil
	}
	*result = mcp.CallToolResult{}
	return result, decode(mcp.MethodCallTool, text, result)
}

// readPlain reports whether the result has no more than a plain one.
func readPlain(text jsontext.Value, result *mcp.CallToolResult) bool {
	for name, value := range jsonscan.Members(text) {
		kind := jsonscan.KindOf(value)
		switch string(name) {
		case "content":
			if kind != jsonscan.Array || !readTexts(value, &result.Content) {
				return false
			}
		case "structuredContent":
			result.StructuredContent = value
		case "isError":
			if kind != jsonscan.Bool {
				return false
			}
			result.IsError = string(value) == "true"
		case "resultType":
			if string(value) != `"`+mcp.ResultComplete+`"` {
				return false
			}
			result.ResultType = mcp.ResultComplete
		case "_meta":
			result.Meta = value
		}
	}
	return true
}

// readTexts reads blocks of text, and reports whether there are only such.
func readTexts(array []byte, into *mcp.Contents) bool {
	contents := mcp.Contents{}
	for block := range jsonscan.Elements(array) {
		said, typed := []byte(nil), false
		if jsonscan.KindOf(block) != jsonscan.Object {
			return false
		}
		for name, value := range jsonscan.Members(block) {
			switch string(name) {
			case "type":
				typed = string(value) == `"text"`
			case "text":
				said = value
			default:
				return false
			}
		}
		if !typed || jsonscan.KindOf(said) != jsonscan.String {
			return false
		}
		contents = append(contents, mcp.Text(jsonscan.Unquote(said)))
	}
	*into = contents
	return true
}
