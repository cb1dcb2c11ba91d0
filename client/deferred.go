package client

import (
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/internal/lifecycle"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

// later waits for the result that a handle stands for.
func (c *Client) later(ctx context.Context, r *request, handle *mcp.Deferred) (lifecycle.Reply, error) {
	if r.method != mcp.MethodCallTool || c.opts.NoDeferred {
		return lifecycle.Reply{}, localf(r.method, "the server sent a handle in place of a result, which it may not here")
	}
	return c.fetch(ctx, r, handle)
}

// fetch follows a deferred result to its end: the server tells of changes if it
// wants to, and is asked in any case. If the end cannot be reached, it is told to
// stop, unless the caller wants otherwise.
func (c *Client) fetch(ctx context.Context, r *request, handle *mcp.Deferred) (lifecycle.Reply, error) {
	if r.opts.MaxTimeout >= 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.opts.MaxTimeout, &TimeoutError{After: r.opts.MaxTimeout, InAll: true})
		defer cancel()
	}
	p := &pursuit{client: c, request: r, id: handle.ID, answered: make(map[string]bool), last: *handle, news: make(chan *mcp.Deferred, 1)}
	sub, err := c.subscribe(ctx, mcp.SubscriptionFilter{TaskIDs: []string{handle.ID}}, p.hear)
	if err != nil {
		return lifecycle.Reply{}, err // the client is closed
	}
	defer sub.Close()
	reply, err := p.run(ctx)
	if err == nil {
		return reply, nil
	}
	if !p.last.Status.Final() && !r.opts.Leave {
		p.giveUp(context.WithoutCancel(ctx))
	}
	return reply, final(r.method, explain(ctx, r.method, err))
}

// pursuit is a deferred result on its way.
type pursuit struct {
	client   *Client
	request  *request // that the handle answered
	id       string   // of the result
	answered map[string]bool
	rounds   int
	last     mcp.Deferred // its state as last seen; without a status nothing was seen
	heard    int          // how many messages OnProgress was told
	// news holds the last state that the server told by itself.
	news chan *mcp.Deferred
}

const (
	// pollDefault is how often a server is asked that does not say how often it
	// wants to be; the others are the limits of what is believed.
	pollDefault = time.Second
	pollLeast   = 50 * time.Millisecond
	pollMost    = time.Minute
	// maxMisses is how often in a row a look may fail.
	maxMisses = 8
	// giveUpPatience is how long the server may take to hear that a result is no
	// longer wanted.
	giveUpPatience = time.Second
)

// run looks at the state until it is final. The handle itself has no outcome.
func (p *pursuit) run(ctx context.Context) (lifecycle.Reply, error) {
	method := p.request.method
	pause := time.Duration(0)
	if p.last.Status != "" {
		p.tell(&p.last)
		if !p.last.Status.Final() {
			pause = pollInterval(&p.last)
		}
	}
	for {
		d, err := p.next(ctx, pause)
		if err != nil {
			return lifecycle.Reply{}, local(method, err)
		}
		changed := d.Status != p.last.Status || d.StatusMessage != p.last.StatusMessage
		p.last = *d
		if changed {
			p.tell(d)
		}
		switch d.Status {
		case mcp.DeferredCompleted:
			return lifecycle.Reply{Result: d.Result}, nil
		case mcp.DeferredFailed:
			return lifecycle.Reply{}, d.Error
		case mcp.DeferredCancelled:
			return lifecycle.Reply{}, localf(method, "the result was cancelled: %s", orNone(d.StatusMessage))
		}
		answered, err := p.answer(ctx, d)
		if err != nil {
			return lifecycle.Reply{}, local(method, err)
		}
		if pause = pollInterval(d); answered {
			pause = 0
		}
	}
}

