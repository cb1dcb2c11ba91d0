package streamable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/mcp"
)

// conn is a connection to a server: messages leave as POSTs, and what the
// responses and streams bring is gathered for one receiver.
type conn struct {
	opts  DialOptions
	base  *url.URL // the endpoint
	out   requester
	tools toolHeaders

	queue   chan delivery
	done    chan struct{} // closed by Close
	closing sync.Once
	work    sync.WaitGroup // goroutines of the connection; grows only while it is open

	mu      sync.Mutex
	closed  bool
	flows   map[*flow]struct{}   // all
	calls   map[jsonrpc.ID]*flow // those that wait for an answer
	current *footing             // of the handshake era; nil before initialize
	version string               // of the stateless era; empty before the first request
	oldest  bool                 // the server speaks HTTP with SSE
}

// delivery is what Receive returns.
type delivery struct {
	message []byte
	err     error
}

// flow is one exchange with the server: a request until its answer is there, or
// a stream.
type flow struct {
	c       *conn
	id      jsonrpc.ID // of the request, as ID.Key; zero if the flow is none
	version string     // of a request of the stateless era; empty in the other
	on      *footing   // of the handshake era; nil in the other
	opens   bool       // the request is initialize
	listens bool       // the stream is for what the server says by itself

	cancel   context.CancelCauseFunc
	answered atomic.Bool

	// Of the connection's lock.
	sending   bool // its POST is under way
	elsewhere bool // its answer came on another's stream

	// Of the goroutine that reads the stream.
	opened    chan struct{} // closed at the first answer to a GET; nil: nobody wants to know, or it is closed
	lastEvent string        // its last event's id
	retry     time.Duration // what the server asked for; 0: nothing
}

var (
	errGivenUp = fmt.Errorf("given up: %w", context.Canceled)
	errSettled = errors.New("the answer is there")
)

// Send sends a message; see [Dialer.Dial].
func (c *conn) Send(ctx context.Context, message []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	o := readOutline(message)
	switch {
	case o.method != "" && len(o.id) > 0:
		return c.request(ctx, message, &o)
	case o.method == mcp.NotificationCancelled:
		return c.giveUp(ctx, message, &o)
	}
	return c.tell(ctx, message, &o)
}

// Receive returns what came next on any of the streams.
func (c *conn) Receive(ctx context.Context) ([]byte, error) {
	select {
	case d := <-c.queue:
		return d.message, d.err
	default:
	}
	select {
	case d := <-c.queue:
		return d.message, d.err
	case <-c.done:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close ends every flow, waits for the goroutines, and takes leave of the
// session.
func (c *conn) Close() error {
	c.closing.Do(func() {
		c.mu.Lock()
		c.closed = true
		close(c.done)
		for f := range c.flows {
			f.cancel(peer.ErrClosed)
		}
		c.mu.Unlock()
		c.work.Wait()
		c.leave()
		c.out.hangUp()
	})
	return nil
}

// begin enters a flow. Its context has the values of ctx but its own end. If it
// succeeds, end must follow.
func (c *conn) begin(ctx context.Context, f *flow) (context.Context, error) {
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	f.c, f.cancel = c, cancel
	err := c.enter(f)
	if err != nil {
		cancel(err)
	}
	return own, err
}

func (c *conn) enter(f *flow) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return peer.ErrClosed
	case f.on != nil && f.on.lost:
		return ErrSessionLost
	case !f.id.IsZero():
		if c.calls[f.id] != nil {
			return fmt.Errorf("request %s is already in flight", f.id)
		}
		c.calls[f.id], f.sending = f, true
	}
	c.flows[f] = struct{}{}
	if f.version != "" {
		c.version = f.version
	}
	return nil
}

// end removes a flow and frees what it holds.
func (c *conn) end(f *flow) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.flows, f)
	if c.calls[f.id] == f {
		delete(c.calls, f.id)
	}
	f.cancel(errSettled)
}

// spawn runs a goroutine that Close waits for, unless the connection is closed.
func (c *conn) spawn(run func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.work.Go(run) // Close waits for it
	}
	return !c.closed
}

// find returns the flow of a request that waits for its answer, nil if there is
// none.
func (c *conn) find(id jsonrpc.ID) *flow {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[id.Key()]
}

// sent notes that the POST of a request is over. It reports whether the flow goes
// on, because its answer is still to come; otherwise it has ended.
func (c *conn) sent(f *flow, pending bool) bool {
	c.mu.Lock()
	f.sending = false
	pending = pending && !f.elsewhere
	c.mu.Unlock()
	if !pending {
		c.end(f)
	}
	return pending
}

// settle notes that the answer to a request came on the stream of f, and reports
// whether anybody waits for it. If it came on another's stream, as in the oldest
// revision, the request's own flow ends; but not while it is being sent: net/http
// may by then have given its connection to another request, which a cancellation
// would hit.
func (c *conn) settle(id jsonrpc.ID, f *flow) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := id.Key()
	call := c.calls[key]
	if call == nil {
		return false
	}
	call.answered.Store(true)
	delete(c.calls, key)
	if call.elsewhere = call != f; call.elsewhere && !call.sending {
		delete(c.flows, call)
		call.cancel(errSettled)
	}
	return true
}

// push queues a message for Receive. It waits while the queue is full.
func (c *conn) push(ctx context.Context, message []byte) error {
	select {
	case c.queue <- delivery{message: message}:
		return nil
	case <-c.done:
		return peer.ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// lose reports that the answer to a request will not come, unless that goes
// without saying because the connection is closed.
func (c *conn) lose(ctx context.Context, id jsonrpc.ID, err error) {
	select {
	case <-c.done:
		return
	default:
	}
	select {
	case c.queue <- delivery{err: &peer.LostError{ID: id, Err: err}}:
	case <-c.done:
	case <-ctx.Done():
	}
}

// giveUp cancels a request. In the stateless era that is to hang up; in the
// other the server is told.
func (c *conn) giveUp(ctx context.Context, message []byte, o *outline) error {
	var f *flow
	if id, err := jsonrpc.ParseID(jsonscan.Get(o.params, "requestId")); err == nil {
		f = c.find(id)
	}
	switch {
	case f != nil && f.on == nil:
		f.cancel(errGivenUp)
		return nil
	case f == nil && c.footing() == nil: // it is answered
		return nil
	}
	err := c.tell(ctx, message, o)
	if f != nil {
		f.cancel(errGivenUp)
		c.end(f)
	}
	return err
}

// outline is what a message of ours tells about itself.
type outline struct {
	id      []byte // raw; empty in a notification
	method  string // empty in a response
	params  []byte // raw
	version string // in _meta, as messages of the stateless era have it
}

func readOutline(message []byte) (o outline) {
	for name, value := range jsonscan.Members(message) {
		switch string(name) {
		case "id":
			o.id = value
		case "method":
			o.method = jsonscan.Unquote(value)
		case "params":
			o.params = value
		}
	}
	if meta := jsonscan.Get(o.params, "_meta"); meta != nil {
		o.version = jsonscan.Unquote(jsonscan.Get(meta, mcp.MetaProtocolVersion))
	}
	return o
}
