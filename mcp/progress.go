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

// AppendJSON appends the params as package json writes them, but for the token,
// which stays as it is. Handlers may report thousands of times.
func (p *ProgressParams) AppendJSON(dst []byte) ([]byte, error) {
	o := object{dst: append(dst, '{'), odd: p.Meta != nil}
	o.raw("progressToken", p.ProgressToken)
	o.number("progress", p.Progress)
	if p.Total != nil {
		o.number("total", *p.Total)
	}
	if p.Message != "" {
		o.text("message", p.Message)
	}
	return o.close(dst, p)
}

// CancelledParams tell that the answer to a request is no longer wanted.
type CancelledParams struct {
	Meta Meta `json:"_meta,omitzero"`
	// RequestID is the id of the request, a string or a number, exactly as its
	// sender wrote it.
	RequestID jsontext.Value `json:"requestId,omitzero"`
	Reason    string         `json:"reason,omitzero"` // for logs and people
}
