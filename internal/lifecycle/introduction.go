package lifecycle

import (
	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/mcp"
)

// What either side says of itself at the start is read by hand where it is as usual:
// package json is not slow at it, but takes longer than all the rest to make ready.
// The text must be strict JSON, as every message is that was taken.

// readInfo reads who somebody is, as package json would.
func readInfo(text []byte, info *mcp.Implementation) error {
	usual := jsonscan.KindOf(text) == jsonscan.Object
	for name, value := range jsonscan.Members(text) {
		var to *string
		switch string(name) {
		case "name":
			to = &info.Name
		case "title":
			to = &info.Title
		case "version":
			to = &info.Version
		case "description":
			to = &info.Description
		case "websiteUrl":
			to = &info.WebsiteURL
		case "icons":
			usual = false
			continue
		default:
			continue
		}
		*to = jsonscan.Unquote(value)
		usual = usual && jsonscan.KindOf(value) == jsonscan.String
	}
	if usual {
		return nil
	}
	*info = mcp.Implementation{}
	return json.Unmarshal(text, info)
}

// readCapabilities reads what a client can do, as package json would.
func readCapabilities(text []byte, can *mcp.ClientCapabilities) error {
	usual := jsonscan.KindOf(text) == jsonscan.Object
	for name, value := range jsonscan.Members(text) {
		switch string(name) {
		case "roots":
			changes := string(value) == `{"listChanged":true}`
			can.Roots = &mcp.RootsCapability{ListChanged: changes}
			usual = usual && (changes || string(value) == "{}")
		case "sampling":
			can.Sampling = &mcp.SamplingCapability{}
			usual = usual && string(value) == "{}"
		case "elicitation":
			can.Elicitation = &mcp.ElicitationCapability{}
			usual = usual && string(value) == "{}"
		case "experimental", "extensions":
			usual = false
		}
	}
	if usual {
		return nil
	}
	*can = mcp.ClientCapabilities{}
	return json.Unmarshal(text, can)
}

// readInitialize reads the params of initialize. What they lack stays empty.
func readInitialize(text []byte) (p mcp.InitializeParams, err error) {
	p.ProtocolVersion = jsonscan.Unquote(jsonscan.Get(text, "protocolVersion"))
	if raw := jsonscan.Get(text, "capabilities"); raw != nil {
		err = readCapabilities(raw, &p.Capabilities)
	}
	if raw := jsonscan.Get(text, "clientInfo"); raw != nil && err == nil {
		err = readInfo(raw, &p.ClientInfo)
	}
	return p, err
}
