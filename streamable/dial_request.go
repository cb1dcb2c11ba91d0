package streamable

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/mcp"
)

// request sends a request and sees to it that its answer reaches the queue, or
// the news that there will be none. It fails only if the server did not execute
// the request, or if ctx ends.
func (c *conn) request(ctx context.Context, message []byte, o *outline) error {
	id, err := jsonrpc.ParseID(o.id)
	if err != nil {
		return fmt.Errorf("read id: %v", err) // not wrapped: it is no error that they sent
	}
	f := &flow{id: id.Key(), version: o.version, opens: o.version == "" && o.method == mcp.MethodInitialize}
	switch {
	case f.version == "":
		f.on = c.stand(f.opens)
	case c.isOldest():
		return errOldest
	}
	own, err := c.begin(ctx, f)
	if err != nil {
		return err
	}
	release := context.AfterFunc(ctx, func() { f.cancel(context.Cause(ctx)) })
	pending, err := f.send(own, message, o)
	release()
	cause := context.Cause(own)
	if c.sent(f, pending) {
		return nil
	}
	switch {
	case err == nil || f.answered.Load() || cause == errGivenUp || cause == peer.ErrClosed: // of the last, Receive tells
		return nil
	case ctx.Err() != nil:
		c.abandon(f, context.Cause(ctx))
		return ctx.Err()
	case cause != nil:
		err = cause
	case isRefused(err):
		return err
	}
	c.lose(ctx, f.id, err)
	return ctx.Err()
}

// isRefused reports whether an error means that the server did not execute the
// request. All others leave it open.
func isRefused(err error) bool {
	var status *HTTPError
	if errors.As(err, &status) {
		return status.Status >= 400 && status.Status <= 499
	}
	var redirect *RedirectError
	var early unsent
	var dial *net.OpError
	return errors.As(err, &redirect) || errors.As(err, &early) || errors.Is(err, peer.ErrUnauthorized) ||
		errors.As(err, &dial) && (dial.Op == "dial" || dial.Op == "proxyconnect")
}

// unsent marks an error that came before the request was sent.
type unsent struct{ error }

// Unwrap returns the error.
func (e unsent) Unwrap() error { return e.error }

// send makes the POST. It reports whether the flow goes on, with a stream to be
// read.
func (f *flow) send(ctx context.Context, message []byte, o *outline) (pending bool, err error) {
	if f.opens {
		return f.open(ctx, message)
	}
	a := f.c.ask(f.on, o, message)
	res, err := f.c.out.do(ctx, a)
	if err != nil {
		return false, err
	}
	return f.accept(ctx, a.url, res)
}

// ask makes the POST of a message: of the handshake era, or with on nil of the
// stateless one.
func (c *conn) ask(on *footing, o *outline, message []byte) *ask {
	a := &ask{method: http.MethodPost, url: c.base, body: bytes.Clone(message)} // a transport may read it even after it answered
	if on == nil {
		a.header = c.statelessHeader(o)
		return a
	}
	var post *url.URL
	if a.header, post = c.sessionHeader(on); post != nil {
		a.url = post
	}
	a.header["Content-Type"], a.header["Accept"] = typeJSON, acceptBoth
	return a
}

// accept takes the response to a request.
func (f *flow) accept(ctx context.Context, u *url.URL, res *http.Response) (pending bool, err error) {
	switch kind := essence(res.Header); {
	case res.StatusCode < 200 || res.StatusCode > 299:
		return false, f.refused(ctx, f.c.readRefusal(http.MethodPost, u, res))
	case f.on != nil && f.c.isOldest(): // the answer comes on the one stream
		discard(res)
		return true, nil
	case kind == eventStream:
		if !f.c.spawn(func() { f.follow(ctx, res.Body) }) { // Close waits for it
			_ = res.Body.Close()
			return false, peer.ErrClosed
		}
		return true, nil
	case kind == "application/json" || kind == "":
		return false, f.acceptJSON(ctx, u, res)
	default:
		r := f.c.readRefusal(http.MethodPost, u, res)
		r.http.Reason = fmt.Sprintf("the content type %q is neither JSON nor an event stream", kind)
		return false, r.http
	}
}

