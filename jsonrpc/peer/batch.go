package peer

import (
	"bytes"
	"context"
	"sync"

	"github.com/bossman-mcp/bossman/jsonrpc"
)

// takeBatch serves the messages of a batch at once and answers with one array,
// or with nothing when none of them wants an answer.
func (p *Peer) takeBatch(ctx context.Context, text []byte) {
	if p.opts.Batches == nil || !p.opts.Batches() {
		p.refuse(ctx, jsonrpc.ID{}, jsonrpc.InvalidRequest("batches are not part of this protocol revision"), wire{p})
		return
	}
	messages, err := jsonrpc.ParseBatch(text, p.opts.MaxBatch)
	if err != nil {
		p.refuse(ctx, jsonrpc.ID{}, err, wire{p})
		return
	}
	b := &batch{}
	for _, message := range messages {
		p.take(ctx, message, b)
	}
	p.calls.Go(func() { // Run waits for it
		b.inFlight.Wait()
		if array := b.array(); array != nil {
			wire{p}.put(ctx, array)
		}
	})
}

// batch gathers the responses of one array.
type batch struct {
	inFlight sync.WaitGroup

	mu      sync.Mutex
	answers [][]byte
}

func (b *batch) enter() { b.inFlight.Add(1) }
func (b *batch) leave() { b.inFlight.Done() }

func (b *batch) put(_ context.Context, response []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answers = append(b.answers, bytes.Clone(response))
}

// array returns the answers as a JSON array, nil when there are none.
func (b *batch) array() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.answers) == 0 {
		return nil
	}
	array := append([]byte{'['}, bytes.Join(b.answers, []byte{','})...)
	return append(array, ']')
}
