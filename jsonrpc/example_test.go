package jsonrpc_test

import (
	"errors"
	"fmt"

	"github.com/bossman-mcp/bossman/jsonrpc"
)

func ExampleParse() {
	m, err := jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":9007199254740993,"method":"add","params":{"a":2,"b":40}}`))
	fmt.Println(m.Method, m.ID, m.Params, err)
	// Output: add 9007199254740993 {"a":2,"b":40} <nil>
}

func ExampleAppendResult() {
	type sum struct {
		Sum int `json:"sum"`
	}
	text, err := jsonrpc.AppendResult(nil, jsonrpc.IntID(7), sum{42})
	fmt.Println(string(text), err)
	// Output: {"jsonrpc":"2.0","id":7,"result":{"sum":42}} <nil>
}

// What cannot be read is answered with the error that Parse returns, and with
// the id if that much could be read.
func ExampleAppendError() {
	m, err := jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":7,"method":5}`))
	var wrong *jsonrpc.Error
	if errors.As(err, &wrong) {
		fmt.Println(string(jsonrpc.AppendError(nil, m.ID, wrong)))
	}
	// Output: {"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"Invalid Request: method must be a string"}}
}

func ExampleParseBatch() {
	batch := []byte(`[{"jsonrpc":"2.0","id":1,"method":"add"},{"jsonrpc":"2.0","method":"note"}]`)
	messages, err := jsonrpc.ParseBatch(batch, 100)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, text := range messages {
		m, err := jsonrpc.Parse(text)
		fmt.Println(m.Method, m.IsRequest(), err)
	}
	// Output:
	// add true <nil>
	// note false <nil>
}