// acceptJSON takes an answer that is no stream.
func (f *flow) acceptJSON(ctx context.Context, u *url.URL, res *http.Response) error {
	text, err := readBody(res.Body, res.ContentLength, f.c.opts.MaxMessage)
	_ = res.Body.Close()
	if err != nil {
		return fmt.Errorf("POST %s: read answer: %w", plainURL(u), err)
	}
	if err = f.take(ctx, text); err == nil && f.answered.Load() {
		return nil
	}
	wrong := httpError(http.MethodPost, u, res, text)
	switch {
	case len(text) == 0:
		wrong.Reason = "there is no answer"
	case errors.Is(err, errNoMessage):
		wrong.Reason = err.Error()
	case err != nil:
		return err
	default:
		wrong.Reason = "the answer is to another request"
	}
	return wrong
}

// refusal is a response that says no.
type refusal struct {
	http *HTTPError
	rpc  *jsonrpc.Error // nil if the body has none
	id   jsonrpc.ID     // that the body answers
}

// maxRefusal is how much of a body that says no is read.
const maxRefusal = 1 << 20

// readRefusal reads a response to its end, or as much of it as matters.
func (c *conn) readRefusal(method string, u *url.URL, res *http.Response) *refusal {
	body, _ := io.ReadAll(io.LimitReader(res.Body, int64(min(maxRefusal, c.opts.MaxMessage)))) // what came is good enough
	_ = res.Body.Close()
	r := &refusal{http: httpError(method, u, res, body)}
	if m, err := jsonrpc.Parse(body); err == nil && m.Error != nil {
		r.rpc, r.id = m.Error, m.ID
	}
	return r
}

// isModern reports whether only a server of the stateless era refuses like that.
func (r *refusal) isModern() bool {
	if r.rpc == nil {
		return false
	}
	switch r.rpc.Code {
	case mcp.CodeHeaderMismatch, mcp.CodeMissingCapability, mcp.CodeUnsupportedVersion:
		return true
	case jsonrpc.CodeMethodNotFound:
		return r.http.Status == http.StatusNotFound
	}
	return false
}

// refused takes a response that says no: as the answer if it has a JSON-RPC error,
// whatever id that carries, because it answers this request; else as an error of
// ours.
func (f *flow) refused(ctx context.Context, r *refusal) error {
	if err := f.c.checkLost(f.on, f.id, r); err != nil {
		return err
	}
	if r.rpc == nil {
		return r.http
	}
	f.c.settle(f.id, f)
	return f.c.push(ctx, jsonrpc.AppendError(nil, f.id, r.rpc))
}

// noticeTime is how long the server may take to accept a message that wants no
// answer.
const noticeTime = 30 * time.Second

// tell sends what is not answered: a notification, or an answer of ours.
func (c *conn) tell(ctx context.Context, message []byte, o *outline) error {
	f := new(flow)
	switch {
	case o.version != "":
	case o.method == "" && c.footing() == nil:
		return errors.New("a server of the stateless era takes no answers")
	case c.footing() != nil:
		f.on = c.footing()
	default:
		o.version = c.lastVersion()
	}
	ctx, cancel := context.WithTimeout(ctx, noticeTime)
	defer cancel()
	own, err := c.begin(ctx, f)
	if err != nil {
		return err
	}
	defer c.end(f)
	release := context.AfterFunc(ctx, func() { f.cancel(context.Cause(ctx)) })
	defer release()
	a := c.ask(f.on, o, message)
	res, err := c.out.do(own, a)
	switch {
	case err != nil && own.Err() != nil:
		return context.Cause(own)
	case err != nil:
		return err
	case res.StatusCode < 200 || res.StatusCode > 299:
		r := c.readRefusal(a.method, a.url, res)
		if err := c.checkLost(f.on, jsonrpc.ID{}, r); err != nil {
			return err
		}
		return r.http
	}
	discard(res)
	if o.method == mcp.NotificationInitialized && f.on != nil {
		c.listen(ctx, f.on)
	}
	return nil
}

// abandon tells the server that nobody waits for a request of the handshake era
// any more: there, to hang up says nothing.
func (c *conn) abandon(f *flow, reason error) {
	if f.on == nil || f.opens || c.footing() != f.on {
		return
	}
	message, err := jsonrpc.AppendRequest(nil, jsonrpc.ID{}, mcp.NotificationCancelled, &cancellation{f.id, reason.Error()})
	if err != nil {
		return
	}
	c.spawn(func() { // Close waits for it
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := c.tell(ctx, message, &outline{method: mcp.NotificationCancelled}); err != nil {
			c.opts.Logger.Debug("send cancellation", "error", err)
		}
	})
}

// cancellation is the params of a cancellation.
type cancellation struct {
	RequestID jsonrpc.ID `json:"requestId"`
	Reason    string     `json:"reason"`
}
