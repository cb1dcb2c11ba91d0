package lifecycle

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
)

// Agreement is what a client and a server found out about each other: the facts
// that matter to a client, and how its requests and their results look. It does
// not change.
type Agreement struct {
	Revision string // the revision spoken, for logs only

	Stateless  bool // requests describe themselves; otherwise a session is open
	Batch      bool // the server may send several messages as one
	Structured bool // results may have structured content

	Server       mcp.Implementation
	Capabilities mcp.ServerCapabilities // empty where the server does not say
	Instructions string

	greeting *Greeting
	opening  []byte // of the _meta of every request, without the closing brace; nil with a session
}

func (g *Greeting) agree(rev *revision.Revision) *Agreement {
	a := &Agreement{Revision: rev.Name, Stateless: rev.Stateless, Batch: rev.Batch, Structured: rev.Structured, greeting: g}
	if rev.Stateless {
		a.opening = append([]byte(`{"`+mcp.MetaProtocolVersion+`":"`+rev.Name+`",`), g.self...)
	}
	return a
}

// introduce writes what every request of the stateless era says of its sender,
// but for the revision, without braces.
func (g *Greeting) introduce() error {
	have := g.capabilities
	if have.Roots != nil {
		have.Roots = &mcp.RootsCapability{} // no notifications of the client's exist
	}
	text, err := json.Marshal(struct {
		Info         mcp.Implementation     `json:"io.modelcontextprotocol/clientInfo"`
		Capabilities mcp.ClientCapabilities `json:"io.modelcontextprotocol/clientCapabilities"`
	}{g.info, have})
	if err != nil {
		return fmt.Errorf("introduce the client: %w", err)
	}
	g.self = text[1 : len(text)-1]
	return nil
}

// Revise returns the agreement to go on with after a request was refused with
// err. It is nil unless err is about the revision; again reports whether a new
// greeting may help: the server no longer speaks the stateless era.
func (a *Agreement) Revise(err error) (next *Agreement, again bool) {
	var refused *jsonrpc.Error
	if !a.Stateless || !errors.As(err, &refused) || refused.Code != mcp.CodeUnsupportedVersion {
		return nil, false
	}
	listed := supportedIn(refused)
	rev := choose(a.greeting.stateless, listed)
	if rev == nil {
		return nil, choose(a.greeting.handshake, listed) != nil
	}
	next = a.greeting.agree(rev)
	next.Server, next.Capabilities, next.Instructions = a.Server, a.Capabilities, a.Instructions
	return next, false
}

// Outgoing is a request of ours before it takes the form of a revision.
type Outgoing struct {
	Params        any      // an object without _meta, or nil
	Meta          mcp.Meta // the caller's own _meta: an object or nil
	ProgressToken int64    // 0: no progress is wanted

	// The stateless era only; a session does without.
	LogLevel  mcp.LoggingLevel // wanted for this request; empty: none
	Responses jsontext.Value   // answers to the server's questions: an object or nil
	State     jsontext.Value   // what the server wants to see again: its JSON, byte for byte, or nil

	// Numbered is told the request's id before it is sent. Nil: nobody is.
	Numbered func(id jsonrpc.ID)

	opening []byte
}

// Wrap returns the params to send for o in the form of the revision: o itself,
// which must stay as it is until it was sent, or nil for none.
func (a *Agreement) Wrap(o *Outgoing) any {
	o.opening = a.opening
	if o.opening == nil && o.Params == nil && len(o.Meta) == 0 && o.ProgressToken == 0 {
		return nil
	}
	return o
}

// Number tells the id; see peer.Numbered.
func (o *Outgoing) Number(id jsonrpc.ID) {
	if o.Numbered != nil {
		o.Numbered(id)
	}
}

// AppendJSON writes _meta first, then the members of Params.
func (o *Outgoing) AppendJSON(dst []byte) ([]byte, error) {
	from := len(dst)
	dst = o.appendMeta(append(dst, '{'))
	if o.Responses != nil && o.opening != nil {
		dst = append(append(next(dst, from), `"inputResponses":`...), o.Responses...)
	}
	if o.State != nil && o.opening != nil {
		dst = append(append(next(dst, from), `"requestState":`...), o.State...)
	}
	if o.Params != nil {
		at := len(dst)
		var err error
		if dst, err = jsonrpc.AppendValue(dst, o.Params); err != nil {
			return dst[:from], err
		}
		dst, err = join(dst, from, at)
		if err != nil {
			return dst[:from], err
		}
	}
	return append(dst, '}'), nil
}

// next puts a comma behind the members that were written since from.
func next(dst []byte, from int) []byte {
	if len(dst) > from+1 {
		return append(dst, ',')
	}
	return dst
}

// join makes the object that was written at at part of the object that is open
// since from.
func join(dst []byte, from, at int) ([]byte, error) {
	object := jsonscan.Trim(dst[at:])
	if jsonscan.KindOf(object) != jsonscan.Object {
		return dst, fmt.Errorf("params must be an object, not %v", jsonscan.KindOf(object))
	}
	members := jsonscan.Trim(object[1 : len(object)-1])
	switch {
	case len(members) == 0:
		return dst[:at], nil
	case at == from+1: // nothing stands before it
		return append(dst[:at], members...), nil
	}
	object[0] = ',' // in place of its brace: the usual case moves nothing
	if &object[0] == &dst[at] {
		return dst[:at+len(object)-1], nil
	}
	return append(append(dst[:at], ','), members...), nil
}

