package mcp

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Resource describes something that a client can read.
type Resource struct {
	URI         string       `json:"uri"`
	Name        string       `json:"name"`
	Title       string       `json:"title,omitzero"` // for people; Name when empty
	Description string       `json:"description,omitzero"`
	MIMEType    string       `json:"mimeType,omitzero"`
	Annotations *Annotations `json:"annotations,omitzero"`
	// Size is the number of bytes before any encoding; nil when unknown.
	Size  *int64 `json:"size,omitzero"`
	Icons []Icon `json:"icons,omitzero"`
	Meta  Meta   `json:"_meta,omitzero"`
}

// ResourceTemplate describes a family of resources.
type ResourceTemplate struct {
	URITemplate string `json:"uriTemplate"` // as in RFC 6570
	Name        string `json:"name"`
	Title       string `json:"title,omitzero"` // for people; Name when empty
	Description string `json:"description,omitzero"`
	// MIMEType is set only when every resource of the family has it.
	MIMEType    string       `json:"mimeType,omitzero"`
	Annotations *Annotations `json:"annotations,omitzero"`
	Icons       []Icon       `json:"icons,omitzero"`
	Meta        Meta         `json:"_meta,omitzero"`
}

// ResourceContents is a resource, or a part of one, as it was read: text or
// bytes. It is written with Blob when Blob is not nil, even if empty, and with
// Text otherwise, even if empty.
type ResourceContents struct {
	URI      string `json:"uri"`
	MIMEType string `json:"mimeType,omitzero"`
	Text     string `json:"text,omitzero"`
	// Blob is the bytes themselves: the base64 of the wire is made and undone
	// on the way.
	Blob []byte `json:"blob,omitzero"`
	Meta Meta   `json:"_meta,omitzero"`
}

// resourceContentsWire tells apart what is absent and what is empty.
type resourceContentsWire struct {
	URI      string  `json:"uri"`
	MIMEType string  `json:"mimeType,omitzero"`
	Text     *string `json:"text,omitzero"`
	Blob     *[]byte `json:"blob,omitzero"`
	Meta     Meta    `json:"_meta,omitzero"`
}

// MarshalJSONTo writes exactly one of text and blob.
func (c *ResourceContents) MarshalJSONTo(enc *jsontext.Encoder) error {
	wire := resourceContentsWire{URI: c.URI, MIMEType: c.MIMEType, Meta: c.Meta}
	if c.Blob != nil {
		wire.Blob = &c.Blob
	} else {
		wire.Text = &c.Text
	}
	return json.MarshalEncode(enc, &wire)
}

// ListResourcesParams asks for one page of resources.
type ListResourcesParams = PageParams

// ListResourcesResult is one page of resources.
type ListResourcesResult struct {
	Meta       Meta   `json:"_meta,omitzero"`
	ResultType string `json:"resultType,omitzero"`
	// TTLMs is for how many milliseconds the answer stays fresh; 0 is stale at
	// once, nil says nothing.
	TTLMs      *int64     `json:"ttlMs,omitzero"`
	CacheScope string     `json:"cacheScope,omitzero"` // CachePublic or CachePrivate
	Resources  []Resource `json:"resources"`
	// NextCursor asks for the next page; nil on the last.
	NextCursor *string `json:"nextCursor,omitzero"`
}

// ListResourceTemplatesParams asks for one page of resource templates.
type ListResourceTemplatesParams = PageParams

// ListResourceTemplatesResult is one page of resource templates.
type ListResourceTemplatesResult struct {
	Meta       Meta   `json:"_meta,omitzero"`
	ResultType string `json:"resultType,omitzero"`
	// TTLMs is for how many milliseconds the answer stays fresh; 0 is stale at
	// once, nil says nothing.
	TTLMs             *int64             `json:"ttlMs,omitzero"`
	CacheScope        string             `json:"cacheScope,omitzero"` // CachePublic or CachePrivate
	ResourceTemplates []ResourceTemplate `json:"resourceTemplates"`
	// NextCursor asks for the next page; nil on the last.
	NextCursor *string `json:"nextCursor,omitzero"`
}

// ReadResourceParams reads a resource.
type ReadResourceParams struct {
	Meta Meta   `json:"_meta,omitzero"`
	URI  string `json:"uri"`
	// InputResponses and RequestState carry the answers to an earlier question
	// when the request is made again.
	InputResponses InputResponses `json:"inputResponses,omitzero"`
	RequestState   *string        `json:"requestState,omitzero"`
}

// ReadResourceResult is what was read: often one item, more for a resource that
// has parts.
type ReadResourceResult struct {
	Meta       Meta   `json:"_meta,omitzero"`
	ResultType string `json:"resultType,omitzero"`
	// TTLMs is for how many milliseconds the answer stays fresh; 0 is stale at
	// once, nil says nothing.
	TTLMs      *int64             `json:"ttlMs,omitzero"`
	CacheScope string             `json:"cacheScope,omitzero"` // CachePublic or CachePrivate
	Contents   []ResourceContents `json:"contents"`
}

// ResourceUpdatedParams tell that a resource may need to be read again.
type ResourceUpdatedParams struct {
	Meta Meta `json:"_meta,omitzero"`
	// URI may be that of a part of the resource that the client subscribed to.
	URI string `json:"uri"`
}
