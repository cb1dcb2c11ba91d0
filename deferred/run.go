package deferred

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

// begin keeps the Call and starts the work on it. The handle is returned after
// the store has the record.
func (d *Deferrer) begin(ctx context.Context, c *mcp.Call) (any, error) {
	r := newRecord(c)
	life, j, err := d.enter(ctx, r.ID)
	if err != nil {
		return refused(err)
	}
	r.Runner = d.mark.name
	d.touch(r)
	r.Created = r.Updated
	data, err := r.encode()
	if err == nil {
		err = d.store.Create(ctx, r.ID, data, r.Until)
	}
	if err != nil {
		d.leave(j)
		return refused(err)
	}
	if ctx.Err() != nil { // nobody will ever know the handle
		d.giveUp(life, r.ID)
		d.leave(j)
		return nil, ctx.Err()
	}
	handle := r.state(d.opts.PollInterval, false)
	handle.ResultType = mcp.ResultTask
	d.start(life, j, r)
	return handle, nil
}

// refused answers a Call whose work cannot begin. What may pass is for the model
// to read.
func refused(err error) (any, error) {
	if text := passing(err); text != "" {
		return server.Failed(text), nil
	}
	return nil, fmt.Errorf("defer a result: %w", err)
}

// start works on a record that is entered.
func (d *Deferrer) start(ctx context.Context, j *job, r *record) {
	d.mu.Lock()
	j.record, j.started = *r, true
	d.mu.Unlock()
	go func() { // Close waits for it: admit has added it to the work
		defer d.leave(j)
		select {
		case d.turns <- struct{}{}:
			defer func() { <-d.turns }()
			d.run(ctx, j, r)
		case <-ctx.Done():
			d.conclude(ctx, r.ID, nil, context.Cause(ctx))
		}
	}()
}

// maxRounds bounds how often work may ask to be run again without a question.
const maxRounds = 16

// run makes the Call until it has an outcome, or a question.
func (d *Deferrer) run(ctx context.Context, j *job, r *record) {
	for range maxRounds {
		c := r.call()
		c.Notify = func(_ context.Context, _ string, params any) error {
			d.hear(j, params)
			return nil
		}
		result, err := d.guarded(ctx, c)
		r.Work.State = c.Input.State
		switch {
		case !errors.Is(err, mcp.ErrInputRequired):
			d.conclude(ctx, r.ID, result, err)
			return
		case len(c.Input.Wanted) > 0:
			d.park(ctx, r.ID, c.Input)
			return
		case c.Input.State == nil:
			d.conclude(ctx, r.ID, nil, errors.New("the tool requires input but asked for none"))
			return
		}
	}
	d.conclude(ctx, r.ID, nil, jsonrpc.InternalError(fmt.Sprintf("the tool asked to be run again %d times", maxRounds)))
}

// guarded runs the server's part of the Call. A panic costs this result only.
func (d *Deferrer) guarded(ctx context.Context, c *mcp.Call) (result any, err error) {
	defer func() {
		if v := recover(); v != nil {
			d.log.Error("deferred work panicked", "panic", v, "stack", string(debug.Stack()))
			result, err = nil, jsonrpc.InternalError("the handler failed")
		}
	}()
	return (*d.next.Load()).Handle(ctx, c)
}

// park puts the questions of the work into its record. The work is started anew
// when they are answered.
func (d *Deferrer) park(ctx context.Context, id string, input mcp.Input) {
	d.settle(ctx, id, func(r *record) bool {
		if r.Status != mcp.DeferredWorking {
			return false
		}
		r.Status, r.Message, r.Runner = mcp.DeferredInputRequired, "waiting for input", ""
		r.Work.Wanted, r.Work.State = input.Wanted, input.State
		return true
	})
}

// conclude puts the outcome of the work into its record, if anybody wants it.
func (d *Deferrer) conclude(ctx context.Context, id string, result any, err error) {
	switch why := context.Cause(ctx); {
	case errors.Is(why, errGivenUp):
		return
	case errors.Is(why, errStopped) && (err != nil || isFailure(result)):
		result, err = nil, jsonrpc.InternalError(errStopped.Error())
	}
	text, failure := d.outcome(result, err)
	done := d.settle(ctx, id, func(r *record) bool {
		if r.Status.Final() {
			return false
		}
		if failure != nil {
			r.fail(failure)
			return true
		}
		r.end(mcp.DeferredCompleted, "")
		r.Result = text
		return true
	})
	if errors.Is(done, ErrFull) && failure == nil {
		d.conclude(ctx, id, nil, jsonrpc.InternalError("the result is too large to be kept"))
	}
}

func isFailure(result any) bool {
	r, ok := result.(*mcp.CallToolResult)
	return ok && r.IsError
}

// outcome is what the request would have been answered with.
func (d *Deferrer) outcome(result any, err error) (text []byte, failure *jsonrpc.Error) {
	defer func() {
		if v := recover(); v != nil {
			d.log.Error("encode a deferred result: panic", "panic", v, "stack", string(debug.Stack()))
			text, failure = nil, jsonrpc.InternalError("the result could not be encoded")
		}
	}()
	if err != nil {
		return nil, d.wireError(err)
	}
	if r, ok := result.(*mcp.CallToolResult); ok && r.ResultType == "" {
		complete := *r
		complete.ResultType = mcp.ResultComplete
		result = &complete
	}
	if text, err = jsonrpc.AppendValue(nil, result); err != nil {
		d.log.Error("encode a deferred result", "error", err)
		return nil, jsonrpc.InternalError("the result could not be encoded")
	}
	return text, nil
}

// wireError is the error as it travels. What is no error of the protocol says
// nothing about our insides.
func (d *Deferrer) wireError(err error) *jsonrpc.Error {
	var (
		known    *jsonrpc.Error
		missing  *mcp.MissingCapabilityError
		notFound *mcp.ResourceNotFoundError
	)
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &missing):
		return missing.Wire()
	case errors.As(err, &notFound):
		return notFound.Wire()
	}
	d.log.Error("deferred work failed", "error", err)
	return jsonrpc.InternalError("the request failed")
}

const (
	// settleTries is how often the end of work is written before it is given up,
	// and settlePause the first pause between, which doubles.
	settleTries = 8
	settlePause = 50 * time.Millisecond
)

// settle changes a record after the work. A store that fails is tried again: the
// work must not be for nothing.
func (d *Deferrer) settle(ctx context.Context, id string, apply func(*record) bool) error {
	ctx = context.WithoutCancel(ctx)
	var err error
	for try := range settleTries {
		if try > 0 {
			time.Sleep(settlePause << (try - 1))
		}
		_, err = d.change(ctx, id, apply)
		if err == nil || errors.Is(err, errUnknown) || errors.Is(err, ErrFull) {
			return err
		}
		d.log.Warn("keep a deferred result", "id", id, "error", err)
	}
	d.log.Error("a deferred result is lost", "id", id, "error", err)
	return err
}
