package fleet_test

import (
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/fleet"
	"github.com/bossman-mcp/bossman/internal/need"
)

func lookup(name string) (string, bool) {
	value, ok := map[string]string{"TOKEN": "s3cret", "HOME": "/home/ada", "HOST": "mcp.example.com"}[name]
	return value, ok
}

type servers = map[string]fleet.ServerConfig

func TestParseReadsTheFilesOfClients(t *testing.T) {
	tests := []struct {
		name, text string
		want       servers
	}{
		{"Claude Desktop, stdio", `{"mcpServers":{"files":{"command":"npx","args":["-y","server-files","${HOME}/docs"],"env":{"LEVEL":"info"}}},"theme":"dark"}`,
			servers{"files": {Command: "npx", Args: []string{"-y", "server-files", "/home/ada/docs"}, Env: map[string]string{"LEVEL": "info"}}}},
		{"Claude Code, with types and defaults", `{"mcpServers":{
			"web":{"type":"http","url":"https://${HOST}/mcp","headers":{"Authorization":"Bearer ${TOKEN}"}},
			"old":{"type":"sse","url":"https://${OTHER:-localhost}/sse"},
			"cli":{"type":"stdio","command":"tool","args":[],"env":{}}}}`,
			servers{
				"web": {URL: "https://mcp.example.com/mcp", Header: map[string]string{"Authorization": "Bearer s3cret"}},
				"old": {URL: "https://localhost/sse", SSE: true},
				"cli": {Command: "tool", Args: []string{}, Env: map[string]string{}},
			}},
		{"Cursor, a URL without a type", `{"mcpServers":{"api":{"url":"https://h/mcp","headers":{"K":"${env:TOKEN}","Price":"$5 $NAME $(x)"}}}}`,
			servers{"api": {URL: "https://h/mcp", Header: map[string]string{"K": "s3cret", "Price": "$5 $NAME $(x)"}}}},
		{"VS Code, with comments and trailing commas", "{ // mine\n\"inputs\": [],\n\"servers\": {\"s\": {\"type\": \"stdio\", \"command\": \"c\", \"cwd\": \"/w\", \"env\": {\"N\": 1, \"U\": null,},}, /* last */},}",
			servers{"s": {Command: "c", Dir: "/w", Env: map[string]string{"N": "1"}}}},
		{"Crush, with echo and its own keys", `{"$schema":"https://charm.land/crush.json","lsp":{},"mcp":{
			"node":{"type":"stdio","command":"node","args":["$HOME/s.js"],"timeout":120,"disabled_tools":["rm"]},
			"hub":{"type":"http","url":"https://h/mcp/","headers":{"Authorization":"$(echo Bearer $TOKEN)"},"enabled_tools":["a","b"],"oauth":false},
			"club":{"type":"http","url":"https://h/mcp/","oauth":true},
			"stream":{"type":"sse","url":"https://h/sse","disabled":true}}}`,
			servers{
				"node":   {Command: "node", Args: []string{"/home/ada/s.js"}, Timeout: 2 * time.Minute, Deny: []string{"rm"}},
				"hub":    {URL: "https://h/mcp/", Header: map[string]string{"Authorization": "Bearer s3cret"}, Allow: []string{"a", "b"}, Login: &fleet.Login{Off: true}},
				"club":   {URL: "https://h/mcp/", Login: &fleet.Login{}},
				"stream": {URL: "https://h/sse", SSE: true, Disabled: true},
			}},
		{"Gemini, with milliseconds and its lists", `{"mcpServers":{"g":{"httpUrl":"https://h/mcp","timeout":30000,"trust":true,"includeTools":["a"],"excludeTools":["b"]}}}`,
			servers{"g": {URL: "https://h/mcp", Timeout: 30 * time.Second, Allow: []string{"a"}, Deny: []string{"b"}}}},
		{"logins as Claude Code, Cursor, Gemini and Codex write them", `{"mcpServers":{
			"claude":{"type":"http","url":"https://h/mcp","oauth":{"clientId":"c","callbackPort":8080}},
			"cursor":{"url":"https://h/mcp","auth":{"CLIENT_ID":"c","CLIENT_SECRET":"${TOKEN}","scopes":["read","write"]}},
			"gemini":{"httpUrl":"https://h/mcp","authProviderType":"dynamic_discovery","oauth":{"enabled":true,"scopes":"read write"}},
			"codex":{"url":"https://h/mcp","oauth_client_id":"c","oauth_client_secret":"s","oauth_callback_port":99}}}`,
			servers{
				"claude": {URL: "https://h/mcp", Login: &fleet.Login{ClientID: "c", Port: 8080}},
				"cursor": {URL: "https://h/mcp", Login: &fleet.Login{ClientID: "c", ClientSecret: "s3cret", Scopes: []string{"read", "write"}}},
				"gemini": {URL: "https://h/mcp", Login: &fleet.Login{Scopes: []string{"read", "write"}}},
				"codex":  {URL: "https://h/mcp", Login: &fleet.Login{ClientID: "c", ClientSecret: "s", Port: 99}},
			}},
		{"our own keys", `{"mcpServers":{
			"a":{"command":"c","eager":true,"timeout":"1m30s","tools":{"allow":["get_*"],"deny":["get_key"]}},
			"b":{"command":"c","lazy":false,"tools":["*"],"enabled":false}}}`,
			servers{
				"a": {Command: "c", Eager: true, Timeout: 90 * time.Second, Allow: []string{"get_*"}, Deny: []string{"get_key"}},
				"b": {Command: "c", Eager: true, Allow: []string{"*"}, Disabled: true},
			}},
		{"a disabled server needs no variables", `{"mcpServers":{"a":{"command":"${NOT_SET}","disabled":true}}}`,
			servers{"a": {Command: "${NOT_SET}", Disabled: true}}},
		{"no servers", `{"mcpServers":{}}`, servers{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := fleet.Parse([]byte(test.text), lookup)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got.Servers, test.want) {
				t.Errorf("got  %+v\nwant %+v", got.Servers, test.want)
			}
		})
	}
}

