package peer

import (
	"context"
	"errors"
	"sync"

	"github.com/bossman-mcp/bossman/jsonrpc"
)

// takeBatch serves the messages of a batch at once and answers with one array,
// or with nothing when none of them wants an answer.
func (p *Peer) takeBatch(ctx context.Context, text []byte) {
	messages, err := jsonrpc.ParseBatch(text, p.opts.MaxBatch)
	var wrong *jsonrpc.Error
	isJSON := !errors.As(err, &wrong) || wrong.Code != jsonrpc.CodeParseError
	if isJSON && (p.opts.Batches == nil || !p.opts.Batches()) {
		err = jsonrpc.InvalidRequest("batches are not part of this protocol revision")
	}
	if err != nil {
		p.reject(ctx, jsonrpc.ID{}, err, wire{p})
		return
	}
	if !p.table.join() {
		p.refuse(ctx, jsonrpc.ID{}, errClosing(), wire{p})
		return
	}
	defer p.table.work.Done()
	b := &batch{p: p}
	b.enter()
	for _, message := range messages {
		p.take(ctx, message, b)
	}
	b.leave(ctx)
}

// batch gathers the responses of one array. Whoever is the last to leave sends
// it, so that nobody has to wait.
type batch struct {
	p *Peer

	mu      sync.Mutex
	inside  int    // requests that may still be answered, and the reader of the batch
	answers []byte // the array so far, without its closing bracket
}

func (b *batch) enter() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inside++
}

func (b *batch) put(_ context.Context, response []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	separator := byte(',')
	if len(b.answers) == 0 {
		separator = '['
	}
	b.answers = append(append(b.answers, separator), response...)
}

func (b *batch) leave(ctx context.Context) {
	b.mu.Lock()
	b.inside--
	last := b.inside == 0
	b.mu.Unlock()
	if last && len(b.answers) > 0 {
		wire{b.p}.put(ctx, append(b.answers, ']'))
	}
}
