package mcp

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Prompt describes a prompt or a template of one.
type Prompt struct {
	Name        string           `json:"name"`
	Title       string           `json:"title,omitzero"` // for people; Name when empty
	Description string           `json:"description,omitzero"`
	Arguments   []PromptArgument `json:"arguments,omitzero"`
	Icons       []Icon           `json:"icons,omitzero"`
	Meta        Meta             `json:"_meta,omitzero"`
}

// PromptArgument describes an argument of a prompt; its value is always text.
type PromptArgument struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitzero"` // for people; Name when empty
	Description string `json:"description,omitzero"`
	Required    bool   `json:"required,omitzero"`
}

// PromptMessage is one message of a prompt.
type PromptMessage struct {
	Role Role `json:"role"`
	// Content must not be nil. It is neither a tool use nor a tool result.
	Content Content `json:"content"`
}

type promptMessageWire struct {
	Role    Role       `json:"role"`
	Content oneContent `json:"content"`
}

// MarshalJSONTo writes the message. It fails when there is no content.
func (m *PromptMessage) MarshalJSONTo(enc *jsontext.Encoder) error {
	return json.MarshalEncode(enc, &promptMessageWire{m.Role, oneContent{m.Content}})
}

// UnmarshalJSONFrom reads a message whose content may be of any type.
func (m *PromptMessage) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var wire promptMessageWire
	if err := json.UnmarshalDecode(dec, &wire); err != nil {
		return err
	}
	*m = PromptMessage{Role: wire.Role, Content: wire.Content.block}
	return nil
}

// ListPromptsParams asks for one page of prompts.
type ListPromptsParams = PageParams

// ListPromptsResult is one page of prompts.
type ListPromptsResult struct {
	Meta       Meta   `json:"_meta,omitzero"`
	ResultType string `json:"resultType,omitzero"`
	// TTLMs is for how many milliseconds the answer stays fresh; 0 is stale at
	// once, nil says nothing.
	TTLMs      *int64   `json:"ttlMs,omitzero"`
	CacheScope string   `json:"cacheScope,omitzero"` // CachePublic or CachePrivate
	Prompts    []Prompt `json:"prompts"`
	// NextCursor asks for the next page; nil on the last.
	NextCursor *string `json:"nextCursor,omitzero"`
}

// GetPromptParams asks for a prompt with its arguments filled in.
type GetPromptParams struct {
	Meta      Meta              `json:"_meta,omitzero"`
	Name      string            `json:"name"`
	Arguments map[string]string `json:"arguments,omitzero"`
	// InputResponses and RequestState carry the answers to an earlier question
	// when the request is made again.
	InputResponses InputResponses `json:"inputResponses,omitzero"`
	RequestState   *string        `json:"requestState,omitzero"`
}

// GetPromptResult is a prompt, ready for a model.
type GetPromptResult struct {
	Meta        Meta            `json:"_meta,omitzero"`
	ResultType  string          `json:"resultType,omitzero"`
	Description string          `json:"description,omitzero"`
	Messages    []PromptMessage `json:"messages"`
}