// appendMeta writes the member _meta, if there is anything to say in it.
func (o *Outgoing) appendMeta(dst []byte) []byte {
	if o.opening == nil && o.ProgressToken == 0 && len(o.Meta) == 0 {
		return dst
	}
	dst = append(dst, `"_meta":`...)
	from := len(dst)
	if o.opening != nil {
		dst = append(dst, o.opening...)
	} else {
		dst = append(dst, '{')
	}
	if o.LogLevel != "" && o.opening != nil {
		dst = append(append(append(next(dst, from), `"`+mcp.MetaLogLevel+`":"`...), o.LogLevel...), '"')
	}
	if o.ProgressToken != 0 {
		dst = strconv.AppendInt(append(next(dst, from), `"`+mcp.MetaProgressToken+`":`...), o.ProgressToken, 10)
	}
	for name, value := range jsonscan.Members(o.Meta) {
		switch string(name) {
		case mcp.MetaProtocolVersion, mcp.MetaClientInfo, mcp.MetaClientCapabilities, mcp.MetaLogLevel, mcp.MetaProgressToken:
		default:
			dst = append(jsonscan.AppendQuote(next(dst, from), string(name)), ':')
			dst = append(dst, value...)
		}
	}
	return append(dst, '}')
}

// Reply is a server's result as a client sees it, whatever the revision.
type Reply struct {
	Result jsontext.Value // an object
	// Input is set when the result is not there yet: the server asks, and wants
	// the request again with the answers.
	Input *mcp.InputRequiredResult
	State jsontext.Value // of Input: the JSON of requestState as it was sent, or nil
	// Deferred is set when the result is a handle: the server will have the
	// result later.
	Deferred *mcp.Deferred
	// TTL is how long the result may be kept, and Public that anybody may have
	// it. Without a word from the server TTL is 0.
	TTL    time.Duration
	Public bool
}

// maxTTL is the longest that a client believes a result stays fresh.
const maxTTL = 24 * time.Hour

// Read sorts a result. The error is never the server's own: the result is not
// what the protocol allows.
func (a *Agreement) Read(result jsontext.Value) (Reply, error) {
	reply := Reply{Result: result}
	if kind := jsonscan.KindOf(result); kind != jsonscan.Object {
		return reply, fmt.Errorf("the result is %v, not an object", kind)
	}
	if !a.Stateless {
		return reply, nil
	}
	var resultType []byte
	for name, value := range jsonscan.Members(result) {
		switch string(name) {
		case "resultType":
			resultType = value
		case "requestState":
			reply.State = value
		case "ttlMs":
			reply.TTL = ttl(value)
		case "cacheScope":
			reply.Public = isString(value, mcp.CachePublic)
		}
	}
	switch {
	case resultType == nil, isString(resultType, mcp.ResultComplete):
		reply.State = nil
		return reply, nil
	case isString(resultType, mcp.ResultInputRequired):
		reply.TTL = 0
		return reply, reply.readInput()
	case isString(resultType, mcp.ResultTask):
		reply.TTL, reply.State = 0, nil
		var err error
		reply.Deferred, err = readHandle(result)
		return reply, err
	}
	return reply, fmt.Errorf("the server sent a result of the unknown type %s", resultType)
}

// isString reports whether raw JSON is the string s, which is usually written
// without escapes.
func isString(raw []byte, s string) bool {
	if jsonscan.KindOf(raw) != jsonscan.String {
		return false
	}
	return string(raw[1:len(raw)-1]) == s || jsonscan.Unquote(raw) == s
}

func (r *Reply) readInput() error {
	r.Input = new(mcp.InputRequiredResult)
	if err := json.Unmarshal(r.Result, r.Input); err != nil {
		return fmt.Errorf("read what the server asks: %v", err)
	}
	switch {
	case r.State != nil && jsonscan.KindOf(r.State) != jsonscan.String:
		return errors.New("read what the server asks: requestState is no string")
	case r.State == nil && len(r.Input.InputRequests) == 0:
		return errors.New("the server requires input but asks for none")
	}
	return nil
}

// ReadDeferred reads the state of a deferred result with all that belongs to its
// status.
func ReadDeferred(result jsontext.Value) (*mcp.Deferred, error) {
	d, err := readHandle(result)
	switch {
	case err != nil:
		return nil, err
	case d.Status == mcp.DeferredCompleted && d.Result.Kind() != '{':
		return nil, errors.New("a deferred result is completed, but is no object")
	case d.Status == mcp.DeferredFailed && d.Error == nil:
		return nil, errors.New("a deferred result failed without an error")
	}
	return d, nil
}

// readHandle reads the state of a deferred result, whose outcome may be missing.
func readHandle(result jsontext.Value) (*mcp.Deferred, error) {
	d := new(mcp.Deferred)
	if err := json.Unmarshal(result, d); err != nil {
		return nil, fmt.Errorf("read the state of a deferred result: %v", err)
	}
	switch {
	case d.ID == "":
		return nil, errors.New("a deferred result has no id")
	case !d.Status.Final() && d.Status != mcp.DeferredWorking && d.Status != mcp.DeferredInputRequired:
		return nil, fmt.Errorf("a deferred result has the unknown status %q", d.Status)
	}
	return d, nil
}

func ttl(raw []byte) time.Duration {
	ms, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || ms < 0 {
		return 0
	}
	return time.Duration(min(ms, maxTTL.Milliseconds())) * time.Millisecond
}
