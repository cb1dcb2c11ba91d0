package lifecycle

// IsStateless is the function of that name for the request, whose params are then
// not walked again by a door.
func (in *Incoming) IsStateless() bool { return in.fields().version != nil }

// Version returns the protocol version that the request's _meta names, as raw
// JSON; nil without one.
func (in *Incoming) Version() []byte { return in.fields().version }

// Name returns the member name of the request's params, as raw JSON; nil without
// one.
func (in *Incoming) Name() []byte { return in.fields().name }
