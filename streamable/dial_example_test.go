package streamable_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/streamable"
)

func ExampleDial() {
	srv := httptest.NewServer(streamable.Handler(server.New("greeter", "1.0.0", nil), nil))
	defer srv.Close()

	d := streamable.Dial(srv.URL, &streamable.DialOptions{Header: http.Header{"X-Api-Token": {"secret"}}})
	connection, err := d.Dial(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	// Package client does the rest. By hand it begins like this:
	p := peer.New(connection, nobody{}, nil)
	go p.Run(context.Background()) //nolint:errcheck // Close ends it
	defer p.Close()

	var welcome mcp.InitializeResult
	err = p.Call(context.Background(), mcp.MethodInitialize, jsontext.Value(
		`{"protocolVersion":"any","capabilities":{},"clientInfo":{"name":"example","version":"1"}}`), &welcome)
	fmt.Println(welcome.ServerInfo.Name, err)
	// Output: greeter <nil>
}
