package mcp

import "github.com/go-json-experiment/json/jsontext"

// The modes of ElicitParams.
const (
	ElicitForm = "form"
	ElicitURL  = "url"
)

// ElicitParams asks the client's user a question, by a form or by a visit to a
// URL. Nothing secret may be asked in a form.
type ElicitParams struct {
	Meta    Meta   `json:"_meta,omitzero"` // older revisions only
	Mode    string `json:"mode,omitzero"`  // ElicitForm or ElicitURL; empty means the first
	Message string `json:"message"`
	// RequestedSchema describes the form: a FormSchema. Nil for a URL.
	RequestedSchema jsontext.Value `json:"requestedSchema,omitzero"`
	URL             string         `json:"url,omitzero"`
	// ElicitationID tells visits to URLs apart: older revisions only.
	ElicitationID string `json:"elicitationId,omitzero"`
}

// ElicitAction is what the user did with the question.
type ElicitAction string

// The actions.
const (
	ElicitAccept  ElicitAction = "accept"  // sent the form, or agreed to the visit
	ElicitDecline ElicitAction = "decline" // said no
	ElicitCancel  ElicitAction = "cancel"  // went away without a choice
)

// ElicitResult is the user's answer.
type ElicitResult struct {
	Meta   Meta         `json:"_meta,omitzero"` // older revisions only
	Action ElicitAction `json:"action"`
	// Content is the object of the form's values. Nil unless a form was accepted.
	Content jsontext.Value `json:"content,omitzero"`
}

// ElicitationCompleteParams tell that the visit to a URL is over: older
// revisions only.
type ElicitationCompleteParams struct {
	Meta          Meta   `json:"_meta,omitzero"`
	ElicitationID string `json:"elicitationId"`
}
