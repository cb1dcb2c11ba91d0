package fleet

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bossman-mcp/bossman/internal/config"
	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/internal/spelling"
)

// Config says which servers there are.
type Config struct {
	Servers map[string]ServerConfig // by name
}

// ServerConfig is one server: a Command to start or a URL to call.
type ServerConfig struct {
	Command string            // the program; no shell sees it
	Args    []string          // of Command
	Env     map[string]string // for Command, besides [Options.Env]
	Dir     string            // where Command runs; empty: here

	URL    string            // http or https
	Header map[string]string // goes with every request to URL, such as an API key
	SSE    bool              // URL is of the oldest revision, HTTP with SSE
	Login  *Login            // how to log in at URL; nil: nothing is said about it

	// Disabled servers are shown and never started.
	Disabled bool
	// Eager servers are started with the fleet, others when they are first needed.
	Eager bool
	// Allow and Deny are names of tools, in which * stands for any text. A tool
	// must be allowed and not denied. Nil Allow allows all, an empty one none.
	Allow, Deny []string
	// Timeout is how long a call waits for its answer, as in client.Options.
	Timeout time.Duration
	// Err is why the server cannot be used though its entry makes sense, such as
	// a variable that is not set. The other servers can.
	Err error
}

// shape is how one kind of client writes its servers down.
type shape struct {
	key   string        // whose value holds the servers
	shell bool          // values are expanded as a shell would
	unit  time.Duration // of timeouts that are numbers
}

func shapes() []shape {
	return []shape{
		{key: "mcpServers", unit: time.Millisecond},  // Claude, Cursor and most others
		{key: "servers", unit: time.Millisecond},     // VS Code
		{key: "mcp", shell: true, unit: time.Second}, // Crush
	}
}

// maxDepth is how deep a configuration may be nested.
const maxDepth = 100

// Parse reads the servers from a configuration file of an MCP client: from its
// "mcpServers" (Claude, Cursor and many others), "servers" (VS Code) or "mcp"
// (Crush). What else is in the file is the client's own and passed over.
//
// The text is JSON, with comments and trailing commas allowed, as VS Code writes
// it. Keys of a server are exact; one that is not known is an error that names
// the server and the key that may have been meant. All that is wrong is reported
// at once.
//
// In commands, arguments, folders, URLs, and values of the environment and of
// headers, ${NAME}, ${env:NAME} and ${NAME:-otherwise} stand for variables, which
// lookup knows; nil knows none. In Crush's form so do $NAME and $(echo … $NAME …),
// for which no shell is run. A variable that is not set makes only its server
// unusable, see [ServerConfig.Err]. So does what only a client can give, such as
// an ${input:…} of VS Code.
//
// A timeout is a text such as "30s", or a number in the client's unit: seconds
// for Crush, milliseconds elsewhere.
func Parse(text []byte, lookup func(name string) (value string, ok bool)) (*Config, error) {
	plain, err := config.Plain(text)
	if err == nil {
		err = jsonscan.Check(plain, maxDepth)
	}
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	how, servers, err := find(plain)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	parsed := &Config{Servers: make(map[string]ServerConfig)}
	var problems []error
	for name, raw := range jsonscan.Members(servers) {
		e := &entry{name: string(name), shape: how, expander: config.Expander{Lookup: lookup, Shell: how.shell}}
		parsed.Servers[e.name] = e.read(raw)
		problems = append(problems, e.problems...)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	return parsed, nil
}

// find returns the servers of a file.
func find(file []byte) (shape, []byte, error) {
	if kind := jsonscan.KindOf(jsonscan.Trim(file)); kind != jsonscan.Object {
		return shape{}, nil, fmt.Errorf("it is %s, not an object", nameOf(kind))
	}
	var found shape
	var servers []byte
	var known []string
	for _, s := range shapes() {
		known = append(known, s.key)
		value := jsonscan.Get(file, s.key)
		switch {
		case value == nil:
		case servers != nil:
			return shape{}, nil, fmt.Errorf("it has both %q and %q", found.key, s.key)
		case jsonscan.KindOf(value) != jsonscan.Object:
			return shape{}, nil, fmt.Errorf("%q is %s, not an object", s.key, nameOf(jsonscan.KindOf(value)))
		default:
			found, servers = s, value
		}
	}
	if servers != nil {
		return found, servers, nil
	}
	for name := range jsonscan.Members(file) {
		if meant, ok := spelling.Nearest(string(name), known); ok {
			return shape{}, nil, fmt.Errorf("unknown key %q; did you mean %q?", name, meant)
		}
	}
	return shape{}, nil, fmt.Errorf("it names no servers: it needs one of %s", strings.Join(known, ", "))
}

// nameOf names a kind of value in a sentence.
func nameOf(kind jsonscan.Kind) string {
	switch kind {
	case jsonscan.Array, jsonscan.Object:
		return "an " + kind.String()
	case jsonscan.Null:
		return "null"
	}
	return "a " + kind.String()
}
