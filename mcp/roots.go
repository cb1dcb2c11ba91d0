package mcp

// Root is a folder or file that the server may work on. The newest revision
// deprecates roots and still carries them.
type Root struct {
	URI  string `json:"uri"` // a file URI
	Name string `json:"name,omitzero"`
	Meta Meta   `json:"_meta,omitzero"`
}

// ListRootsParams asks the client for its roots.
type ListRootsParams = EmptyParams

// ListRootsResult is all the client's roots; there are no pages.
type ListRootsResult struct {
	Meta  Meta   `json:"_meta,omitzero"` // older revisions only
	Roots []Root `json:"roots"`
}
