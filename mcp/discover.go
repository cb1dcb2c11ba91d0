package mcp

// DiscoverParams asks a server what it is.
type DiscoverParams = EmptyParams

// DiscoverResult is what a server tells about itself. Its name and version
// travel in Meta.
type DiscoverResult struct {
	Meta       Meta   `json:"_meta,omitzero"`
	ResultType string `json:"resultType,omitzero"`
	// TTLMs is for how many milliseconds the answer stays fresh; 0 is stale at
	// once, nil says nothing.
	TTLMs      *int64 `json:"ttlMs,omitzero"`
	CacheScope string `json:"cacheScope,omitzero"` // CachePublic or CachePrivate
	// SupportedVersions are the protocol revisions that the server speaks.
	SupportedVersions []string           `json:"supportedVersions"`
	Capabilities      ServerCapabilities `json:"capabilities"`
	// Instructions help a model to use the server, beyond the tools' own
	// descriptions.
	Instructions string `json:"instructions,omitzero"`
}
