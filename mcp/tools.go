package mcp

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Tool describes a tool to clients and models.
type Tool struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitzero"` // for people; see DisplayName
	Description string `json:"description,omitzero"`
	// InputSchema is the JSON Schema of the arguments, an object with the type
	// "object" at its root. Nil is written as a schema that allows any object.
	InputSchema jsontext.Value `json:"inputSchema"`
	// OutputSchema is the JSON Schema of StructuredContent. Nil promises nothing.
	OutputSchema jsontext.Value   `json:"outputSchema,omitzero"`
	Annotations  *ToolAnnotations `json:"annotations,omitzero"`
	Icons        []Icon           `json:"icons,omitzero"`
	// Execution is for older revisions only.
	Execution *ToolExecution `json:"execution,omitzero"`
	Meta      Meta           `json:"_meta,omitzero"`
}

// DisplayName returns what to show to people: the title, else the title among
// the annotations, else the name.
func (t *Tool) DisplayName() string {
	switch {
	case t.Title != "":
		return t.Title
	case t.Annotations != nil && t.Annotations.Title != "":
		return t.Annotations.Title
	}
	return t.Name
}

// toolFields is Tool without methods.
type toolFields Tool

// MarshalJSONTo writes the tool, with an input schema in any case.
func (t *Tool) MarshalJSONTo(enc *jsontext.Encoder) error {
	fields := (*toolFields)(t)
	if t.InputSchema == nil {
		withSchema := *fields
		withSchema.InputSchema = jsontext.Value(`{"type":"object"}`)
		fields = &withSchema
	}
	return json.MarshalEncode(enc, fields)
}

// ToolAnnotations are the server's hints about a tool. A client must not trust
// the hints of a server that it does not trust. Nil means the default.
type ToolAnnotations struct {
	Title string `json:"title,omitzero"`
	// ReadOnlyHint: the tool changes nothing. Default false.
	ReadOnlyHint *bool `json:"readOnlyHint,omitzero"`
	// DestructiveHint: the tool may destroy, not only add. Default true. It has
	// a meaning only for tools that are not read-only.
	DestructiveHint *bool `json:"destructiveHint,omitzero"`
	// IdempotentHint: a second call with the same arguments changes nothing
	// more. Default false. It has a meaning only for tools that are not
	// read-only.
	IdempotentHint *bool `json:"idempotentHint,omitzero"`
	// OpenWorldHint: the tool deals with things outside, as a web search does.
	// Default true.
	OpenWorldHint *bool `json:"openWorldHint,omitzero"`
}

// ToolExecution says whether a tool's answer may be a deferred result: older
// revisions only.
type ToolExecution struct {
	// TaskSupport is "forbidden", "optional" or "required"; empty means the first.
	TaskSupport string `json:"taskSupport,omitzero"`
}

// ListToolsParams asks for one page of tools.
type ListToolsParams = PageParams

// ListToolsResult is one page of tools.
type ListToolsResult struct {
	Meta       Meta   `json:"_meta,omitzero"`
	ResultType string `json:"resultType,omitzero"`
	// TTLMs is for how many milliseconds the answer stays fresh; 0 is stale at
	// once, nil says nothing.
	TTLMs      *int64 `json:"ttlMs,omitzero"`
	CacheScope string `json:"cacheScope,omitzero"` // CachePublic or CachePrivate
	Tools      []Tool `json:"tools"`
	// NextCursor asks for the next page; nil on the last.
	NextCursor *string `json:"nextCursor,omitzero"`
}

// CallToolParams calls a tool.
type CallToolParams struct {
	Meta Meta   `json:"_meta,omitzero"`
	Name string `json:"name"`
	// Arguments is an object as the caller wrote it. Nil, when it is absent,
	// stands for an empty object.
	Arguments jsontext.Value `json:"arguments,omitzero"`
	// InputResponses and RequestState carry the answers to an earlier question
	// when the call is made again.
	InputResponses InputResponses `json:"inputResponses,omitzero"`
	RequestState   *string        `json:"requestState,omitzero"`
}

// CallToolResult is what a tool answers, its failures included.
type CallToolResult struct {
	Meta       Meta     `json:"_meta,omitzero"`
	ResultType string   `json:"resultType,omitzero"`
	Content    Contents `json:"content"`
	// StructuredContent is any JSON that fits the tool's output schema. Nil is
	// no structured content; the JSON null is some.
	StructuredContent jsontext.Value `json:"structuredContent,omitzero"`
	// IsError marks a failure of the tool that the model should read. It is
	// always written.
	IsError bool `json:"isError"`
}
