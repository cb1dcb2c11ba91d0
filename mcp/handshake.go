package mcp

// InitializeParams opens a connection: older revisions only.
type InitializeParams struct {
	Meta            Meta               `json:"_meta,omitzero"`
	ProtocolVersion string             `json:"protocolVersion"` // the newest that the client likes
	Capabilities    ClientCapabilities `json:"capabilities"`
	ClientInfo      Implementation     `json:"clientInfo"`
}

// InitializeResult answers InitializeParams: older revisions only.
type InitializeResult struct {
	Meta            Meta               `json:"_meta,omitzero"`
	ProtocolVersion string             `json:"protocolVersion"` // what both will speak
	Capabilities    ServerCapabilities `json:"capabilities"`
	ServerInfo      Implementation     `json:"serverInfo"`
	// Instructions help a model to use the server.
	Instructions string `json:"instructions,omitzero"`
}

// SetLevelParams sets the least severe level of the log messages to come: older
// revisions only.
type SetLevelParams struct {
	Meta  Meta         `json:"_meta,omitzero"`
	Level LoggingLevel `json:"level"`
}

// SubscribeParams asks to be told when a resource changes: older revisions only.
type SubscribeParams struct {
	Meta Meta   `json:"_meta,omitzero"`
	URI  string `json:"uri"`
}

// UnsubscribeParams ends what SubscribeParams began: older revisions only.
type UnsubscribeParams = SubscribeParams
