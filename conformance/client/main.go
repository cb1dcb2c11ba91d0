// Command client does what the protocol's conformance suite asks of a client,
// written as any user of the toolkit would write it. The suite starts it once for
// each of its scenarios, with the address of a server, and looks at the traffic:
//
//	MCP_CONFORMANCE_SCENARIO=tools_call go run ./conformance/client http://localhost:3000/mcp
//
// It ends by itself. Its exit code is 0 if all went well, 1 if the server could
// not be used, which some scenarios are about, and 2 for a scenario that it does
// not know.
package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/streamable"
)

// limit is how long a scenario may take: less than the suite's own patience.
const limit = 20 * time.Second

func main() {
	probe := flag.Bool("probe", false, "find out what the server speaks, whatever the environment says")
	flag.Parse()
	if flag.NArg() != 1 {
		fail(2, "usage: client [-probe] ADDRESS, with MCP_CONFORMANCE_SCENARIO in the environment")
	}
	name := os.Getenv("MCP_CONFORMANCE_SCENARIO")
	play, ok := scenarios()[undated(name)]
	if !ok {
		fail(2, "no such scenario: %q", name)
	}
	s := &stage{url: flag.Arg(0)}
	if !*probe {
		s.revision = os.Getenv("MCP_CONFORMANCE_PROTOCOL_VERSION")
	}
	if text := os.Getenv("MCP_CONFORMANCE_CONTEXT"); text != "" {
		if err := json.Unmarshal([]byte(text), &s.props); err != nil {
			fail(2, "read MCP_CONFORMANCE_CONTEXT: %v", err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := play(ctx, s); err != nil {
		fail(1, "%s: %v", name, err)
	}
}

func fail(code int, format string, args ...any) {
	fmt.Fprintf(os.Stderr, "client: "+format+"\n", args...)
	os.Exit(code)
}

// dated is the revision that some scenarios have in their name.
var dated = regexp.MustCompile(`\d{4}-\d\d-\d\d-`)

func undated(scenario string) string { return dated.ReplaceAllString(scenario, "") }

// stage is where a scenario is played.
type stage struct {
	url      string // of the server
	revision string // to speak; empty: any
	props    props
}

// props are what the suite gives to some scenarios.
type props struct {
	ToolCalls []struct {
		Name      string         `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
	} `json:"toolCalls"`

	Issuer       string `json:"issuer"`
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	PrivateKey   string `json:"private_key_pem"`
	Statement    string `json:"valid_jwt"`

	ProviderClientID string `json:"idp_client_id"`
	ProviderIssuer   string `json:"idp_issuer"`
	ProviderToken    string `json:"idp_token_endpoint"`
	IDToken          string `json:"idp_id_token"`
}

// scenario is what a client does.
type scenario func(ctx context.Context, s *stage) error

func scenarios() map[string]scenario {
	all := coreScenarios()
	maps.Copy(all, loginScenarios())
	maps.Copy(all, skillScenarios())
	return all
}

// with connects to the server, runs do, and hangs up. Auth may be nil.
func (s *stage) with(ctx context.Context, auth streamable.Authorizer, opts client.Options, do func(c *client.Client) error) error {
	opts.Info = mcp.Implementation{Name: "bossman-conformance", Version: "1.0.0"}
	opts.Revision = s.revision
	c, err := client.Connect(ctx, streamable.Dial(s.url, &streamable.DialOptions{Auth: auth}), &opts)
	if err != nil {
		return err
	}
	err = do(c)
	if closing := c.Close(); err == nil {
		err = closing
	}
	return err
}
