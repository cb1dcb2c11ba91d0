package peer

import (
	"errors"
	"fmt"

	"github.com/bossman-mcp/bossman/jsonrpc"
)

// LostError is what a [Transport]'s Receive returns when the answer to one of
// our requests will not come, though the connection is intact: where each
// request travels alone, each can fail alone. The call that waits for the answer
// fails with Err; if none does, nothing happens.
type LostError struct {
	ID  jsonrpc.ID // of the request
	Err error      // must not hold a [*jsonrpc.Error], which would be the other side's word
}

func (e *LostError) Error() string {
	return fmt.Sprintf("the answer to request %s is lost: %v", e.ID, e.Err)
}

// Unwrap returns Err.
func (e *LostError) Unwrap() error { return e.Err }

// lost reports whether err is the loss of one answer, after failing the call that
// waits for it.
func (p *Peer) lost(err error) bool {
	if err == nil {
		return false
	}
	var l *LostError
	if !errors.As(err, &l) {
		return false
	}
	p.table.lose(l)
	return true
}

// lose fails the call of ours that waits for an answer that will not come.
func (t *table) lose(l *LostError) {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := l.ID.Key()
	if o := t.out[key]; o != nil {
		delete(t.out, key)
		o.err = l.Err
		o.finishLocked()
	}
}
