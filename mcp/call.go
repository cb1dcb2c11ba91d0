package mcp

import (
	"context"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// Call is one request on its way to a [Handler]. It knows who asks, and is the
// handler's way to speak before its result: progress, log messages, questions.
// A Call is for the handler that got it and ends with it.
type Call struct {
	Method string
	Params jsontext.Value // an object as it was sent, or nil; its bytes are not to be changed
	Client *Client        // who is asking; shared between Calls, not to be changed

	// Long is the longest string in Params, as a slice of it, if that is long and was
	// found before: who walks over Params need not look for its end. Doors set it.
	Long jsontext.Value

	// Principal is who the transport says is calling, nil where nobody checked:
	// on stdio, and on HTTP without authentication.
	Principal *Principal

	// ProgressToken is set when the client wants progress; see [Call.Progress].
	ProgressToken jsontext.Value
	// LogLevel is the lowest level the client wants to hear of, empty for none;
	// see [Call.Log].
	LogLevel LoggingLevel
	// Meta is the request's _meta object as it was sent, or nil. Protocol fields
	// in it are already taken care of.
	Meta Meta

	// Notify sends a notification that belongs to this Call. Nil: the transport
	// has no way to speak early.
	Notify func(ctx context.Context, method string, params any) error
	// Hangup closes the connection that the Call came on, for the client to ask
	// again. Nil: the transport or the revision has no such thing; see
	// [Call.Release].
	Hangup func()
	// Emit takes the events of a subscriptions/listen Call. It never blocks, and
	// may join events of the same kind. Nil in other Calls.
	Emit func(Event)

	// Input is what earlier rounds of this Call gathered; doors set it.
	Input Input

	// Detached says that the request was answered already: the result of this
	// Call is kept for the client to fetch. See package deferred.
	Detached bool

	started  bool // progress was sent
	mu       sync.Mutex
	progress float64 // the last value sent
}

// Client is the other side as it described itself. Nothing in it is verified.
type Client struct {
	Info         Implementation
	Capabilities ClientCapabilities
	Revision     string // the protocol revision spoken, for logs only
}

// Principal is a caller whose identity was verified.
type Principal struct {
	Name   string   // unique for whoever verified it
	Scopes []string // what the caller may do
}

// ID returns the principal's name, empty for nobody.
func (p *Principal) ID() string {
	if p == nil {
		return ""
	}
	return p.Name
}

// Progress tells the client how far the Call has come: progress of total, which
// is 0 when unknown, and a message that may be empty. It does nothing unless the
// client asked, and passes over values that do not grow, since the protocol
// wants each to be larger than the last.
func (c *Call) Progress(ctx context.Context, progress, total float64, message string) error {
	if c.Notify == nil || c.ProgressToken == nil {
		return nil
	}
	c.mu.Lock()
	stale := c.started && progress <= c.progress
	if !stale {
		c.started, c.progress = true, progress
	}
	c.mu.Unlock()
	if stale {
		return nil
	}
	report := &struct {
		ProgressParams
		total float64
	}{ProgressParams{ProgressToken: c.ProgressToken, Progress: progress, Message: message}, total}
	if total > 0 {
		report.Total = &report.total
	}
	return c.Notify(ctx, NotificationProgress, &report.ProgressParams)
}

// Log sends a log message to the client if it wants to hear of level. Data is
// any value that can be written as JSON; it must hold no secrets. The logger's
// name may be empty.
func (c *Call) Log(ctx context.Context, level LoggingLevel, logger string, data any) error {
	if c.Notify == nil || c.LogLevel == "" || !level.AtLeast(c.LogLevel) {
		return nil
	}
	text, err := marshal(data)
	if err != nil {
		return err
	}
	return c.Notify(ctx, NotificationMessage, &LoggingMessageParams{Level: level, Logger: logger, Data: text})
}

// Release lets the client go while the Call is still at work: where the revision
// has that, over HTTP, its connection is closed and it comes back for what was
// said meanwhile and for the result. Handlers that take minutes spare both sides
// an open connection so. It does nothing elsewhere; the Call goes on in any case.
func (c *Call) Release() {
	if c.Hangup != nil {
		c.Hangup()
	}
}
