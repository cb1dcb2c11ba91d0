package load

import (
	"fmt"
	"time"
)

// flight is a request that is out.
type flight struct {
	kase  int
	since time.Time
}

// pipeRun is one run over a pipe. It goes from batch to batch: all answers that
// have arrived are checked, and each makes room for a request; then these leave in
// one write. A batch has one time of arrival and one of departure.
type pipeRun struct {
	pipe     *Pipe
	judge    *judge
	o        Options
	requests [][]byte
	write    func([]byte) error

	out   map[int]flight
	sent  int
	queue []byte // requests that leave with the next write
	fresh []int  // their ids

	window
	deadline time.Time
}

func (r *pipeRun) run() (Result, error) {
	now := time.Now()
	r.window = window{o: r.o, opens: now.Add(r.o.Warmup)}
	for range r.o.InFlight {
		r.send()
	}
	for {
		if err := r.flush(); err != nil {
			return Result{}, err
		}
		if len(r.out) == 0 {
			return r.result()
		}
		now, err := r.wait()
		if err != nil {
			return Result{}, err
		}
		if err := r.take(now); err != nil {
			return Result{}, err
		}
		if err := r.tick(now); err != nil {
			return Result{}, err
		}
	}
}

// send queues a request.
func (r *pipeRun) send() {
	id, kase := firstID+r.sent, r.sent%len(r.requests)
	r.sent++
	at := len(r.queue) + len(head)
	r.queue = append(r.queue, r.requests[kase]...)
	putID(r.queue[at:], id)
	r.out[id] = flight{kase: kase}
	r.fresh = append(r.fresh, id)
}

func (r *pipeRun) flush() error {
	if len(r.queue) == 0 {
		return nil
	}
	now := time.Now()
	for _, id := range r.fresh {
		f := r.out[id]
		f.since = now
		r.out[id] = f
	}
	err := r.write(r.queue)
	r.queue, r.fresh = r.queue[:0], r.fresh[:0]
	if err != nil {
		return fmt.Errorf("send requests: %w", err)
	}
	return nil
}

// wait reads what has arrived. The deadline is set now and then only, as it costs.
func (r *pipeRun) wait() (time.Time, error) {
	var set time.Time
	if now := time.Now(); r.deadline.Sub(now) < r.o.Patience/2 {
		r.deadline = now.Add(r.o.Patience)
		set = r.deadline
	}
	if err := r.pipe.fill(set); err != nil {
		return time.Time{}, fmt.Errorf("wait for the answers to %d requests, with %d bytes of a message read: %w",
			len(r.out), r.pipe.end-r.pipe.pos, err)
	}
	return time.Now(), nil
}

// take checks all messages that have arrived and queues a request for each answer.
func (r *pipeRun) take(now time.Time) error {
	for line := r.pipe.next(); line != nil; line = r.pipe.next() {
		v, err := r.judge.check(line, r.caseOf)
		switch {
		case err != nil:
			return err
		case v.event:
			r.events++
			continue
		case v.other:
			continue
		}
		r.answered(now.Sub(r.out[v.id].since))
		delete(r.out, v.id)
		if !r.over {
			r.send()
		}
	}
	return nil
}

func (r *pipeRun) caseOf(id int) int {
	if f, ok := r.out[id]; ok {
		return f.kase
	}
	return -1
}

func (r *pipeRun) result() (Result, error) {
	due := r.sent * r.judge.work.events
	if r.events > due {
		return Result{}, fmt.Errorf("%d notifications of progress arrived, want %d", r.events, due)
	}
	res := r.window.result()
	res.Lost = due - r.events
	return res, nil
}
