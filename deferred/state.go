package deferred

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

// errUnknown says that there is no such record, or no more.
var errUnknown = errors.New("no such deferred result")

// load returns a record as it is now: one whose worker died is failed.
func (d *Deferrer) load(ctx context.Context, id string) (*record, error) {
	r, err := d.read(ctx, id)
	if err != nil || r.Status != mcp.DeferredWorking {
		return r, err
	}
	alive, err := d.isAlive(ctx, r)
	if err != nil || alive {
		return r, err
	}
	return d.change(ctx, id, func(now *record) bool {
		if now.Status != mcp.DeferredWorking || now.Runner != r.Runner {
			return false
		}
		now.fail(jsonrpc.InternalError("the server stopped while it worked on this result"))
		return true
	})
}

// read returns a record as the store has it.
func (d *Deferrer) read(ctx context.Context, id string) (*record, error) {
	if !isID(id) {
		return nil, errUnknown
	}
	data, version, err := d.store.Load(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("load a deferred result: %w", err)
	}
	if data == nil {
		return nil, errUnknown
	}
	r, err := decode(data, version)
	if err == nil && r.isOver() {
		return nil, errUnknown
	}
	return r, err
}

// isAlive reports whether somebody still works on a record.
func (d *Deferrer) isAlive(ctx context.Context, r *record) (bool, error) {
	if r.Runner == d.mark.name {
		return d.job(r.ID) != nil, nil
	}
	return d.mark.isAlive(ctx, r.Runner)
}

// maxSwaps is how often a change is tried that others are quicker than.
const maxSwaps = 1000

// change applies a change to the newest version of a record, unless apply
// reports that there is nothing to do, and tells subscribers. Apply may be called
// more than once.
func (d *Deferrer) change(ctx context.Context, id string, apply func(*record) bool) (*record, error) {
	for range maxSwaps {
		r, err := d.read(ctx, id)
		if err != nil || !apply(r) {
			return r, err
		}
		d.touch(r)
		data, err := r.encode()
		if err != nil {
			return nil, err
		}
		done, err := d.store.Swap(ctx, id, r.version, data, r.Until)
		if err != nil {
			return nil, fmt.Errorf("change a deferred result: %w", err)
		}
		if done {
			r.version++
			d.publish(r)
			return r, nil
		}
	}
	return nil, fmt.Errorf("change a deferred result: others were quicker %d times", maxSwaps)
}

// giveUp ends a record, and the work on it, because its client does not want it.
func (d *Deferrer) giveUp(ctx context.Context, id string) error {
	_, err := d.change(ctx, id, func(r *record) bool {
		if r.Status.Final() {
			return false
		}
		r.end(mcp.DeferredCancelled, "cancelled by the client")
		return true
	})
	if j := d.job(id); err == nil && j != nil {
		j.cancel(errGivenUp)
	}
	return err
}

// cut shortens text to so many bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return strings.TrimSpace(text[:most]) + "…"
}
