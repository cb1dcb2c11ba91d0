package deferred

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/mcp"
)

// job is a result that is worked on here, or waits for its turn.
type job struct {
	id     string
	cancel context.CancelCauseFunc

	// Guarded by the Deferrer's mutex: the record as it was last written, and
	// what the work said since, and when.
	started bool // the store has the record
	record  record
	message string
	said    time.Time
}

// Reasons for a job's context to end.
var (
	errGivenUp = errors.New("the client gave the result up")
	errStopped = errors.New("the server stopped before the work was done")
)

// Reasons for a job not to begin.
var (
	errClosed = errors.New("the server is stopping")
	errBusy   = errors.New("too many results are being worked on")
)

// passing puts a reason into words for the client if it may be gone next time.
func passing(err error) string {
	for _, reason := range []error{errClosed, errBusy, ErrFull} {
		if errors.Is(err, reason) {
			return reason.Error() + ": try again later"
		}
	}
	return ""
}

// enter registers work before it begins, so that the store's record of it is
// never taken for one that was left behind. The context has the values of ctx,
// and ends with the job.
func (d *Deferrer) enter(ctx context.Context, id string) (context.Context, *job, error) {
	j := &job{id: id}
	life, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	j.cancel = cancel
	if err := d.admit(j); err != nil {
		cancel(err)
		return nil, nil, err
	}
	if err := d.mark.renew(ctx); err != nil {
		d.leave(j)
		return nil, nil, fmt.Errorf("mark the work as ours: %w", err)
	}
	return life, j, nil
}

func (d *Deferrer) admit(j *job) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return errClosed
	case len(d.jobs) >= d.opts.MaxRunning+d.opts.MaxWaiting:
		return errBusy
	}
	d.jobs[j.id] = j
	d.work.Add(1)
	d.wakeLocked()
	return nil
}

// leave ends a job, whatever its outcome.
func (d *Deferrer) leave(j *job) {
	j.cancel(nil)
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.jobs, j.id)
	d.work.Done()
}

// job returns the job with an id, nil if it is not here.
func (d *Deferrer) job(id string) *job {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.jobs[id]
}

// hear takes what the work says of itself for its status message.
func (d *Deferrer) hear(j *job, params any) {
	text := sayingOf(params)
	if text == "" {
		return
	}
	d.mu.Lock()
	j.message, j.said = text, now()
	r := j.record
	d.mu.Unlock()
	d.publish(&r)
}

// maxMessage caps a status message, in bytes.
const maxMessage = 1000

// sayingOf puts progress and plain log messages into words.
func sayingOf(params any) string {
	text := ""
	switch p := params.(type) {
	case *mcp.ProgressParams:
		text = p.Message
		if p.Total != nil {
			share := fmt.Sprintf("%g of %g", p.Progress, *p.Total)
			if text != "" {
				share = " (" + share + ")"
			}
			text += share
		}
	case *mcp.LoggingMessageParams:
		if p.Data.Kind() == '"' {
			text = jsonscan.Unquote(p.Data)
		}
	}
	return cut(text, maxMessage)
}

// overlay adds what the work said since the record was written.
func (d *Deferrer) overlay(r *record) {
	if r.Status != mcp.DeferredWorking {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if j := d.jobs[r.ID]; j != nil && !j.said.Before(r.Updated) {
		r.Message, r.Updated = j.message, j.said
	}
}
