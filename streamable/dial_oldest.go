package streamable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/bossman-mcp/bossman/internal/sse"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
)

// errOldest says that a request is of another era than the server.
var errOldest = errors.New("a server of HTTP with SSE has no stateless era")

// endpointTime is how long a server may take to name the endpoint for messages.
const endpointTime = 10 * time.Second

func (c *conn) isOldest() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.oldest
}

// open sends initialize. If it is refused in a way that a server of the oldest
// revision would have, that revision is tried; see the spec's Backward
// Compatibility.
func (f *flow) open(ctx context.Context, message []byte) (pending bool, err error) {
	c := f.c
	if !c.isOldest() {
		a := c.ask(f.on, nil, message)
		res, err := c.out.do(ctx, a)
		if err != nil {
			return false, err
		}
		if !mayBeOldest(res.StatusCode) {
			if err := c.adopt(f.on, res.Header); err != nil {
				_ = res.Body.Close()
				return false, err
			}
			return f.accept(ctx, a.url, res)
		}
		r := c.readRefusal(a.method, a.url, res)
		if r.isModern() {
			return false, f.refused(ctx, r)
		}
		if err := c.openOldest(ctx, f.on); err != nil {
			c.opts.Logger.Debug("the server does not speak HTTP with SSE either", "error", err)
			return false, f.refused(ctx, r)
		}
	} else if err := c.openOldest(ctx, f.on); err != nil {
		return false, unsent{err}
	}
	a := c.ask(f.on, nil, message)
	res, err := c.out.do(ctx, a)
	if err != nil {
		return false, err
	}
	return f.accept(ctx, a.url, res)
}

// mayBeOldest reports whether a server that knows only HTTP with SSE would refuse
// a POST with that status. It would not ask who is calling, or for patience.
func mayBeOldest(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusProxyAuthRequired,
		http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	}
	return status >= 400 && status <= 499 || status == http.StatusNotImplemented
}

// openOldest opens the stream on which a server of HTTP with SSE sends everything,
// and learns where messages go.
func (c *conn) openOldest(ctx context.Context, on *footing) error {
	f := &flow{on: on, listens: true}
	own, err := c.begin(ctx, f)
	if err != nil {
		return err
	}
	release := context.AfterFunc(ctx, func() { f.cancel(context.Cause(ctx)) })
	late := time.AfterFunc(endpointTime, func() { f.cancel(errNoEndpoint) })
	body, events, err := f.awaitEndpoint(own)
	switch inTime, wanted := late.Stop(), release(); {
	case !wanted:
		err = context.Cause(ctx)
	case !inTime:
		err = errNoEndpoint
	case err == nil && c.spawn(func() { f.followOldest(own, body, events) }): // Close waits for it
		return nil
	case err == nil:
		err = peer.ErrClosed
	}
	if body != nil {
		_ = body.Close()
	}
	c.end(f)
	return err
}

var errNoEndpoint = fmt.Errorf("the server named no endpoint for messages within %v", endpointTime)

// awaitEndpoint opens the stream and reads it to the event that says where
// messages go, which must be on the same origin.
func (f *flow) awaitEndpoint(ctx context.Context) (io.ReadCloser, *sse.Decoder, error) {
	c := f.c
	a := &ask{method: http.MethodGet, url: c.base, header: http.Header{"Accept": typeEvents}}
	res, err := c.out.do(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	if res.StatusCode != http.StatusOK || essence(res.Header) != eventStream {
		return nil, nil, c.readRefusal(a.method, a.url, res).http
	}
	events := sse.NewDecoder(res.Body, c.opts.MaxMessage)
	for {
		e, err := events.Next()
		switch {
		case err != nil:
			return res.Body, nil, fmt.Errorf("wait for the endpoint for messages: %w", err)
		case e.Name != "endpoint":
			continue
		}
		post, err := a.url.Parse(string(e.Data))
		if err != nil || !sameOrigin(c.base, post) {
			return res.Body, nil, fmt.Errorf("the endpoint for messages %q is not on the server's origin", excerpt(e.Data))
		}
		post.User, post.Fragment = nil, ""
		c.mu.Lock()
		defer c.mu.Unlock()
		f.on.post, c.oldest = post, true
		return res.Body, events, nil
	}
}

// followOldest reads the one stream there is. When it ends, so does the session.
func (f *flow) followOldest(ctx context.Context, body io.Closer, events *sse.Decoder) {
	defer f.c.end(f)
	defer body.Close()
	err := fmt.Errorf("%w: %w", ErrSessionLost, broken(ctx, f.decode(ctx, events)))
	for _, call := range f.c.forsake(f.on) {
		f.c.lose(context.Background(), call.id, err)
	}
}

// forsake marks a footing as lost and removes the requests that wait on it.
func (c *conn) forsake(on *footing) (calls []*flow) {
	c.mu.Lock()
	defer c.mu.Unlock()
	on.lost = true
	for id, call := range c.calls {
		if call.on == on {
			calls = append(calls, call)
			delete(c.calls, id)
			delete(c.flows, call)
			call.cancel(ErrSessionLost)
		}
	}
	return calls
}