// next returns the state when the server tells it, or when it is time to ask.
func (p *pursuit) next(ctx context.Context, pause time.Duration) (*mcp.Deferred, error) {
	if pause > 0 {
		timer := time.NewTimer(pause)
		defer timer.Stop()
		select {
		case d := <-p.news:
			return d, nil
		case <-timer.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return p.look(ctx)
}

// hear takes a state that the server told by itself, in the place of an older one.
// One goroutine calls it at a time.
func (p *pursuit) hear(e mcp.Event) {
	if e.Deferred == nil || e.Deferred.ID != p.id {
		return
	}
	select {
	case <-p.news:
	default:
	}
	p.news <- e.Deferred
}

func orNone(reason string) string {
	if reason == "" {
		return "no reason given"
	}
	return reason
}

// pollInterval is how long to wait before the next look.
func pollInterval(d *mcp.Deferred) time.Duration {
	if d.PollIntervalMs <= 0 {
		return pollDefault
	}
	ms := min(d.PollIntervalMs, pollMost.Milliseconds())
	return max(time.Duration(ms)*time.Millisecond, pollLeast)
}

// tell calls back. A status message is a kind of progress, of which only the
// order is known.
func (p *pursuit) tell(d *mcp.Deferred) {
	opts := &p.request.opts
	if opts.OnDeferred != nil {
		opts.OnDeferred(d)
	}
	if opts.OnProgress != nil && d.StatusMessage != "" && !d.Status.Final() {
		p.heard++
		opts.OnProgress(&mcp.ProgressParams{Progress: float64(p.heard), Message: d.StatusMessage})
	}
}

// look asks for the state.
func (p *pursuit) look(ctx context.Context) (*mcp.Deferred, error) {
	method := p.request.method
	result, err := p.insist(ctx, mcp.MethodGetDeferred, &mcp.DeferredParams{ID: p.id})
	if err != nil {
		return nil, localf(method, "fetch the result that came later: %w", err)
	}
	d, err := lifecycle.ReadDeferred(result)
	if err == nil && d.ID != p.id {
		err = errors.New("the server answered for another deferred result")
	}
	if err != nil {
		return nil, localf(method, "%w", err)
	}
	return d, nil
}

// insist makes a request that does no harm when it is made twice. What may pass
// is tried again, for the server works on.
func (p *pursuit) insist(ctx context.Context, method string, params any) (jsontext.Value, error) {
	for miss := 1; ; miss++ {
		result, err := p.call(ctx, method, params)
		var refused *jsonrpc.Error
		over := errors.As(err, &refused) && refused.Code != jsonrpc.CodeInternalError
		if err == nil || over || ctx.Err() != nil || miss >= maxMisses || errors.Is(err, ErrClosed) {
			return result, err
		}
		if err := sleep(ctx, pauseAfter(miss)); err != nil {
			return nil, err
		}
	}
}

// call makes a request about the deferred result, without progress of its own.
func (p *pursuit) call(ctx context.Context, method string, params any) (jsontext.Value, error) {
	r := &request{method: method, opts: CallOptions{Timeout: p.request.opts.Timeout, MaxTimeout: p.request.opts.MaxTimeout}}
	r.out.Params, r.out.Meta = params, p.request.opts.Meta
	reply, err := p.client.exchange(ctx, r)
	if err == nil && reply.Input != nil {
		err = localf(method, "the server asks in place of an answer, which it may not here")
	}
	return reply.Result, err
}

// answer answers the questions that were not answered before, and reports whether
// there were any.
func (p *pursuit) answer(ctx context.Context, d *mcp.Deferred) (bool, error) {
	if d.Status != mcp.DeferredInputRequired {
		return false, nil
	}
	var open mcp.InputRequests
	for _, q := range d.InputRequests {
		if !p.answered[q.Key] {
			p.answered[q.Key] = true
			open = append(open, q)
		}
	}
	if len(open) == 0 {
		return false, nil
	}
	if p.rounds++; p.rounds > maxRounds {
		return false, localf(p.request.method, "the server asked %d times and never answered", maxRounds)
	}
	answers, err := p.client.answerAll(ctx, p.request.method, open)
	if err != nil {
		return false, err
	}
	_, err = p.insist(ctx, mcp.MethodUpdateDeferred, answersTo(p.id, answers))
	return true, err
}

// answersTo are the params of tasks/update.
func answersTo(id string, answers jsontext.Value) jsontext.Value {
	out := jsonscan.AppendQuote([]byte(`{"taskId":`), id)
	out = append(append(out, `,"inputResponses":`...), answers...)
	return append(out, '}')
}

// giveUp tells the server that the result is no longer wanted. Whether it listens
// does not matter any more.
func (p *pursuit) giveUp(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, giveUpPatience)
	defer cancel()
	if _, err := p.call(ctx, mcp.MethodCancelDeferred, &mcp.DeferredParams{ID: p.id}); err != nil {
		p.client.log.Debug("give up a deferred result", "error", err)
	}
}
