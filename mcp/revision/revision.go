// Package revision holds the five revisions of the protocol as five values of
// named facts. It is the only place where a revision's date is written or
// compared: everyone else asks for the fact.
package revision

import "slices"

// Revision is what one revision of the protocol has and lacks.
type Revision struct {
	Name string // the date, as it travels

	// Stateless: each request describes itself in _meta; otherwise a handshake
	// opens a session. The stateless era also has resultType, cache hints,
	// server/discover, subscriptions/listen and input rounds instead of requests
	// from server to client.
	Stateless bool
	// Sessions: over HTTP, requests are POSTs within a session; otherwise, in the
	// handshake era, the older pair of endpoints with a stream of events.
	Sessions bool
	// Batch: several messages may travel as one JSON array.
	Batch bool
	// VersionHeader: HTTP requests name the revision in a header.
	VersionHeader bool
	// RoutingHeaders: HTTP requests repeat method and name in headers.
	RoutingHeaders bool
	// Resume: a broken event stream can be taken up again by its last event id.
	Resume bool
	// EarlyClose: a server may close an event stream before the answer, for the
	// client to poll.
	EarlyClose bool

	// Annotated: tools carry annotations, content may be audio, progress has a
	// message, completion is a capability.
	Annotated bool
	// Structured: results have structured content, tools output schemas, things
	// have titles; content may be a resource link; the server may elicit.
	Structured bool
	// Icons: things have icons, implementations a description and a website;
	// elicitation may send the user to a URL, sampling may use tools.
	Icons bool
	// AnyOutput: structured content is any JSON, not only an object.
	AnyOutput bool
	// NotFoundCode is the error code for a resource that does not exist.
	NotFoundCode int
}

// invalidParams is JSON-RPC's code, which the newest revision uses for resources
// that do not exist.
const (
	invalidParams    = -32602
	resourceNotFound = -32002
)

// revisions, oldest first.
var revisions = [...]Revision{
	{Name: "2024-11-05", NotFoundCode: resourceNotFound},
	{Name: "2025-03-26", NotFoundCode: resourceNotFound, Sessions: true, Batch: true, Resume: true, Annotated: true},
	{Name: "2025-06-18", NotFoundCode: resourceNotFound, Sessions: true, VersionHeader: true, Resume: true, Annotated: true, Structured: true},
	{Name: "2025-11-25", NotFoundCode: resourceNotFound, Sessions: true, VersionHeader: true, Resume: true, EarlyClose: true, Annotated: true, Structured: true, Icons: true},
	{Name: "2026-07-28", NotFoundCode: invalidParams, Stateless: true, VersionHeader: true, RoutingHeaders: true, Annotated: true, Structured: true, Icons: true, AnyOutput: true},
}

// All returns the revisions, oldest first.
func All() []*Revision {
	all := make([]*Revision, len(revisions))
	for i := range revisions {
		all[i] = &revisions[i]
	}
	return all
}

// Lookup returns the revision with that name, nil if there is none.
func Lookup(name string) *Revision {
	for i := range revisions {
		if revisions[i].Name == name {
			return &revisions[i]
		}
	}
	return nil
}

// Newest returns the newest revision: the shape that features are written in.
func Newest() *Revision { return &revisions[len(revisions)-1] }

// NewestHandshake returns the newest revision that opens with a handshake.
func NewestHandshake() *Revision {
	for _, r := range slices.Backward(revisions[:]) {
		if !r.Stateless {
			return Lookup(r.Name)
		}
	}
	return nil
}

// Stateless returns the names of the revisions that need no handshake, newest
// first.
func Stateless() []string {
	var names []string
	for _, r := range slices.Backward(revisions[:]) {
		if r.Stateless {
			names = append(names, r.Name)
		}
	}
	return names
}
