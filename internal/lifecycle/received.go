package lifecycle

import "github.com/bossman-mcp/bossman/jsonrpc"

// Received is a request with room for what doors make of it, so that all of that
// is allocated together.
type Received struct {
	Incoming
	parts fields
	room  room
}

// Read finds in the params what doors will look at: among members, if those are
// known from the first look at the message, else by a walk.
func (in *Received) Read(members []jsonrpc.Member) {
	if members != nil {
		in.parts.pick(members)
	} else {
		in.parts.read(in.Params)
	}
	in.Incoming.parts, in.Incoming.room = &in.parts, &in.room
}

// IsStateless reports whether the request describes itself, as those of the
// stateless era do: its _meta names a protocol version.
func (in *Incoming) IsStateless() bool { return in.fields().version != nil }

// Version returns the protocol version that the request's _meta names, as raw
// JSON; nil without one.
func (in *Incoming) Version() []byte { return in.fields().version }

// Name returns the member name of the request's params, as raw JSON; nil without
// one.
func (in *Incoming) Name() []byte { return in.fields().name }
