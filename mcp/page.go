package mcp

// PageParams asks for one page of a list.
type PageParams struct {
	Meta Meta `json:"_meta,omitzero"`
	// Cursor is where to go on: the NextCursor of the page before, unchanged.
	// Nil asks for the first page. An empty cursor is a cursor like any other.
	Cursor *string `json:"cursor,omitzero"`
}

// EmptyParams are the parameters of methods that take none but _meta, such as
// server/discover, ping, roots/list and the list_changed notifications.
type EmptyParams struct {
	Meta Meta `json:"_meta,omitzero"`
}

// EmptyResult says that a request went well and has nothing more to tell.
type EmptyResult struct {
	Meta       Meta   `json:"_meta,omitzero"`
	ResultType string `json:"resultType,omitzero"`
}

// Values of the member cacheScope: who may keep an answer and give it to others.
const (
	// CachePublic allows anybody to keep the answer and to serve it to anybody.
	CachePublic = "public"
	// CachePrivate allows reuse only for the caller that was authorised.
	CachePrivate = "private"
)
