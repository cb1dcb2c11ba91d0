package mcp

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Values of CreateMessageParams.IncludeContext.
const (
	IncludeNone       = "none"
	IncludeThisServer = "thisServer"
	IncludeAllServers = "allServers"
)

// Values of CreateMessageResult.StopReason that all clients know. A client may
// have others.
const (
	StopEndTurn   = "endTurn"
	StopSequence  = "stopSequence"
	StopMaxTokens = "maxTokens"
	StopToolUse   = "toolUse"
)

// CreateMessageParams asks the client for an answer of its model. The newest
// revision deprecates sampling and still carries it.
type CreateMessageParams struct {
	Meta             Meta              `json:"_meta,omitzero"` // older revisions only
	Messages         []SamplingMessage `json:"messages"`
	ModelPreferences *ModelPreferences `json:"modelPreferences,omitzero"`
	SystemPrompt     string            `json:"systemPrompt,omitzero"`
	// IncludeContext asks for the context of servers. Empty means IncludeNone.
	// The other two need the client's capability sampling.context.
	IncludeContext string   `json:"includeContext,omitzero"`
	Temperature    *float64 `json:"temperature,omitzero"`
	MaxTokens      int64    `json:"maxTokens"` // the client may use fewer
	StopSequences  []string `json:"stopSequences,omitzero"`
	// Metadata is an object for the provider of the model.
	Metadata jsontext.Value `json:"metadata,omitzero"`
	// Tools and ToolChoice need the client's capability sampling.tools.
	Tools      []Tool      `json:"tools,omitzero"`
	ToolChoice *ToolChoice `json:"toolChoice,omitzero"`
}

// SamplingMessage is a message to or from a model.
type SamplingMessage struct {
	Role Role `json:"role"`
	// Content is written as an object when it is one block, all that older
	// revisions understand, and as an array otherwise. Both are read.
	Content Contents `json:"content"`
	Meta    Meta     `json:"_meta,omitzero"`
}

type samplingMessageWire struct {
	Role    Role            `json:"role"`
	Content messageContents `json:"content"`
	Meta    Meta            `json:"_meta,omitzero"`
}

// MarshalJSONTo writes the message, one block as an object.
func (m *SamplingMessage) MarshalJSONTo(enc *jsontext.Encoder) error {
	return json.MarshalEncode(enc, &samplingMessageWire{m.Role, messageContents(m.Content), m.Meta})
}

// UnmarshalJSONFrom reads a message with one block or an array of them.
func (m *SamplingMessage) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var wire samplingMessageWire
	if err := json.UnmarshalDecode(dec, &wire); err != nil {
		return err
	}
	*m = SamplingMessage{Role: wire.Role, Content: Contents(wire.Content), Meta: wire.Meta}
	return nil
}

// ModelPreferences say what matters in the choice of a model. The client may
// ignore them. Priorities run from 0, unimportant, to 1, most important; nil
// says nothing.
type ModelPreferences struct {
	// Hints come before the priorities; the first that fits wins.
	Hints                []ModelHint `json:"hints,omitzero"`
	CostPriority         *float64    `json:"costPriority,omitzero"`
	SpeedPriority        *float64    `json:"speedPriority,omitzero"`
	IntelligencePriority *float64    `json:"intelligencePriority,omitzero"`
}

// ModelHint is part of a model's name.
type ModelHint struct {
	Name string `json:"name,omitzero"`
}

// ToolChoice says whether the model may or must use tools.
type ToolChoice struct {
	// Mode is "auto", "required" or "none"; empty means the first.
	Mode string `json:"mode,omitzero"`
}

// CreateMessageResult is the model's answer.
type CreateMessageResult struct {
	Meta Meta `json:"_meta,omitzero"`
	Role Role `json:"role"`
	// Content is written and read as that of SamplingMessage.
	Content    Contents `json:"content"`
	Model      string   `json:"model"` // the name of the model that was used
	StopReason string   `json:"stopReason,omitzero"`
}

type createMessageResultWire struct {
	Meta       Meta            `json:"_meta,omitzero"`
	Role       Role            `json:"role"`
	Content    messageContents `json:"content"`
	Model      string          `json:"model"`
	StopReason string          `json:"stopReason,omitzero"`
}

// MarshalJSONTo writes the answer, one block as an object.
func (r *CreateMessageResult) MarshalJSONTo(enc *jsontext.Encoder) error {
	return json.MarshalEncode(enc, &createMessageResultWire{
		Meta: r.Meta, Role: r.Role, Content: messageContents(r.Content), Model: r.Model, StopReason: r.StopReason,
	})
}

// UnmarshalJSONFrom reads an answer with one block or an array of them.
func (r *CreateMessageResult) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var wire createMessageResultWire
	if err := json.UnmarshalDecode(dec, &wire); err != nil {
		return err
	}
	*r = CreateMessageResult{
		Meta: wire.Meta, Role: wire.Role, Content: Contents(wire.Content), Model: wire.Model, StopReason: wire.StopReason,
	}
	return nil
}
