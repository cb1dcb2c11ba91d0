package mcp

import "github.com/go-json-experiment/json/jsontext"

// ProgressParams tell how far a request is.
type ProgressParams struct {
	Meta Meta `json:"_meta,omitzero"`
	// ProgressToken is the token of the request, a string or a number, exactly
	// as the caller wrote it.
	ProgressToken jsontext.Value `json:"progressToken"`
	// Progress grows with every notification, in units of the sender's choice.
	Progress float64 `json:"progress"`
	// Total is where Progress ends, in the same units; nil when unknown.
	Total   *float64 `json:"total,omitzero"`
	Message string   `json:"message,omitzero"`
}

// CancelledParams tell that the answer to a request is no longer wanted.
type CancelledParams struct {
	Meta Meta `json:"_meta,omitzero"`
	// RequestID is the id of the request, a string or a number, exactly as its
	// sender wrote it.
	RequestID jsontext.Value `json:"requestId,omitzero"`
	Reason    string         `json:"reason,omitzero"` // for logs and people
}