func TestTheConfigurationOfTheFoundingDocumentIsRead(t *testing.T) {
	text, err := os.ReadFile(need.Shared(t, "seeds", "003_788759c1d9207a0b.txt"))
	if err != nil {
		t.Fatal(err)
	}
	start := bytes.LastIndex(text, []byte("{\n  \"$schema\""))
	if start < 0 {
		t.Fatal("it has no configuration")
	}
	got, err := fleet.Parse(text[start:], func(name string) (string, bool) {
		return "value of " + name, name == "EXAMPLE_MCP_TOKEN" || name == "API_KEY"
	})
	if err != nil {
		t.Fatal(err)
	}
	want := servers{
		"filesystem":        {Command: "node", Args: []string{"/path/to/mcp-server.js"}, Env: map[string]string{"NODE_ENV": "production"}},
		"github":            {URL: "https://example.com/mcp/", Header: map[string]string{"Authorization": "Bearer value of EXAMPLE_MCP_TOKEN"}},
		"streaming-service": {URL: "https://example.com/mcp/sse", Header: map[string]string{"API-Key": "value of API_KEY"}, SSE: true},
	}
	if !reflect.DeepEqual(got.Servers, want) {
		t.Errorf("got  %+v\nwant %+v", got.Servers, want)
	}
}

