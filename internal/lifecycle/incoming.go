package lifecycle

import (
	"context"
	"log/slog"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
)

// Incoming is a request as a transport hands it to a door.
type Incoming struct {
	ID        jsonrpc.ID
	Method    string
	Params    jsontext.Value // an object or nil
	Principal *mcp.Principal // nil where nobody checked

	// Notify sends a notification that belongs to this request.
	Notify func(ctx context.Context, method string, params any) error
	// Ask is who puts questions to the client. Nil: there is no way to. Only the
	// handshake era uses it.
	Ask Asker

	notes *Notes    // nil until Params were read
	call  *mcp.Call // room for the one that a door makes; nil: it finds its own
}

// Asker sends requests to the client. It may be a [Hanger].
type Asker interface {
	// Ask waits for the result.
	Ask(ctx context.Context, method string, params any, result *jsontext.Value) error
}

// Hanger can close the connection before the result is there. In the revisions that
// have that, the client will come back for it.
type Hanger interface{ Hangup() }

// place returns where a door puts its Call.
func (in *Incoming) place() *mcp.Call {
	if in.call == nil {
		in.call = new(mcp.Call)
	}
	return in.call
}

// Options are what doors can be told; nil means the zero value of each.
type Options struct {
	// Revisions are those that are spoken. Zero: all.
	Revisions revision.Selection
	// Sealer protects the state that input rounds send through the client. Nil:
	// a new one with a random key, so that state ends with the process.
	Sealer *Sealer
	// StateTTL is how long a client may take to answer a question. 0: 10 minutes.
	StateTTL time.Duration
	// Logger hears of what the protocol cannot report. Nil: slog.Default().
	Logger *slog.Logger
}

func (o *Options) withDefaults() Options {
	var full Options
	if o != nil {
		full = *o
	}
	if full.Revisions.IsZero() {
		full.Revisions, _ = revision.Select("") // which names none that could be wrong
	}
	if full.Sealer == nil {
		full.Sealer = NewSealer(nil)
	}
	if full.StateTTL == 0 {
		full.StateTTL = 10 * time.Minute
	}
	if full.Logger == nil {
		full.Logger = slog.Default()
	}
	return full
}

// fields are the parts of a request's params that doors look at, raw.
type fields struct {
	name           []byte
	long           []byte // the longest string, if it is longer than longString
	meta           []byte
	inputResponses []byte
	requestState   []byte

	// from _meta
	version       []byte
	clientInfo    []byte
	capabilities  []byte
	logLevel      []byte
	progressToken []byte
}

// fields returns them. They are read once.
func (in *Incoming) fields() *fields {
	if in.notes == nil {
		in.notes = new(Notes)
		in.notes.fields.read(in.Params)
	}
	return &in.notes.fields
}

// read finds them in a walk over params.
func (f *fields) read(params jsontext.Value) {
	for name, value := range jsonscan.Members(params) {
		if f.take(name, value) {
			for name, value := range jsonscan.Members(value) {
				f.takeMeta(name, value)
			}
		}
	}
}

// longString is how long a string is that is worth remembering.
const longString = 1 << 10

// pick finds them among members that are known from the first look at the message.
func (f *fields) pick(members []jsonrpc.Member) {
	from := 0 // where the members of the next object begin
	for i := range members {
		if value := members[i].Value; len(value) > max(longString, len(f.long)) && value[0] == '"' {
			f.long = value
		}
		if members[i].Depth > 2 {
			continue
		}
		if f.take(members[i].Name, members[i].Value) {
			for _, m := range members[from:i] {
				f.takeMeta(m.Name, m.Value)
			}
		}
		from = i + 1
	}
}

// take takes a member of params, and reports whether it is _meta.
func (f *fields) take(name, value []byte) (isMeta bool) {
	switch string(name) {
	case "name":
		f.name = value
	case "_meta":
		f.meta = value
		return true
	case "inputResponses":
		f.inputResponses = value
	case "requestState":
		f.requestState = value
	}
	return false
}

func (f *fields) takeMeta(name, value []byte) {
	switch string(name) {
	case mcp.MetaProtocolVersion:
		f.version = value
	case mcp.MetaClientInfo:
		f.clientInfo = value
	case mcp.MetaClientCapabilities:
		f.capabilities = value
	case mcp.MetaLogLevel:
		f.logLevel = value
	case mcp.MetaProgressToken:
		f.progressToken = value
	}
}

// checkMeta refuses a _meta or a progress token of the wrong kind.
func (f *fields) checkMeta() error {
	if f.meta != nil && jsonscan.KindOf(f.meta) != jsonscan.Object {
		return jsonrpc.InvalidParams("_meta must be an object")
	}
	switch jsonscan.KindOf(f.progressToken) {
	case jsonscan.Invalid, jsonscan.String, jsonscan.Number:
		return nil
	}
	return jsonrpc.InvalidParams("_meta.progressToken must be a string or a number")
}
