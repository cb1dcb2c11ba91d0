package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
)

// Caller is the client's end of a connection; a [*peer.Peer] is one.
type Caller interface {
	Call(ctx context.Context, method string, params, result any) error
	Notify(ctx context.Context, method string, params any) error
}

// The eras that a [Greeting] can be held to, instead of single revisions.
const (
	EraHandshake = revision.EraHandshake
	EraStateless = revision.EraStateless
)

// Greeting is how a client opens connections: it knows both doors of a server
// from the outside. It keeps nothing of any connection.
type Greeting struct {
	info         mcp.Implementation
	capabilities mcp.ClientCapabilities
	stateless    []*revision.Revision // that may be spoken, best first
	handshake    []*revision.Revision // likewise
	self         []byte               // see introduce
}

// NewGreeting returns the greeting of a client that speaks the revisions that pin
// selects; see [revision.Select].
func NewGreeting(info mcp.Implementation, capabilities mcp.ClientCapabilities, pin string) (*Greeting, error) {
	ours, err := revision.Select(pin)
	if err != nil {
		return nil, err
	}
	g := &Greeting{info: info, capabilities: capabilities, stateless: ours.Stateless, handshake: ours.Handshake}
	return g, g.introduce()
}

// MayProbe reports whether the stateless era is allowed.
func (g *Greeting) MayProbe() bool { return g.stateless != nil }

// MayInitialize reports whether the handshake era is allowed.
func (g *Greeting) MayInitialize() bool { return g.handshake != nil }

// NotStatelessError says that a server gave no sign of the stateless era, so that
// the handshake is to be tried.
type NotStatelessError struct {
	// Silent: no answer came, since the server died or took too long. The
	// connection is of no more use.
	Silent bool
	Reason string // for people
}

func (e *NotStatelessError) Error() string { return "probe the server: " + e.Reason }

// notStateless makes the error. Where the handshake is not to be tried, it also
// says what that means.
func (g *Greeting) notStateless(silent bool, reason string) error {
	if g.handshake == nil {
		reason += "; it seems to need a handshake, and this client is held to " + strings.Join(revision.Names(g.stateless), ", ")
	}
	return &NotStatelessError{Silent: silent, Reason: reason}
}

// maxAsks is how often a probe is sent to a server that names the revision it
// wants to hear.
const maxAsks = 3

// Probe asks a server what it is, which only the stateless era understands. The
// error is a [*NotStatelessError] if there is hope in the handshake, a
// [*jsonrpc.Error] if a server of the stateless era refused.
func (g *Greeting) Probe(ctx context.Context, to Caller) (*Agreement, error) {
	rev := g.stateless[0]
	var err error
	for range maxAsks {
		a := g.agree(rev)
		var result jsontext.Value
		err = to.Call(ctx, mcp.MethodDiscover, a.Wrap(&Outgoing{}), &result)
		if err == nil {
			return g.discovered(a, result)
		}
		var refused *jsonrpc.Error
		switch {
		case errors.Is(err, peer.ErrUnauthorized): // whatever the server speaks
			return nil, fmt.Errorf("discover the server: %w", err)
		case !errors.As(err, &refused):
			if ctx.Err() != nil {
				err = context.Cause(ctx) // which knows how long it took
			}
			return nil, g.notStateless(ctx.Err() != nil || errors.Is(err, peer.ErrClosed), err.Error())
		case refused.Code == mcp.CodeHeaderMismatch || refused.Code == mcp.CodeMissingCapability:
			return nil, fmt.Errorf("discover the server: %w", err)
		case refused.Code == jsonrpc.CodeMethodNotFound && g.handshake == nil && !pings(ctx, to, a):
			return a, nil // we were told that it is stateless; what it offers stays unknown
		case refused.Code != mcp.CodeUnsupportedVersion:
			return nil, g.notStateless(false, err.Error())
		}
		listed := supportedIn(refused)
		if rev = choose(g.stateless, listed); rev == nil {
			return nil, g.apart(listed)
		}
	}
	return nil, fmt.Errorf("discover the server: it refuses the revision that it asks for: %w", err)
}

// pings reports whether a server answers ping, as those of the handshake era do
// in any state and those of the stateless era must not.
func pings(ctx context.Context, to Caller, a *Agreement) bool {
	var result jsontext.Value
	return to.Call(ctx, mcp.MethodPing, a.Wrap(&Outgoing{}), &result) == nil
}