func TestParseNamesWhatIsWrong(t *testing.T) {
	one := func(entry string) string { return `{"mcpServers":{"gh":` + entry + `}}` }
	tests := []struct{ name, text, want string }{
		{"no JSON", `{"mcpServers":`, "at byte"},
		{"a duplicate key", `{"mcpServers":{},"mcpServers":{}}`, "at byte"},
		{"no object", `[]`, "an array, not an object"},
		{"no servers", `{"theme":1}`, "mcpServers, servers, mcp"},
		{"a slip in the top key", `{"mcpServer":{}}`, `"mcpServer"; did you mean "mcpServers"?`},
		{"the wrong case of the top key", `{"mcpservers":{}}`, `did you mean "mcpServers"?`},
		{"two top keys", `{"mcpServers":{},"mcp":{}}`, "both"},
		{"a top key that is no object", `{"mcp":true}`, `"mcp" is a boolean`},
		{"an entry that is no object", one(`1`), `server "gh": is a number`},
		{"an unknown key with its neighbour", one(`{"comand":"x"}`), `server "gh": unknown key "comand"; did you mean "command"?`},
		{"keys are exact", one(`{"Command":"x"}`), `unknown key "Command"; did you mean "command"?`},
		{"an unknown key like none", one(`{"command":"x","colour":1}`), `unknown key "colour"`},
		{"an unknown key of tools", one(`{"command":"x","tools":{"alow":[]}}`), `"alow" in "tools"`},
		{"an unknown type", one(`{"type":"carrier","url":"http://h"}`), `unknown type "carrier"`},
		{"stdio without a command", one(`{"type":"stdio","url":"http://h"}`), `needs a "command"`},
		{"http without a URL", one(`{"type":"http","command":"x"}`), `needs a "url"`},
		{"neither", one(`{}`), `needs a "command" or a "url"`},
		{"both", one(`{"command":"x","url":"http://h"}`), "both a command and a URL"},
		{"headers of a command", one(`{"command":"x","headers":{}}`), `"headers" is for servers with a URL`},
		{"arguments of a URL", one(`{"url":"http://h","args":[]}`), `"args" is for servers with a command`},
		{"two URLs", one(`{"url":"http://h","httpUrl":"http://h"}`), "second URL"},
		{"args of the wrong kind", one(`{"command":"x","args":"y"}`), `"args" is a string`},
		{"an argument of the wrong kind", one(`{"command":"x","args":[1]}`), `"args" is a number`},
		{"an environment of the wrong kind", one(`{"command":"x","env":{"A":true}}`), `"env.A" is a boolean`},
		{"a name of a variable that cannot be", one(`{"command":"x","env":{"A=B":"1"}}`), "cannot be"},
		{"a zero byte", one(`{"command":"x\u0000"}`), "zero byte"},
		{"a number that is no truth", one(`{"command":"x","disabled":1}`), "not true or false"},
		{"seconds where milliseconds are counted", one(`{"command":"x","timeout":60}`), `such as "60s"`},
		{"a negative timeout", one(`{"command":"x","timeout":"-1s"}`), "more than nothing"},
		{"a timeout that is none", one(`{"command":"x","timeout":"soon"}`), "no duration"},
		{"two lists of allowed tools", one(`{"command":"x","tools":["a"],"allowedTools":["b"]}`), "second list"},
		{"an empty name", `{"mcp":{"":{"command":"x"}}}`, "has no name"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, err := fleet.Parse([]byte(test.text), lookup); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v; want %q", err, test.want)
			}
		})
	}
	_, err := fleet.Parse([]byte(`{"mcpServers":{"a":{"x":1},"b":{"y":1}}}`), lookup)
	if err == nil || !strings.Contains(err.Error(), `server "a"`) || !strings.Contains(err.Error(), `server "b"`) {
		t.Errorf("not all is reported: %v", err)
	}
}

func TestWhatIsMissingCostsOneServerOnly(t *testing.T) {
	tests := []struct{ name, entry, want string }{
		{"a variable in the environment", `{"command":"x","env":{"K":"${NOT_SET}"}}`, "variable K: the variable NOT_SET is not set"},
		{"a variable in an argument", `{"command":"x","args":["a","${NOT_SET}"]}`, "argument 2: the variable NOT_SET"},
		{"a variable in a header", `{"url":"http://h","headers":{"K":"${env:NOT_SET}"}}`, "header K: the variable NOT_SET"},
		{"an input of VS Code", `{"command":"x","env":{"K":"${input:key}"}}`, "nobody can be asked"},
		{"a file of variables", `{"command":"x","envFile":".env"}`, `list what the file sets under "env"`},
		{"a login by other means", `{"url":"http://h","oauth":{"tokenUrl":"https://x"}}`, `"oauth.tokenUrl" is not read`},
		{"a login of another kind", `{"url":"http://h","authProviderType":"google_credentials"}`, "not known"},
		{"a variable in a secret", `{"url":"http://h","oauth":{"clientSecret":"${NOT_SET}"}}`, "client secret: the variable NOT_SET"},
		{"a URL of another kind", `{"url":"ftp://h"}`, "http or https"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := fleet.Parse([]byte(`{"inputs":[{"id":"key"}],"servers":{"bad":`+test.entry+`,"good":{"command":"x"}}}`), lookup)
			if err != nil {
				t.Fatal(err)
			}
			if err := got.Servers["bad"].Err; err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v; want %q", err, test.want)
			}
			if err := got.Servers["good"].Err; err != nil {
				t.Errorf("the other server: %v", err)
			}
		})
	}
}

