package jsonrpc

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// Appender is a value that knows its own JSON. [AppendValue] prefers it.
type Appender interface {
	AppendJSON(dst []byte) ([]byte, error)
}

// AppendValue appends v as JSON: an [Appender] by its method, a jsontext.Value as
// it is and unchecked, nil as null, anything else as package json writes it.
func AppendValue(dst []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case Appender:
		return v.AppendJSON(dst)
	case jsontext.Value:
		if len(v) == 0 {
			return append(dst, "null"...), nil
		}
		return append(dst, v...), nil
	}
	buf := bytes.NewBuffer(dst)
	if err := json.MarshalWrite(buf, v); err != nil {
		return dst, err
	}
	return buf.Bytes(), nil
}

// AppendRequest appends a request, or a notification when id is zero. Nil
// params, and an empty jsontext.Value, are left out.
func AppendRequest(dst []byte, id ID, method string, params any) ([]byte, error) {
	dst = append(dst, `{"jsonrpc":"2.0"`...)
	if !id.IsZero() {
		dst = append(dst, `,"id":`...)
		dst = append(dst, id.text...)
	}
	dst = append(dst, `,"method":`...)
	dst = jsonscan.AppendQuote(dst, method)
	if raw, ok := params.(jsontext.Value); params != nil && (!ok || len(raw) > 0) {
		var err error
		dst = append(dst, `,"params":`...)
		if dst, err = AppendValue(dst, params); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// AppendResult appends the response that carries result.
func AppendResult(dst []byte, id ID, result any) ([]byte, error) {
	dst, err := AppendValue(AppendResultHead(dst, id), result)
	return append(dst, '}'), err
}

// AppendResultHead appends the start of a response, which the result and a closing
// brace make whole: a result that is long need not be copied behind it.
func AppendResultHead(dst []byte, id ID) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, id.text...)
	return append(dst, `,"result":`...)
}

// AppendError appends the response that carries e. The id is left out when it
// is zero, which means that the request's id could not be read. Data that is no
// JSON is left out too.
func AppendError(dst []byte, id ID, e *Error) []byte {
	dst = append(dst, `{"jsonrpc":"2.0"`...)
	if !id.IsZero() {
		dst = append(dst, `,"id":`...)
		dst = append(dst, id.text...)
	}
	dst = append(dst, `,"error":{"code":`...)
	dst = strconv.AppendInt(dst, int64(e.Code), 10)
	dst = append(dst, `,"message":`...)
	dst = jsonscan.AppendQuote(dst, e.Message)
	if len(e.Data) > 0 && jsonscan.Check(e.Data, MaxDepth-2) == nil {
		dst = append(dst, `,"data":`...)
		dst = append(dst, e.Data...)
	}
	return append(dst, "}}"...)
}
