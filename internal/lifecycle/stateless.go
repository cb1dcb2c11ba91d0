package lifecycle

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/internal/errands"
	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
)

// Stateless is the door for requests that describe themselves. It keeps nothing
// between them, so one serves any number of clients.
type Stateless struct {
	handler mcp.Handler
	opts    Options
	rev     *revision.Revision
	events  errands.Queue // sends what changed to subscribers

	self     atomic.Pointer[identity]
	lastSeen atomic.Pointer[seen] // clients repeat themselves: decode once
}

// identity is what a door says of its server.
type identity struct {
	opening []byte // the members that begin every result, without the closing brace
	name    string // empty where the handler does not say
}

// seen is a client as its last request described it.
type seen struct {
	info, capabilities []byte
	client             *mcp.Client
}

// NewStateless returns the door to h.
func NewStateless(h mcp.Handler, opts *Options) *Stateless {
	d := &Stateless{handler: h, opts: opts.withDefaults(), rev: revision.Newest()}
	if ours := d.opts.Revisions.Stateless; len(ours) > 0 {
		d.rev = ours[0]
	}
	return d
}

// Answer serves one request. The result is for [jsonrpc.AppendValue], or a
// [*Held]; the error is a [*jsonrpc.Error] where the client may know the reason.
func (d *Stateless) Answer(ctx context.Context, in *Incoming) (any, error) {
	f := in.fields()
	call, err := d.call(in, f)
	if err != nil {
		return nil, err
	}
	if in.Method == mcp.MethodSubscriptionsListen {
		return d.listen(ctx, in, call)
	}
	if f.inputResponses != nil || f.requestState != nil {
		if err := d.resume(ctx, in, f, call); err != nil {
			return nil, err
		}
	}
	result, err := d.handler.Handle(ctx, call)
	if errors.Is(err, mcp.ErrInputRequired) && mayAsk(in.Method) {
		result, err = d.inputRequired(ctx, in, call)
	}
	if err != nil {
		return nil, wireError(d.rev, err)
	}
	return d.shape(ctx, in, result)
}

// retired are the methods of the handshake era that have no place here, whatever
// the handler knows.
func retired(method string) bool {
	switch method {
	case mcp.MethodInitialize, mcp.MethodPing, mcp.MethodSetLevel, mcp.MethodSubscribe, mcp.MethodUnsubscribe:
		return true
	}
	return false
}

// mayAsk reports whether a request may be answered by a question. Of the
// protocol's own methods three may; custom ones decide for themselves.
func mayAsk(method string) bool {
	switch method {
	case mcp.MethodDiscover, mcp.MethodListTools, mcp.MethodListResources, mcp.MethodListResourceTemplates,
		mcp.MethodListPrompts, mcp.MethodComplete:
		return false
	}
	return true
}

// call checks what the request says of itself.
func (d *Stateless) call(in *Incoming, f *fields) (*mcp.Call, error) {
	if err := f.checkMeta(); err != nil {
		return nil, err
	}
	switch {
	case f.version == nil && in.Method == mcp.MethodInitialize:
		refused := d.unsupported(jsonscan.Unquote(jsonscan.Get(in.Params, "protocolVersion")))
		refused.Message += ": " + d.NoHandshake()
		return nil, refused
	case f.version == nil:
		return nil, jsonrpc.InvalidParams("_meta lacks %s", mcp.MetaProtocolVersion)
	case jsonscan.KindOf(f.version) != jsonscan.String:
		return nil, jsonrpc.InvalidParams("%s must be a string", mcp.MetaProtocolVersion)
	}
	version := d.rev.Name
	if !bytes.Equal(f.version[1:len(f.version)-1], []byte(version)) {
		return nil, d.unsupported(jsonscan.Unquote(f.version))
	}
	if retired(in.Method) {
		return nil, jsonrpc.MethodNotFound(in.Method)
	}
	client, err := d.client(f)
	if err != nil {
		return nil, err
	}
	call := in.place()
	*call = mcp.Call{
		Method: in.Method, Params: in.Params, Long: f.long, Client: client, Principal: in.Principal,
		ProgressToken: f.progressToken, Meta: f.meta, Notify: in.Notify,
	}
	if f.logLevel != nil {
		call.LogLevel = mcp.LoggingLevel(jsonscan.Unquote(f.logLevel))
		if !call.LogLevel.Valid() {
			return nil, jsonrpc.InvalidParams("%s: unknown log level", mcp.MetaLogLevel)
		}
	}
	return call, nil
}

