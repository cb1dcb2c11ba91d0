package mcp

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
)

// AppendJSON appends the result as package json writes it, but for white space in
// raw JSON, which stays. Results that are text, and perhaps structured content,
// are nearly all there are: they are written without detours.
func (r *CallToolResult) AppendJSON(dst []byte) ([]byte, error) {
	if out, ok := r.appendPlain(dst); ok {
		return out, nil
	}
	buf := bytes.NewBuffer(dst)
	if err := json.MarshalWrite(buf, r); err != nil {
		return dst, err
	}
	return buf.Bytes(), nil
}

// appendPlain reports whether the result is such a plain one, and good.
func (r *CallToolResult) appendPlain(dst []byte) (_ []byte, ok bool) {
	if r.Meta != nil {
		return nil, false
	}
	dst = append(dst, '{')
	if r.ResultType != "" {
		if dst, ok = jsonscan.AppendValid(append(dst, `"resultType":`...), r.ResultType); !ok {
			return nil, false
		}
		dst = append(dst, ',')
	}
	dst = append(dst, `"content":[`...)
	for i, block := range r.Content {
		text, isText := block.(*TextContent)
		if !isText || text == nil || text.Annotations != nil || text.Meta != nil {
			return nil, false
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, ok = jsonscan.AppendValid(append(dst, `{"type":"text","text":`...), text.Text); !ok {
			return nil, false
		}
		dst = append(dst, '}')
	}
	dst = append(dst, ']')
	if r.StructuredContent != nil {
		if jsonscan.Check(r.StructuredContent, jsonrpc.MaxDepth-2) != nil {
			return nil, false
		}
		dst = append(append(dst, `,"structuredContent":`...), r.StructuredContent...)
	}
	return append(strconv.AppendBool(append(dst, `,"isError":`...), r.IsError), '}'), true
}
