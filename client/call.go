package client

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/internal/lifecycle"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/mcp"
)

// request is a call on its way, over as many rounds and connections as it takes.
type request struct {
	method   string
	opts     CallOptions
	out      lifecycle.Outgoing
	resends  int  // how often it was sent again without having been executed
	relisted bool // the tools were listed for it

	tool   toolCall       // the params, if it calls a tool
	answer jsontext.Value // as it came, of the last sending
}

// requests holds requests that are over.
var requests = sync.Pool{New: func() any { return new(request) }}

// recycle keeps a request for another call, after a run that took no questions:
// then nothing else refers to it.
func (r *request) recycle() {
	*r = request{}
	requests.Put(r)
}

// newRequest prepares a call. Params are known to be an object without _meta.
func (c *Client) newRequest(method string, params any, opts *CallOptions) (*request, error) {
	r := requests.Get().(*request)
	r.method = method
	if opts != nil {
		r.opts = *opts
	}
	orElse(&r.opts.Timeout, c.opts.Timeout)
	orElse(&r.opts.MaxTimeout, c.opts.MaxTimeout)
	if r.opts.OnProgress == nil {
		r.opts.OnProgress = c.opts.OnProgress
	}
	if r.opts.Meta != nil {
		if err := checkObject(r.opts.Meta); err != nil {
			return nil, localf(method, "_meta: %w", err)
		}
	}
	r.out.Params, r.out.Meta, r.out.LogLevel = params, r.opts.Meta, *c.level.Load()
	return r, nil
}

// rawRequest prepares a call whose params may be anything.
func (c *Client) rawRequest(method string, params any, opts *CallOptions) (*request, error) {
	r, err := c.newRequest(method, nil, opts)
	if err != nil || params == nil {
		return r, err
	}
	text, err := jsonrpc.AppendValue(nil, params)
	if err == nil {
		err = checkObject(text)
	}
	if err != nil {
		return nil, localf(method, "params: %v", err)
	}
	r.out.Params = jsontext.Value(text)
	if meta := jsonscan.Get(text, "_meta"); meta != nil {
		r.out.Params = without(text, "_meta")
		if r.out.Meta == nil && jsonscan.KindOf(meta) == jsonscan.Object {
			r.out.Meta = meta
		}
	}
	return r, nil
}

var errNoObject = errors.New("must be a JSON object")

// checkObject reports what keeps text from being sent as an object.
func checkObject(text []byte) error {
	if err := jsonscan.Check(text, jsonrpc.MaxDepth-8); err != nil {
		return err
	}
	if jsonscan.KindOf(jsonscan.Trim(text)) != jsonscan.Object {
		return errNoObject
	}
	return nil
}

// without returns an object but for one of its members.
func without(object []byte, member string) jsontext.Value {
	out := []byte{'{'}
	for name, value := range jsonscan.Members(object) {
		if string(name) == member {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(jsonscan.AppendQuote(out, string(name)), ':')
		out = append(out, value...)
	}
	return append(out, '}')
}

// decode reads a result. What does not fit is the server's mistake, but the error
// is ours.
func decode(method string, text jsontext.Value, into any) error {
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return localf(method, "read result: %v", err)
	}
	return nil
}

const (
	// maxRounds is how often one call answers questions of the server.
	maxRounds = 64
	// maxResends is how often a request is sent again that was not executed.
	maxResends = 3
)

// run makes a call: it sends the request, answers what the server asks in place
// of a result, and sends it again with the answers. The result is complete; asked
// reports whether it took questions.
func (c *Client) run(ctx context.Context, r *request) (reply lifecycle.Reply, asked bool, err error) {
	for round := range maxRounds {
		reply, err = c.exchange(ctx, r)
		if err == nil && reply.Deferred != nil {
			reply, err = c.later(ctx, r, reply.Deferred)
			return reply, true, err
		}
		if err != nil || reply.Input == nil {
			return reply, round > 0, err
		}
		if r.out.Responses, err = c.answerAll(ctx, r.method, reply.Input.InputRequests); err != nil {
			return reply, true, err
		}
		r.out.State = reply.State
		if r.out.Responses == nil { // it only wants to be asked again
			if err := sleep(ctx, min(firstPause<<min(round, 5), 2*time.Second)); err != nil {
				return reply, true, local(r.method, err)
			}
		}
	}
	return reply, true, localf(r.method, "the server asked %d times and never answered", maxRounds)
}

// exchange sends a request and reads its result. A request that the server
// certainly did not execute is sent again where that may help.
func (c *Client) exchange(ctx context.Context, r *request) (lifecycle.Reply, error) {
	for {
		k, err := c.connection(ctx)
		if err != nil {
			return lifecycle.Reply{}, localf(r.method, "%w", err) // even if a server refused the greeting: that answers no call
		}
		a := k.agreement.Load()
		if !a.Stateless && (r.out.Responses != nil || r.out.State != nil) {
			return lifecycle.Reply{}, localf(r.method, "the server was replaced by an older one while it asked questions")
		}
		result, err := c.send(ctx, k, a, r)
		if err == nil {
			reply, err := a.Read(result)
			if err != nil {
				err = localf(r.method, "%w", err)
			}
			return reply, err
		}
		if ctx.Err() != nil || r.resends >= maxResends || !c.mend(ctx, k, r, err) {
			return lifecycle.Reply{}, final(r.method, err)
		}
		r.resends++
	}
}

// mend removes the reason for which a request was not executed, and reports
// whether it could.
func (c *Client) mend(ctx context.Context, k *conn, r *request, err error) bool {
	var refused *jsonrpc.Error
	switch {
	case errors.Is(err, peer.ErrNotSent) && errors.Is(err, peer.ErrClosed):
		c.discard(k)
		return true
	case !errors.As(err, &refused):
		return false
	case refused.Code == mcp.CodeHeaderMismatch && r.method == mcp.MethodCallTool && k.mirror != nil && !r.relisted:
		r.relisted = true
		return c.relist(ctx) == nil
	}
	next, again := k.agreement.Load().Revise(err)
	if next != nil {
		k.agreement.Store(next)
	}
	if again {
		c.discard(k)
	}
	return next != nil || again
}

// final is the error of a call as the caller gets it.
func final(method string, err error) error {
	var theirs *jsonrpc.Error
	if errors.As(err, &theirs) {
		return theirs
	}
	return local(method, err)
}

// send sends a request over a connection and waits for the answer.
func (c *Client) send(ctx context.Context, k *conn, a *lifecycle.Agreement, r *request) (result jsontext.Value, err error) {
	if r.opts.OnProgress != nil {
		return c.sendWithProgress(ctx, k, a, r)
	}
	l := bound(ctx, k, a, &r.opts)
	defer l.stop()
	bounded := l.context(ctx)
	err = k.peer.Call(bounded, r.method, a.Wrap(&r.out), &r.answer)
	return r.answer, explain(bounded, r.method, err)
}