func TestAllows(t *testing.T) {
	tests := []struct {
		name    string
		config  fleet.ServerConfig
		yes, no string
	}{
		{name: "nothing said allows all", yes: "anything"},
		{name: "an empty list allows none", config: fleet.ServerConfig{Allow: []string{}}, no: "anything"},
		{name: "a list allows what it names", config: fleet.ServerConfig{Allow: []string{"a"}}, yes: "a", no: "ab"},
		{name: "denied wins", config: fleet.ServerConfig{Allow: []string{"*"}, Deny: []string{"rm"}}, yes: "ls", no: "rm"},
		{name: "a star stands for any text", config: fleet.ServerConfig{Allow: []string{"get_*_by_*"}}, yes: "get_user_by_id", no: "get_user"},
		{name: "a star may stand for nothing", config: fleet.ServerConfig{Deny: []string{"*x*"}}, yes: "y", no: "x"},
		{name: "the parts of a pattern do not overlap", config: fleet.ServerConfig{Allow: []string{"ab*ba"}}, yes: "abba", no: "aba"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.yes != "" && !test.config.Allows(test.yes) {
				t.Errorf("%q is not allowed", test.yes)
			}
			if test.no != "" && test.config.Allows(test.no) {
				t.Errorf("%q is allowed", test.no)
			}
		})
	}
}

func TestReconcile(t *testing.T) {
	base := fleet.ServerConfig{Command: "c", Args: []string{"a"}, Env: map[string]string{"K": "v"}}
	with := func(change func(*fleet.ServerConfig)) fleet.ServerConfig {
		c := base
		change(&c)
		return c
	}
	tests := []struct {
		name            string
		wanted, running servers
		want            string
	}{
		{"nothing to nothing", nil, nil, ""},
		{"all are new", servers{"b": base, "a": base}, nil, "add a, add b"},
		{"all are gone", nil, servers{"b": base, "a": base}, "remove a, remove b"},
		{"the same is left alone", servers{"a": base}, servers{"a": with(func(*fleet.ServerConfig) {})}, ""},
		{"no arguments are no arguments", servers{"a": {Command: "c", Args: []string{}}}, servers{"a": {Command: "c"}}, ""},
		{"another argument", servers{"a": with(func(c *fleet.ServerConfig) { c.Args = []string{"b"} })}, servers{"a": base}, "replace a"},
		{"another variable", servers{"a": with(func(c *fleet.ServerConfig) { c.Env = map[string]string{"K": "w"} })}, servers{"a": base}, "replace a"},
		{"another timeout", servers{"a": with(func(c *fleet.ServerConfig) { c.Timeout = 1 })}, servers{"a": base}, "replace a"},
		{"disabled", servers{"a": with(func(c *fleet.ServerConfig) { c.Disabled = true })}, servers{"a": base}, "replace a"},
		{"another header", servers{"a": {URL: "u", Header: map[string]string{"k": "1"}}}, servers{"a": {URL: "u"}}, "replace a"},
		{"other tools", servers{"a": with(func(c *fleet.ServerConfig) { c.Deny = []string{"x"} })}, servers{"a": base}, "adjust a"},
		{"all tools to no tools", servers{"a": with(func(c *fleet.ServerConfig) { c.Allow = []string{} })}, servers{"a": base}, "adjust a"},
		{"eager", servers{"a": with(func(c *fleet.ServerConfig) { c.Eager = true })}, servers{"a": base}, "adjust a"},
		{"some of everything", servers{"new": base, "same": base, "rules": with(func(c *fleet.ServerConfig) { c.Eager = true }), "other": {URL: "u"}},
			servers{"old": base, "same": base, "rules": base, "other": base}, "add new, remove old, replace other, adjust rules"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := strings.Join(fleet.Reconcile(test.wanted, test.running), ", ")
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
			if left := fleet.Reconcile(test.wanted, test.wanted); left != nil {
				t.Errorf("what is wanted is changed: %v", left)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"mcpServers":{"a":{"command":"c","args":["${HOME}"],"env":{"A":1},"tools":{"allow":["*"]}}}}`))
	f.Add([]byte(`{"mcp":{"a":{"type":"sse","url":"http://h","headers":{"K":"$(echo $TOKEN)"},"timeout":3}}}`))
	f.Add([]byte("{\"servers\":{\"a\":{\"type\":\"http\",\"url\":\"x\",},}, // c\n}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		config, err := fleet.Parse(text, lookup)
		if err != nil {
			return
		}
		for name, s := range config.Servers {
			if (s.Command == "") == (s.URL == "") && s.Err == nil && !s.Disabled {
				t.Fatalf("server %q is %+v", name, s)
			}
		}
		if left := fleet.Reconcile(config.Servers, config.Servers); left != nil {
			t.Fatalf("it differs from itself: %v", left)
		}
	})
}
