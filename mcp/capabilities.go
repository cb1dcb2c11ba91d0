package mcp

import "github.com/go-json-experiment/json/jsontext"

// Supported marks a capability by its presence alone; it is written as an empty
// object.
type Supported struct{}

// ClientCapabilities say what a client can do for a server. A nil field is a
// capability that the client does not have.
type ClientCapabilities struct {
	// Experimental capabilities are outside the protocol; each value is an object.
	Experimental map[string]jsontext.Value `json:"experimental,omitzero"`
	Roots        *RootsCapability          `json:"roots,omitzero"`
	Sampling     *SamplingCapability       `json:"sampling,omitzero"`
	Elicitation  *ElicitationCapability    `json:"elicitation,omitzero"`
	// Extensions maps the identifier of an extension to an object of settings.
	Extensions map[string]jsontext.Value `json:"extensions,omitzero"`
}

// RootsCapability: the client can list its roots.
type RootsCapability struct {
	// ListChanged promises a notification on change: older revisions only.
	ListChanged bool `json:"listChanged,omitzero"`
}

// SamplingCapability: the client can ask a model.
type SamplingCapability struct {
	Context *Supported `json:"context,omitzero"` // it honours IncludeContext
	Tools   *Supported `json:"tools,omitzero"`   // it honours Tools and ToolChoice
}

// ElicitationCapability: the client can ask its user. Use HasForm and HasURL to
// read it: an empty object means forms.
type ElicitationCapability struct {
	Form *Supported `json:"form,omitzero"`
	URL  *Supported `json:"url,omitzero"`
}

// HasForm tells whether the client can show a form. It is false for nil.
func (c *ElicitationCapability) HasForm() bool {
	return c != nil && (c.Form != nil || c.URL == nil)
}

// HasURL tells whether the client can send its user to a URL. It is false for
// nil.
func (c *ElicitationCapability) HasURL() bool {
	return c != nil && c.URL != nil
}

// ServerCapabilities say what a server offers. A nil field is a capability that
// the server does not have.
type ServerCapabilities struct {
	// Experimental capabilities are outside the protocol; each value is an object.
	Experimental map[string]jsontext.Value `json:"experimental,omitzero"`
	Logging      *Supported                `json:"logging,omitzero"`
	Completions  *Supported                `json:"completions,omitzero"`
	Prompts      *PromptsCapability        `json:"prompts,omitzero"`
	Resources    *ResourcesCapability      `json:"resources,omitzero"`
	Tools        *ToolsCapability          `json:"tools,omitzero"`
	// Extensions maps the identifier of an extension to an object of settings.
	Extensions map[string]jsontext.Value `json:"extensions,omitzero"`
}

// PromptsCapability: the server has prompts.
type PromptsCapability struct {
	ListChanged bool `json:"listChanged,omitzero"` // it tells when the list changes
}

// ResourcesCapability: the server has resources.
type ResourcesCapability struct {
	Subscribe   bool `json:"subscribe,omitzero"`   // it tells when a resource changes
	ListChanged bool `json:"listChanged,omitzero"` // it tells when the list changes
}

// ToolsCapability: the server has tools.
type ToolsCapability struct {
	ListChanged bool `json:"listChanged,omitzero"` // it tells when the list changes
}
