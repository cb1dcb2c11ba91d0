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
	plain := new(plainResult)
	if plain.read(text) {
		return &plain.result, nil
	}
	result := new(mcp.CallToolResult)
	return result, decode(mcp.MethodCallTool, text, result)
}

// plainResult is a result with the room for one block of text, in one piece.
type plainResult struct {
	result mcp.CallToolResult
	blocks [1]mcp.Content
	first  mcp.TextContent
}

// read reports whether the result has no more than a plain one.
func (p *plainResult) read(text jsontext.Value) bool {
	result := &p.result
	for name, value := range jsonscan.Members(text) {
		kind := jsonscan.KindOf(value)
		switch string(name) {
		case "content":
			if kind != jsonscan.Array || !p.readTexts(value) {
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
func (p *plainResult) readTexts(array []byte) bool {
	contents := mcp.Contents(p.blocks[:0])
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
		contents = append(contents, p.block(jsonscan.Unquote(said), len(contents) == 0))
	}
	p.result.Content = contents
	return true
}

func (p *plainResult) block(text string, first bool) *mcp.TextContent {
	if !first {
		return mcp.Text(text)
	}
	p.first.Text = text
	return &p.first
}
