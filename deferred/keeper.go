package deferred

import (
	"context"
	"errors"
	"time"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

// wakeLocked starts the goroutine that looks after jobs and subscriptions, if
// there is none.
func (d *Deferrer) wakeLocked() {
	if !d.beating && !d.closed {
		d.beating = true
		d.keeping.Go(d.keep) // Close waits for it
	}
}

// keep shows that we are alive, as long as there is something to look after.
func (d *Deferrer) keep() {
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	ctx := context.Background()
	for {
		select {
		case <-ticker.C:
		case <-d.ended:
			return
		}
		if err := errors.Join(d.look(ctx), d.sweep(ctx)); err != nil {
			d.log.Warn("look after deferred results", "error", err)
		}
		if d.isIdle() {
			return
		}
	}
}

// sweepPause is how far apart sweeps are.
const sweepPause = time.Minute

// sweep removes results whose time is over. It belongs to the goroutine of keep,
// of which there is one at a time.
func (d *Deferrer) sweep(ctx context.Context) error {
	if time.Since(d.swept) < sweepPause {
		return nil
	}
	d.swept = time.Now()
	_, err := d.store.Sweep(ctx, d.swept)
	return err
}

// isIdle reports whether there is nothing to do, and notes that the goroutine
// ends then.
func (d *Deferrer) isIdle() bool {
	d.hub.mu.Lock()
	defer d.hub.mu.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.beating = len(d.jobs) > 0 || len(d.hub.watches) > 0
	return !d.beating
}

// look renews what is ours, ends work that another process was told to end, and
// tells subscribers what other processes did.
func (d *Deferrer) look(ctx context.Context) error {
	d.mu.Lock()
	jobs := make([]*job, 0, len(d.jobs))
	for _, j := range d.jobs {
		if j.started {
			jobs = append(jobs, j)
		}
	}
	d.mu.Unlock()
	var errs []error
	if len(jobs) > 0 {
		errs = append(errs, d.mark.renew(ctx))
	}
	for _, j := range jobs {
		errs = append(errs, d.lookAt(ctx, j))
	}
	for _, id := range d.hub.open() {
		if r, err := d.load(ctx, id); err == nil && d.job(id) == nil {
			d.publishNews(r)
		}
	}
	return errors.Join(errs...)
}

// lookAt keeps the record of a job from running out of time.
func (d *Deferrer) lookAt(ctx context.Context, j *job) error {
	r, err := d.read(ctx, j.id)
	switch {
	case errors.Is(err, errUnknown):
		if d.job(j.id) != nil { // else it ended meanwhile
			j.cancel(errGivenUp)
		}
		return nil
	case err != nil:
		return err
	case r.Status.Final():
		j.cancel(errGivenUp)
		return nil
	case r.Until.IsZero() || time.Until(r.Until) > d.ttl(mcp.DeferredWorking)/2:
		return nil
	}
	r.Until = now().Add(d.ttl(mcp.DeferredWorking))
	data, err := r.encode()
	if err != nil {
		return err
	}
	done, err := d.store.Swap(ctx, j.id, r.version, data, r.Until)
	if done { // else it changed meanwhile, which did as well
		d.mu.Lock()
		j.record.Until, j.record.version = r.Until, r.version+1
		d.mu.Unlock()
	}
	return err
}

// stopPatience is how long Close waits for work that it has told to stop.
const stopPatience = time.Second

// Close refuses new work and waits for what is under way. When ctx ends, that is
// told to stop, and reported to clients as failed; Close then returns the
// context's error. Results that are there can still be read.
func (d *Deferrer) Close(ctx context.Context) error {
	d.mu.Lock()
	again := d.closed
	d.closed = true
	d.mu.Unlock()
	if !again {
		defer d.keeping.Wait()
		defer close(d.ended)
	}
	done := make(chan struct{})
	go func() { // ends with the work, which this function waits for
		d.work.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	d.stop(done)
	return ctx.Err()
}

// stop ends what is still under way, or reports it as failed if it does not end.
func (d *Deferrer) stop(done <-chan struct{}) {
	d.mu.Lock()
	for _, j := range d.jobs {
		j.cancel(errStopped)
	}
	d.mu.Unlock()
	timer := time.NewTimer(stopPatience)
	defer timer.Stop()
	select {
	case <-done:
		return
	case <-timer.C:
	}
	d.mu.Lock()
	var left []string
	for id := range d.jobs {
		left = append(left, id)
	}
	d.mu.Unlock()
	for _, id := range left {
		_, err := d.change(context.Background(), id, func(r *record) bool {
			if r.Status != mcp.DeferredWorking {
				return false
			}
			r.fail(jsonrpc.InternalError(errStopped.Error()))
			return true
		})
		d.log.Warn("deferred work did not stop", "id", id, "error", err)
	}
}
