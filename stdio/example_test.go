package stdio_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/stdio"
)

func ExampleServe() {
	type name struct {
		Name string `json:"name" doc:"Whom to greet"`
	}
	s := server.New("greeter", "1.0.0", nil)
	server.Tool(s, "greet", "Greet somebody", func(_ context.Context, in name) (string, error) {
		return "Hello, " + in.Name + "!", nil
	})

	// A real server leaves In and Out alone: they are standard input and output.
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n")
	if err := stdio.Serve(context.Background(), s, &stdio.Options{In: in, Out: os.Stdout}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{}}
}