func (d *Stateless) client(f *fields) (*mcp.Client, error) {
	if f.capabilities == nil {
		return nil, jsonrpc.InvalidParams("_meta lacks %s", mcp.MetaClientCapabilities)
	}
	if last := d.lastSeen.Load(); last != nil && bytes.Equal(last.info, f.clientInfo) && bytes.Equal(last.capabilities, f.capabilities) {
		return last.client, nil
	}
	client := &mcp.Client{Revision: d.rev.Name}
	if err := readCapabilities(f.capabilities, &client.Capabilities); err != nil {
		return nil, jsonrpc.InvalidParams("%s must be an object of capabilities", mcp.MetaClientCapabilities)
	}
	if f.clientInfo != nil {
		if err := readInfo(f.clientInfo, &client.Info); err != nil {
			return nil, jsonrpc.InvalidParams("%s must be an object with a name and a version", mcp.MetaClientInfo)
		}
	}
	if len(f.capabilities)+len(f.clientInfo) <= 4096 { // the slices belong to a message: keep copies of small ones
		d.lastSeen.Store(&seen{bytes.Clone(f.clientInfo), bytes.Clone(f.capabilities), client})
	}
	return client, nil
}

// resume restores what earlier rounds of the request gathered.
func (d *Stateless) resume(ctx context.Context, in *Incoming, f *fields, call *mcp.Call) error {
	switch jsonscan.KindOf(f.inputResponses) {
	case jsonscan.Object:
		if err := json.Unmarshal(f.inputResponses, &call.Input.Answers); err != nil {
			return jsonrpc.InvalidParams("inputResponses must be an object")
		}
	case jsonscan.Invalid, jsonscan.Null:
	default:
		return jsonrpc.InvalidParams("inputResponses must be an object")
	}
	if f.requestState == nil {
		return nil
	}
	if jsonscan.KindOf(f.requestState) != jsonscan.String {
		return jsonrpc.InvalidParams("requestState must be a string")
	}
	last, err := d.opts.Sealer.open(jsonscan.Unquote(f.requestState), bindingOf(d.identity(ctx).name, in), time.Now())
	if err != nil {
		return jsonrpc.InvalidParams("%v", err)
	}
	call.Input.State = last.State
	for key, answer := range last.Answers {
		if call.Input.Answers == nil {
			call.Input.Answers = make(mcp.InputResponses)
		}
		if _, newer := call.Input.Answers[key]; !newer {
			call.Input.Answers[key] = answer
		}
	}
	return nil
}

// inputRequired asks the client what the handler wanted to know, and seals what
// the next round will need again.
func (d *Stateless) inputRequired(ctx context.Context, in *Incoming, call *mcp.Call) (any, error) {
	result := &mcp.InputRequiredResult{ResultType: mcp.ResultInputRequired, InputRequests: call.Input.Wanted}
	if len(call.Input.Used) > 0 || call.Input.State != nil {
		expires := time.Now().Add(d.opts.StateTTL).UnixMilli()
		state, err := d.opts.Sealer.seal(&round{call.Input.Used, call.Input.State, expires}, bindingOf(d.identity(ctx).name, in))
		if err != nil {
			return nil, err
		}
		result.RequestState = &state
	}
	if result.InputRequests == nil && result.RequestState == nil {
		return nil, errors.New("the handler requires input but asked for none")
	}
	return result, nil
}