// discovered reads the answer to a probe. A server of the stateless era lists the
// revisions it speaks; others answer with anything.
func (g *Greeting) discovered(a *Agreement, result jsontext.Value) (*Agreement, error) {
	listed := stringsIn(jsonscan.Get(result, "supportedVersions"))
	if len(listed) == 0 {
		return nil, g.notStateless(false, "the answer lists no revisions")
	}
	rev := choose(g.stateless, listed)
	if rev == nil {
		return nil, g.apart(listed)
	}
	if rev.Name != a.Revision {
		a = g.agree(rev)
	}
	// What follows is for show and for hints: a server that gets it wrong can
	// still be spoken to.
	_ = json.Unmarshal(jsonscan.Get(result, "capabilities"), &a.Capabilities)
	_ = readInfo(jsonscan.Get(jsonscan.Get(result, "_meta"), mcp.MetaServerInfo), &a.Server)
	a.Instructions = jsonscan.Unquote(jsonscan.Get(result, "instructions"))
	return a, nil
}

// apart is the error for a server that listed no stateless revision of ours: one
// that leads to the handshake if it listed one of those.
func (g *Greeting) apart(listed []string) error {
	reason := fmt.Sprintf("the server speaks %s, not %s", strings.Join(listed, ", "), strings.Join(revision.Names(g.stateless), ", "))
	if len(listed) == 0 || choose(g.handshake, listed) != nil {
		return &NotStatelessError{Reason: reason}
	}
	return errors.New("no protocol revision in common: " + reason)
}

// Initialize opens a session of the handshake era. Any revision of that era that
// is allowed will do.
func (g *Greeting) Initialize(ctx context.Context, to Caller) (*Agreement, error) {
	result, err := g.initialize(ctx, to, g.handshake[0])
	var refused *jsonrpc.Error
	if errors.As(err, &refused) { // some refuse a revision that they do not know, and list those they do
		if rev := choose(g.handshake, supportedIn(refused)); rev != nil && rev != g.handshake[0] {
			result, err = g.initialize(ctx, to, rev)
		}
	}
	if err != nil {
		return nil, err
	}
	version := jsonscan.Unquote(jsonscan.Get(result, "protocolVersion"))
	rev := choose(g.handshake, []string{version})
	if rev == nil {
		return nil, fmt.Errorf("the server answered initialize with the revision %q; we speak %s", version, strings.Join(revision.Names(g.handshake), ", "))
	}
	a := g.agree(rev)
	_ = json.Unmarshal(jsonscan.Get(result, "capabilities"), &a.Capabilities) // as in discovered
	_ = readInfo(jsonscan.Get(result, "serverInfo"), &a.Server)
	a.Instructions = jsonscan.Unquote(jsonscan.Get(result, "instructions"))
	return a, to.Notify(ctx, mcp.NotificationInitialized, nil)
}

func (g *Greeting) initialize(ctx context.Context, to Caller, rev *revision.Revision) (result jsontext.Value, err error) {
	params := &mcp.InitializeParams{ProtocolVersion: rev.Name, Capabilities: g.capabilities, ClientInfo: g.info}
	olderClient(rev, params)
	return result, to.Call(ctx, mcp.MethodInitialize, params, &result)
}

// olderClient leaves out what a revision does not know of clients.
func olderClient(rev *revision.Revision, p *mcp.InitializeParams) {
	olderNames(rev, &p.ClientInfo.Title, &p.ClientInfo.Icons)
	p.Capabilities.Extensions = nil
	if !rev.Icons {
		p.ClientInfo.Description, p.ClientInfo.WebsiteURL = "", ""
		if p.Capabilities.Sampling != nil {
			p.Capabilities.Sampling = &mcp.SamplingCapability{}
		}
		if p.Capabilities.Elicitation.HasForm() {
			p.Capabilities.Elicitation = &mcp.ElicitationCapability{}
		} else {
			p.Capabilities.Elicitation = nil
		}
	}
	if !rev.Structured {
		p.Capabilities.Elicitation = nil
	}
}

// choose returns the best of ours that is listed, nil if none is.
func choose(ours []*revision.Revision, listed []string) *revision.Revision {
	for _, rev := range ours {
		if slices.Contains(listed, rev.Name) {
			return rev
		}
	}
	return nil
}

// supportedIn reads the revisions that an error lists, if it does.
func supportedIn(e *jsonrpc.Error) []string {
	return stringsIn(jsonscan.Get(e.Data, "supported"))
}

// stringsIn reads an array of strings, passing over what is none.
func stringsIn(array []byte) []string {
	var list []string
	for element := range jsonscan.Elements(array) {
		if jsonscan.KindOf(element) == jsonscan.String {
			list = append(list, jsonscan.Unquote(element))
		}
	}
	return list
}
