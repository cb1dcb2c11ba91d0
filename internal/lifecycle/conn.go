package lifecycle

import (
	"context"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/mcp"
)

// Conn serves one connection on which both eras may speak, message by message.
type Conn struct {
	peer      *peer.Peer
	handshake *Handshake
	stateless *Stateless
	principal *mcp.Principal

	mu   sync.Mutex
	held map[*peer.Request]*Held // open subscriptions
	done bool                    // no more input is read
}

// ConnOptions are what a [Conn] can be told; nil means the zero value of each.
type ConnOptions struct {
	Options
	Peer      peer.Options
	Principal *mcp.Principal // whoever is at the other end, if that is known
}

// Serve lets h answer what comes over t, until the input or ctx ends. It returns
// nil for either, after what was in flight has ended.
func Serve(ctx context.Context, t peer.Transport, h mcp.Handler, opts *ConnOptions) error {
	if opts == nil {
		opts = &ConnOptions{}
	}
	full := opts.withDefaults()
	c := &Conn{stateless: NewStateless(h, &full), principal: opts.Principal, held: make(map[*peer.Request]*Held)}
	peerOpts := opts.Peer
	peerOpts.Logger = full.Logger
	peerOpts.InOrder = func(method string) bool { return method == mcp.MethodInitialize }
	peerOpts.Kind = c.kind
	peerOpts.Batches = c.batches
	peerOpts.OnEnd = c.end
	c.peer = peer.New(t, c, &peerOpts)
	c.handshake = NewHandshake(context.WithoutCancel(ctx), h, c.peer.Notify, &full)
	err := c.peer.Run(ctx)
	c.handshake.Close()
	c.handshake.Wait()
	return err
}

func (c *Conn) batches() bool {
	rev := c.handshake.Revision()
	return rev != nil && rev.Batch
}

// kind reads what doors will look at, and tells tools apart: each takes its own
// time.
func (c *Conn) kind(r *peer.Request, members []jsonrpc.Member) []byte {
	in := &struct { // one allocation for the two
		Received
		notes Notes
	}{}
	in.Incoming = Incoming{ID: r.ID, Method: r.Method, Params: r.Params, Principal: c.principal, Notify: r.Notify}
	in.Read(members, &in.notes)
	r.Note = &in.Incoming
	if r.Method == mcp.MethodCallTool {
		return in.notes.fields.name
	}
	return nil
}

// Answer picks the door.
func (c *Conn) Answer(ctx context.Context, r *peer.Request) (any, error) {
	in := r.Note.(*Incoming)
	if c.isStateless(in) {
		return c.hold(ctx, r, in)
	}
	in.Ask = c
	return c.handshake.Answer(ctx, in)
}

// Ask puts a question to the client.
func (c *Conn) Ask(ctx context.Context, method string, params any, result *jsontext.Value) error {
	return c.peer.Call(ctx, method, params, result)
}

// isStateless reports whether a request is of the stateless era, or of neither
// where that is the only one.
func (c *Conn) isStateless(in *Incoming) bool {
	ours := c.stateless.opts.Revisions
	switch {
	case len(ours.Stateless) == 0:
		return false
	case len(ours.Handshake) == 0:
		return true
	}
	return in.fields().version != nil || in.Method == mcp.MethodDiscover || in.Method == mcp.MethodSubscriptionsListen
}

// hold serves a stateless request; one that stays open is kept until the client
// cancels it or the connection ends.
func (c *Conn) hold(ctx context.Context, r *peer.Request, in *Incoming) (any, error) {
	result, err := c.stateless.Answer(ctx, in)
	held, ok := result.(*Held)
	if err != nil || !ok {
		return result, err
	}
	c.mu.Lock()
	if c.done {
		c.mu.Unlock()
		held.Close()
		return held.Last(), nil
	}
	c.held[r] = held
	c.mu.Unlock()
	context.AfterFunc(ctx, func() { // cancelled, or finished by end
		c.mu.Lock()
		delete(c.held, r)
		c.mu.Unlock()
		held.Close()
	})
	return peer.Open, nil
}

// end tells subscribers that no more will come.
func (c *Conn) end() {
	c.mu.Lock()
	c.done = true
	held := c.held
	c.held = make(map[*peer.Request]*Held)
	c.mu.Unlock()
	for r, h := range held {
		h.Close()
		r.Finish(context.Background(), h.Last(), nil)
	}
}

// Notice takes a notification. Only the handshake era has some that matter;
// cancellations never come this far.
func (c *Conn) Notice(ctx context.Context, method string, _ []byte) {
	c.handshake.Notice(ctx, method)
}
