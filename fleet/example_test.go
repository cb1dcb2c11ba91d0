package fleet_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/fleet"
	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/streamable"
)

func ExampleParse() {
	_, err := fleet.Parse([]byte(`{"mcpServers": {"files": {"comand": "npx"}}}`), nil)
	fmt.Println(err)

	config, err := fleet.Parse([]byte(`{"mcpServers": {"files": {"command": "npx", "env": {"KEY": "${KEY}"}}}}`), nil)
	fmt.Println(err)
	fmt.Println(config.Servers["files"].Err)
	// Output:
	// read configuration: server "files": unknown key "comand"; did you mean "command"?
	// <nil>
	// variable KEY: the variable KEY is not set
}

func Example() {
	greeter := server.New("greeter", "1.0.0", nil)
	server.Tool(greeter, "greet", "Greet somebody", func(_ context.Context, in struct {
		Name string `json:"name"`
	}) (string, error) {
		return "Hello, " + in.Name + "!", nil
	})
	web := httptest.NewServer(streamable.Handler(greeter, nil))
	defer web.Close()

	config, err := fleet.Parse([]byte(`{
		"mcpServers": {
			"greeter": {"url": "${GREETER}"},
			"missing": {"command": "this-program-does-not-exist"} // one dead server
		}
	}`), func(name string) (string, bool) { return web.URL, name == "GREETER" })
	if err != nil {
		fmt.Println(err)
		return
	}
	f := fleet.New(config, &fleet.Options{Logger: quiet})
	defer f.Close()

	tools, failed := f.Tools(context.Background())
	for _, tool := range tools {
		fmt.Println(tool.Server, tool.Name)
	}
	fmt.Println(len(failed), "failed:", failed[0].Server)
	result, err := f.Call(context.Background(), "greeter", "greet", map[string]string{"name": "Ada"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(client.TextOf(result.Content))
	// Output:
	// greeter greet
	// 1 failed: missing
	// Hello, Ada!
}
