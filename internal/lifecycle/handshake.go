package lifecycle

import (
	"context"
	"sync"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
)

// state is how far a handshake has come.
type state int

const (
	created state = iota
	initializing
	operating
	shutdown
)

func (s state) String() string {
	return [...]string{"created", "initializing", "operating", "shut down"}[s]
}

// Handshake is the door for one session of the revisions that begin with
// initialize.
type Handshake struct {
	handler mcp.Handler
	opts    Options
	box     *outbox // change events on their way to the client

	mu       sync.Mutex
	state    state
	rev      *revision.Revision // nil until initialize
	client   *mcp.Client
	logLevel mcp.LoggingLevel
	watches  map[string]func() // ends each subscription; "" is the lists'
}

// NewHandshake returns the door of a new session with h. Change events leave by
// notify, which may block; ctx is the session's.
func NewHandshake(ctx context.Context, h mcp.Handler, notify func(ctx context.Context, method string, params any) error, opts *Options) *Handshake {
	d := &Handshake{handler: h, opts: opts.withDefaults(), logLevel: mcp.LevelInfo}
	d.box = newOutbox(ctx, func(ctx context.Context, e mcp.Event) error {
		if e.URI == "" {
			return notify(ctx, e.Method, nil)
		}
		return notify(ctx, e.Method, &eventParams{URI: e.URI})
	})
	d.box.start()
	return d
}

// Revision returns what initialize agreed on, nil before.
func (d *Handshake) Revision() *revision.Revision {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rev
}

// Close ends the session's subscriptions. Nothing is served afterwards.
func (d *Handshake) Close() {
	d.mu.Lock()
	d.state = shutdown
	watches := d.watches
	d.watches = nil
	d.mu.Unlock()
	for _, stop := range watches {
		stop()
	}
	d.box.close()
}

// Wait returns when no event is being sent; see [outbox.wait].
func (d *Handshake) Wait() { d.box.wait() }

// Notice takes a notification of the client.
func (d *Handshake) Notice(ctx context.Context, method string) {
	switch method {
	case mcp.NotificationInitialized, "initialized":
		d.mu.Lock()
		opened := d.state == initializing
		if opened {
			d.state = operating
		}
		d.mu.Unlock()
		if !opened {
			d.opts.Logger.Debug("ignored a notification out of turn", "method", method)
			return
		}
		filter := mcp.SubscriptionFilter{ToolsListChanged: true, PromptsListChanged: true, ResourcesListChanged: true}
		if err := d.watch(ctx, "", filter); err != nil {
			d.opts.Logger.Debug("no change events", "error", err)
		}
	}
}

// Answer serves one request. The result is for [jsonrpc.AppendValue]; the error
// is a [*jsonrpc.Error] where the client may know the reason.
func (d *Handshake) Answer(ctx context.Context, in *Incoming) (any, error) {
	switch in.Method {
	case mcp.MethodInitialize:
		return d.initialize(ctx, in)
	case mcp.MethodPing:
		return struct{}{}, nil
	}
	call, rev, err := d.call(in)
	if err != nil {
		return nil, err
	}
	switch in.Method {
	case mcp.MethodSetLevel:
		return d.setLevel(in)
	case mcp.MethodSubscribe:
		return d.subscribe(ctx, in)
	case mcp.MethodUnsubscribe:
		return d.unsubscribe(in)
	case mcp.MethodDiscover, mcp.MethodSubscriptionsListen,
		mcp.MethodGetDeferred, mcp.MethodUpdateDeferred, mcp.MethodCancelDeferred:
		return nil, jsonrpc.MethodNotFound(in.Method)
	}
	result, err := d.rounds(ctx, in, rev, call)
	if err != nil {
		return nil, wireError(rev, err)
	}
	return shapeFor(rev, result)
}

// opensSession lists the methods that only a session that is operating has. Any
// other method is the handler's own and not bound to the handshake.
func opensSession(method string) bool {
	switch method {
	case mcp.MethodListTools, mcp.MethodCallTool, mcp.MethodListResources, mcp.MethodListResourceTemplates,
		mcp.MethodReadResource, mcp.MethodSubscribe, mcp.MethodUnsubscribe, mcp.MethodListPrompts,
		mcp.MethodGetPrompt, mcp.MethodComplete, mcp.MethodSetLevel:
		return true
	}
	return false
}

// call checks that the request may come now.
func (d *Handshake) call(in *Incoming) (*mcp.Call, *revision.Revision, error) {
	f := in.fields()
	if err := f.checkMeta(); err != nil {
		return nil, nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if opensSession(in.Method) && d.state != operating {
		return nil, nil, d.tooSoonLocked(in.Method)
	}
	call := in.place()
	*call = mcp.Call{
		Method: in.Method, Params: in.Params, Long: f.long, Client: d.client, Principal: in.Principal,
		ProgressToken: f.progressToken, LogLevel: d.logLevel, Meta: f.meta,
	}
	rev := d.rev
	if d.state == created { // a custom method, from a client that never introduced itself
		call.Client, rev = &mcp.Client{}, revision.NewestHandshake()
	}
	call.Notify = olderNotify(rev, in.Notify)
	if rev.EarlyClose {
		if line, ok := in.Ask.(Hanger); ok {
			call.Hangup = line.Hangup
		}
	}
	return call, rev, nil
}

func (d *Handshake) tooSoonLocked(method string) error {
	switch d.state {
	case created:
		way := "send initialize first"
		if len(d.opts.Revisions.Stateless) > 0 {
			way += ", or a request whose _meta names " + mcp.MetaProtocolVersion
		}
		return jsonrpc.InvalidRequest("%s needs a session: %s", method, way)
	case initializing:
		return jsonrpc.InvalidRequest("%s came too soon: send %s first", method, mcp.NotificationInitialized)
	}
	return jsonrpc.InvalidRequest("%s came too late: the session is %v", method, d.state)
}

func (d *Handshake) initialize(ctx context.Context, in *Incoming) (any, error) {
	if jsonscan.KindOf(jsonscan.Get(in.Params, "protocolVersion")) != jsonscan.String {
		return nil, jsonrpc.InvalidParams("protocolVersion must be a string, such as %q", revision.NewestHandshake().Name)
	}
	params, err := readInitialize(in.Params)
	if err != nil {
		return nil, jsonrpc.InvalidParams("capabilities and clientInfo must be objects of the protocol's form")
	}
	rev := d.opts.Revisions.Negotiate(params.ProtocolVersion)
	client := &mcp.Client{Info: params.ClientInfo, Capabilities: knownCapabilities(rev, params.Capabilities), Revision: rev.Name}

	d.mu.Lock()
	if d.state != created {
		defer d.mu.Unlock()
		return nil, jsonrpc.InvalidRequest("initialize came before: the session is %v", d.state)
	}
	d.state, d.rev, d.client = initializing, rev, client
	d.mu.Unlock()

	found, err := discover(ctx, d.handler, client)
	if err != nil {
		d.mu.Lock()
		d.state, d.rev = created, nil
		d.mu.Unlock()
		return nil, wireError(rev, err)
	}
	return introduce(rev, found), nil
}

func (d *Handshake) setLevel(in *Incoming) (any, error) {
	level := mcp.LoggingLevel(jsonscan.Unquote(jsonscan.Get(in.Params, "level")))
	if !level.Valid() {
		return nil, jsonrpc.InvalidParams("level must be one of the eight log levels, from debug to emergency")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.logLevel = level
	return struct{}{}, nil
}
