package client

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/lifecycle"
	"github.com/bossman-mcp/bossman/mcp"
)

// Client is one server as a client sees it, whichever connection it takes. Its
// methods may be called from many goroutines.
type Client struct {
	dialer   Dialer
	opts     Options
	greeting *lifecycle.Greeting
	log      *slog.Logger
	crew     *crew    // connections, dialling, subscriptions
	courier  *courier // callbacks
	tools    toolbox
	codecs   codecs
	lookup   partition // into the cache
	tokens   atomic.Int64
	level    atomic.Pointer[mcp.LoggingLevel]
	newest   atomic.Pointer[conn] // the last that was dialled; nil: none was

	mu    sync.Mutex
	state state
}

// state is what changes in a client. Changes happen in connect.go.
type state struct {
	conn    *conn    // in use; nil while there is none
	dialing *dialing // under way; nil while none is
	known   *lifecycle.Agreement
	verdict Verdict // the last, also when the connection is gone
	closed  bool

	falls     int       // connections in a row that failed or did not last
	notBefore time.Time // when to dial again
	standing  *Subscription
}

// New returns a client that will dial when it is first needed.
func New(d Dialer, opts *Options) (*Client, error) {
	full := opts.withDefaults()
	greeting, err := full.greeting()
	if err != nil {
		return nil, err
	}
	c := &Client{
		dialer: d, opts: full, greeting: greeting, log: full.Logger,
		crew: newCrew(), courier: newCourier(full.Logger),
	}
	c.level.Store(&full.LogLevel)
	c.lookup = full.Cache.partition(full.CacheKey)
	return c, nil
}

// Connect returns a client that has dialled and greeted its server. The context
// is for that only.
func Connect(ctx context.Context, d Dialer, opts *Options) (*Client, error) {
	c, err := New(d, opts)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	if _, err := c.connection(ctx); err != nil {
		_ = c.Close() // nothing was opened that could fail
		return nil, fmt.Errorf("connect: %w", err)
	}
	c.awaitStanding(ctx)
	return c, nil
}

// closePatience is how long Close waits for what does not end: a transport that
// cannot be closed, or a callback.
const (
	closePatience    = 10 * time.Second
	callbackPatience = time.Second
)

// Close ends the connection, and with it what is in flight, and waits until the
// server is gone. It must not be called from one of the On… functions.
func (c *Client) Close() error {
	c.mu.Lock()
	already := c.state.closed
	c.state.closed = true
	k := c.state.conn
	c.state.conn = nil
	c.mu.Unlock()
	var err error
	if k != nil && !already {
		err = k.peer.Close()
	}
	c.crew.end(closePatience)
	c.courier.crew.end(callbackPatience)
	return err
}

// ServerInfo is what a server told about itself. Nothing in it is verified.
type ServerInfo struct {
	mcp.Implementation
	Capabilities mcp.ServerCapabilities
	Instructions string // for a model
	Revision     string // the protocol revision that is spoken, for logs
	Stateless    bool   // whether that is of the stateless era
}

// Server returns what the server told when it was last greeted: the zero value
// before.
func (c *Client) Server() ServerInfo {
	c.mu.Lock()
	a := c.state.known
	c.mu.Unlock()
	if a == nil {
		return ServerInfo{}
	}
	return ServerInfo{a.Server, a.Capabilities, a.Instructions, a.Revision, a.Stateless}
}

// Ping returns nil once the server has answered. A server of the stateless era is
// asked what it is, since pings are gone.
func (c *Client) Ping(ctx context.Context) error {
	k, err := c.connection(ctx)
	if err != nil {
		return local(mcp.MethodPing, err)
	}
	method := mcp.MethodPing
	if k.agreement.Load().Stateless {
		method = mcp.MethodDiscover
	}
	return c.Do(ctx, method, nil, nil, nil)
}

// SetLogLevel changes the least severe level that Options.OnLog wants, from the
// next request on.
func (c *Client) SetLogLevel(ctx context.Context, level mcp.LoggingLevel) error {
	if !level.Valid() {
		return fmt.Errorf("set log level: no such level: %q", level)
	}
	c.level.Store(&level)
	k, err := c.connection(ctx)
	if err != nil {
		return local(mcp.MethodSetLevel, err)
	}
	if k.agreement.Load().Stateless {
		return nil
	}
	return c.Do(ctx, mcp.MethodSetLevel, &mcp.SetLevelParams{Level: level}, nil, nil)
}

// RootsChanged tells the server that Options.Roots has a new answer. Servers of
// the stateless era ask each time, and are not told.
func (c *Client) RootsChanged(ctx context.Context) error {
	k, err := c.connection(ctx)
	if err != nil {
		return local(mcp.NotificationRootsListChanged, err)
	}
	if k.agreement.Load().Stateless {
		return nil
	}
	if err := k.peer.Notify(ctx, mcp.NotificationRootsListChanged, nil); err != nil {
		return local(mcp.NotificationRootsListChanged, err)
	}
	return nil
}

// Do sends a request of any method, for those that the client has no name for.
// Params are written as JSON and must be an object; nil sends none. The result is
// decoded into result, a pointer, unless that is nil; a *jsontext.Value gets it
// raw.
func (c *Client) Do(ctx context.Context, method string, params, result any, opts *CallOptions) error {
	r, err := c.rawRequest(method, params, opts)
	if err != nil {
		return err
	}
	reply, _, err := c.run(ctx, r)
	if err != nil {
		return err
	}
	if raw, ok := result.(*jsontext.Value); ok {
		*raw = reply.Result
		return nil
	}
	return decode(method, reply.Result, result)
}
