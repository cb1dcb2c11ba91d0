package lifecycle

import (
	"context"
	"crypto/rand"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
)

// shapeQuestion gives a question to the client the form of a revision: forms
// come without a mode where there is no other, and visits to a URL have an id.
func shapeQuestion(rev *revision.Revision, q mcp.InputRequest) any {
	if q.Params == nil {
		return nil
	}
	if q.Method != mcp.MethodElicit || jsonscan.Get(q.Params, "mode") == nil {
		return q.Params
	}
	var p mcp.ElicitParams
	if err := json.Unmarshal(q.Params, &p); err != nil {
		return q.Params // it was written from such params
	}
	switch {
	case !rev.Icons:
		p.Mode = ""
	case p.Mode == mcp.ElicitURL && p.ElicitationID == "":
		p.ElicitationID = rand.Text()
	}
	return &p
}

// knownCapabilities leaves out what a revision has no requests for: there a
// client cannot mean it.
func knownCapabilities(rev *revision.Revision, c mcp.ClientCapabilities) mcp.ClientCapabilities {
	c.Extensions = nil // as they are not offered there
	if !rev.Structured {
		c.Elicitation = nil
	}
	if !rev.Icons && c.Elicitation != nil {
		c.Elicitation = &mcp.ElicitationCapability{}
	}
	if !rev.Icons && c.Sampling != nil {
		c.Sampling = &mcp.SamplingCapability{}
	}
	return c
}

// notifyFunc sends a notification.
type notifyFunc = func(ctx context.Context, method string, params any) error

// olderNotify returns notify for a revision whose notifications may know less.
func olderNotify(rev *revision.Revision, notify notifyFunc) notifyFunc {
	if rev.Annotated || notify == nil {
		return notify
	}
	return func(ctx context.Context, method string, params any) error {
		if p, ok := params.(*mcp.ProgressParams); ok && p.Message != "" {
			c := *p
			c.Message = ""
			params = &c
		}
		return notify(ctx, method, params)
	}
}
