package client

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/internal/lifecycle"
	"github.com/bossman-mcp/bossman/mcp"
)

// progress takes what the server says of one call, on the reading goroutine, and
// keeps it for the goroutine of the call.
type progress struct {
	limit *limit // moved by progress; nil: there is none

	mu    sync.Mutex
	queue []*mcp.ProgressParams
	ready chan struct{} // holds one when queue is not empty
}

// maxProgress is how many notifications wait for a callback that is slow; the
// oldest make room.
const maxProgress = 64

func (p *progress) add(params *mcp.ProgressParams) {
	if p.limit != nil {
		p.limit.extend()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) >= maxProgress {
		p.queue = slices.Delete(p.queue, 0, 1)
	}
	p.queue = append(p.queue, params)
	select {
	case p.ready <- struct{}{}:
	default:
	}
}

func (p *progress) take() []*mcp.ProgressParams {
	p.mu.Lock()
	defer p.mu.Unlock()
	queue := p.queue
	p.queue = nil
	return queue
}

// sendWithProgress sends a request on a goroutine of its own, so that this one
// can tell the caller how far it is.
func (c *Client) sendWithProgress(ctx context.Context, k *conn, a *lifecycle.Agreement, r *request) (jsontext.Value, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l := bound(ctx, k, a, &r.opts)
	defer l.stop()
	bounded := l.context(ctx)
	p := &progress{limit: l, ready: make(chan struct{}, 1)}
	r.out.ProgressToken = c.tokens.Add(1)
	k.follow(r.out.ProgressToken, p)
	defer k.follow(r.out.ProgressToken, nil)

	var result jsontext.Value
	done := make(chan error, 1)
	go func() { done <- k.peer.Call(bounded, r.method, a.Wrap(&r.out), &result) }() // awaited below; cancel ends it if a callback panics
	for {
		select {
		case <-p.ready:
			p.tell(r.opts.OnProgress)
		case err := <-done:
			p.tell(r.opts.OnProgress)
			return result, explain(bounded, r.method, err)
		}
	}
}

func (p *progress) tell(callback func(*mcp.ProgressParams)) {
	for _, params := range p.take() {
		callback(params)
	}
}

// follow notes who hears of a token; nil: nobody any more.
func (k *conn) follow(token int64, p *progress) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p == nil {
		delete(k.progress, token)
		return
	}
	k.progress[token] = p
}

// advance takes a notification of progress. One for a call that has ended, or
// never was, is dropped.
func (k *conn) advance(params []byte) {
	token, err := strconv.ParseInt(string(jsonscan.Get(params, mcp.MetaProgressToken)), 10, 64)
	if err != nil {
		return
	}
	k.mu.Lock()
	p := k.progress[token]
	k.mu.Unlock()
	if p == nil {
		return
	}
	decoded := new(mcp.ProgressParams)
	if err := json.Unmarshal(params, decoded); err != nil {
		k.client.log.Debug("passed over a progress notification", "error", err)
		return
	}
	p.add(decoded)
}
