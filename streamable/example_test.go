package streamable_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/streamable"
)

func ExampleHandler() {
	type greeting struct {
		Name string `json:"name"`
	}
	s := server.New("greeter", "1.0.0", nil)
	server.Tool(s, "greet", "Greet somebody", func(_ context.Context, in greeting) (string, error) {
		return "Hello, " + in.Name + "!", nil
	})
	mux := http.NewServeMux()
	mux.Handle("/mcp", streamable.Handler(s, nil))
	srv := httptest.NewServer(mux)
	defer srv.Close()

	req, _ := http.NewRequest(http.MethodPost, srv.URL+"/mcp", strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Ada"},"_meta":{`+
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("MCP-Protocol-Version", "2026-07-28")
	req.Header.Set("Mcp-Method", "tools/call")
	req.Header.Set("Mcp-Name", "greet")
	res, err := srv.Client().Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	fmt.Println(res.Status, strings.Contains(string(body), "Hello, Ada!"))
	// Output: 200 OK true
}

func ExampleEndpoint_Shutdown() {
	s := server.New("quiet", "1.0.0", nil)
	endpoint := streamable.Handler(s, nil)
	mux := http.NewServeMux()
	mux.Handle("/mcp", endpoint)
	mux.Handle("/sse", endpoint.SSE()) // for clients of the oldest revision
	srv := streamable.NewServer("127.0.0.1:0", mux)

	// go srv.ListenAndServe() runs until, at the end:
	ctx := context.Background()
	fmt.Println(endpoint.Shutdown(ctx), srv.Shutdown(ctx))
	// Output: <nil> <nil>
}
