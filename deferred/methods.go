package deferred

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

// get answers tasks/get.
func (d *Deferrer) get(ctx context.Context, c *mcp.Call) (any, error) {
	r, err := d.named(ctx, c)
	if err != nil {
		return nil, err
	}
	d.overlay(r)
	return r.state(d.opts.PollInterval, true), nil
}

// named returns the record that a request names. One of another principal looks
// like none at all.
func (d *Deferrer) named(ctx context.Context, c *mcp.Call) (*record, error) {
	if !c.Client.Capabilities.Deferred() {
		return nil, mcp.MissingDeferred()
	}
	raw := jsonscan.Get(c.Params, "taskId")
	if jsonscan.KindOf(raw) != jsonscan.String {
		return nil, jsonrpc.InvalidParams("taskId must be the id of a task")
	}
	r, err := d.owned(ctx, c, jsonscan.Unquote(raw))
	if errors.Is(err, errUnknown) {
		return nil, unknown()
	}
	return r, err
}

func unknown() error {
	return jsonrpc.InvalidParams("Task not found: there is none with this id, or it has expired")
}

// owned returns a record if it is the caller's.
func (d *Deferrer) owned(ctx context.Context, c *mcp.Call, id string) (*record, error) {
	r, err := d.read(ctx, id)
	if err == nil && r.Principal != c.Principal.ID() {
		err = errUnknown
	}
	if err != nil || r.Status != mcp.DeferredWorking {
		return r, err
	}
	return d.load(ctx, id)
}

// cancel answers tasks/cancel. What has ended stays as it is.
func (d *Deferrer) cancel(ctx context.Context, c *mcp.Call) (any, error) {
	r, err := d.named(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := d.giveUp(ctx, r.ID); errors.Is(err, errUnknown) {
		return nil, unknown()
	} else if err != nil {
		return nil, err
	}
	return &mcp.EmptyResult{}, nil
}

// update answers tasks/update: it takes the answers that somebody waits for, and
// starts the work anew once none is missing.
func (d *Deferrer) update(ctx context.Context, c *mcp.Call) (any, error) {
	r, err := d.named(ctx, c)
	if err != nil {
		return nil, err
	}
	var params mcp.UpdateDeferredParams
	if err := json.Unmarshal(c.Params, &params); err != nil || jsonscan.KindOf(jsonscan.Get(c.Params, "inputResponses")) != jsonscan.Object {
		return nil, jsonrpc.InvalidParams("inputResponses must be an object of answers")
	}
	if r.Status == mcp.DeferredInputRequired {
		if err := checkAnswers(r.Work.Wanted, params.InputResponses); err != nil {
			return nil, err
		}
	}
	if err := d.resume(ctx, r.ID, params.InputResponses); errors.Is(err, errUnknown) {
		return nil, unknown()
	} else if err != nil {
		return nil, err
	}
	return &mcp.EmptyResult{}, nil
}

// checkAnswers refuses what cannot be the answer to an open question, since the
// work could only fail over it.
func checkAnswers(wanted mcp.InputRequests, answers mcp.InputResponses) error {
	for _, q := range wanted {
		answer, given := answers[q.Key]
		if !given {
			continue
		}
		var into any
		switch q.Method {
		case mcp.MethodElicit:
			into = new(mcp.ElicitResult)
		case mcp.MethodCreateMessage:
			into = new(mcp.CreateMessageResult)
		default:
			into = new(mcp.ListRootsResult)
		}
		if err := json.Unmarshal(answer, into); err != nil || answer.Kind() != '{' {
			return jsonrpc.InvalidParams("the answer to the question %q is not a result of %s", q.Key, q.Method)
		}
	}
	return nil
}

// resume puts answers into a record that waits for them. The last one starts the
// work, here.
func (d *Deferrer) resume(ctx context.Context, id string, answers mcp.InputResponses) error {
	var (
		life    context.Context
		j       *job
		barred  error
		started bool
	)
	r, err := d.change(ctx, id, func(r *record) bool {
		started = false
		if r.Status != mcp.DeferredInputRequired || !r.take(answers) {
			return false
		}
		if len(r.Work.Wanted) > 0 {
			return true
		}
		if j == nil {
			if life, j, barred = d.enter(ctx, id); barred != nil {
				return false
			}
		}
		r.Status, r.Message, r.Runner, started = mcp.DeferredWorking, "", d.mark.name, true
		return true
	})
	if err = errors.Join(err, barred); err == nil && started {
		d.start(life, j, r)
		return nil
	}
	if j != nil {
		d.leave(j)
	}
	if text := passing(err); text != "" {
		return jsonrpc.InternalError(text)
	}
	return err
}
