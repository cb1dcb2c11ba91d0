package mcp

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Meta is a _meta object as raw JSON, nil when there is none.
type Meta = jsontext.Value

// The keys of _meta that the protocol defines.
const (
	MetaProgressToken      = "progressToken"
	MetaProtocolVersion    = "io.modelcontextprotocol/protocolVersion"
	MetaClientInfo         = "io.modelcontextprotocol/clientInfo"
	MetaClientCapabilities = "io.modelcontextprotocol/clientCapabilities"
	MetaLogLevel           = "io.modelcontextprotocol/logLevel"
	MetaSubscriptionID     = "io.modelcontextprotocol/subscriptionId"
	MetaServerInfo         = "io.modelcontextprotocol/serverInfo"
)

// marshal writes v as JSON; raw JSON stays as it is.
func marshal(v any) (jsontext.Value, error) {
	if raw, ok := v.(jsontext.Value); ok {
		return raw, nil
	}
	return json.Marshal(v)
}
