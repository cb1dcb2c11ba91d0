package mcp

import (
	"context"
	"sync"
)

// Handler answers Calls. It is the waist of the toolkit: below it, transports
// and doors turn bytes of any protocol revision into Calls and results into
// bytes; above it, features live.
//
// The result is a value of this package in its newest shape, raw JSON, or
// anything that package json can write; doors translate it for older clients.
// An error that holds a *jsonrpc.Error travels as that. See also
// [ErrInputRequired], [MissingCapabilityError] and [ResourceNotFoundError].
type Handler interface {
	Handle(ctx context.Context, c *Call) (any, error)
}

// HandlerFunc is a function as a [Handler].
type HandlerFunc func(ctx context.Context, c *Call) (any, error)

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, c *Call) (any, error) { return f(ctx, c) }

// Middleware wraps a Handler in another. It sees every Call of every method,
// and may answer in the place of the handler it wraps.
type Middleware func(next Handler) Handler

// Memo is a result that stays the same for many Calls, such as a page of a list.
// Doors encode it once for each revision they speak and keep the text here.
// Middleware that looks at results finds the value in Result, which must not be
// changed.
type Memo struct {
	Result any

	mu    sync.Mutex
	texts map[string][]byte // by form
}

// Text returns the encoded form of the result, made by encode the first time.
// The caller must not change it.
func (m *Memo) Text(form string, encode func(result any) ([]byte, error)) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if text, ok := m.texts[form]; ok {
		return text, nil
	}
	text, err := encode(m.Result)
	if err != nil {
		return nil, err
	}
	if m.texts == nil {
		m.texts = make(map[string][]byte)
	}
	m.texts[form] = text
	return text, nil
}

// Subscription is the result of a subscriptions/listen Call: the events it will
// be told of, and a way to end it. Events arrive at [Call.Emit] until Stop is
// called; Stop may be called more than once.
type Subscription struct {
	Filter SubscriptionFilter // what the handler agreed to
	Stop   func()
}

// Event is a change that subscribers hear of.
type Event struct {
	Method string // the notification's method
	URI    string // of the resource that was updated, else empty
	// Deferred is the new state of a deferred result, else nil. It is shared and
	// must not be changed.
	Deferred *Deferred
}

// Replaces reports whether a subscriber who will hear of e need not hear of the
// older event first: both are about the same thing.
func (e Event) Replaces(older Event) bool {
	if e.Method != older.Method || e.URI != older.URI {
		return false
	}
	if e.Deferred == nil || older.Deferred == nil {
		return e.Deferred == older.Deferred
	}
	return e.Deferred.ID == older.Deferred.ID
}
