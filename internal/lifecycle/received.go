package lifecycle

import (
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

// Received is a request with room for the Call that a door makes of it, so that
// both are allocated together.
type Received struct {
	Incoming
	call mcp.Call
}

// Notes are what doors note down of a request. A handler gets none of it, so they
// can be used for another request once the first is answered.
type Notes struct {
	fields fields
	done   completed
}

// Read finds in the params what doors will look at, and notes it down in empty
// notes: among members, if those are known from the first look at the message,
// else by a walk.
func (in *Received) Read(members []jsonrpc.Member, notes *Notes) {
	if members != nil {
		notes.fields.pick(members)
	} else {
		notes.fields.read(in.Params)
	}
	in.notes, in.Incoming.call = notes, &in.call
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
