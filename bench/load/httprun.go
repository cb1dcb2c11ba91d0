package load

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// httpRun is one run over HTTP.
type httpRun struct {
	o     Options
	work  *Work
	opens time.Time

	sent     atomic.Int64
	answers  atomic.Int64
	events   atomic.Int64
	lost     atomic.Int64
	phase    atomic.Int32 // 0: warm-up, 1: the window, 2: over
	failed   atomic.Bool
	measured Result
}

// single runs one line. The window opens and closes with an answer, so that it
// holds whole requests only.
func (r *httpRun) single(l *line) (Result, error) {
	w := window{o: r.o, opens: r.opens}
	for !w.over {
		from := time.Now()
		if err := l.ask(l.next()); err != nil {
			return Result{}, err
		}
		now := time.Now()
		w.events = int(r.events.Load())
		w.answered(now.Sub(from))
		if err := w.tick(now); err != nil {
			return Result{}, err
		}
	}
	res := w.result()
	res.Lost = int(r.lost.Load())
	return res, nil
}

// all runs the lines and measures them.
func (r *httpRun) all(lines []*line) (Result, error) {
	var wg sync.WaitGroup
	errs := make([]error, len(lines))
	for i, l := range lines {
		wg.Go(func() { // awaited below
			if errs[i] = l.loop(); errs[i] != nil {
				r.failed.Store(true)
			}
		})
	}
	err := r.measure()
	r.phase.Store(2)
	wg.Wait()
	if err = errors.Join(append(errs, err)...); err != nil {
		return Result{}, err
	}
	r.measured.Lost = int(r.lost.Load())
	var took []time.Duration
	for _, l := range lines {
		took = append(took, l.took...)
	}
	r.measured.setLatencies(took)
	return r.measured, nil
}

// measure waits for the warm-up and the window to pass.
func (r *httpRun) measure() error {
	r.sleep(time.Until(r.opens))
	cpu, err := r.o.CPU()
	if err != nil {
		return err
	}
	from, answers, events := time.Now(), r.answers.Load(), r.events.Load()
	r.phase.Store(1)
	for r.sleep(r.o.Window); ; r.sleep(r.o.Window / 4) {
		n := r.answers.Load() - answers
		late := time.Since(from) > 10*r.o.Window
		if n >= int64(r.o.MinRequests) || n > 0 && late || r.failed.Load() {
			break
		}
	}
	after, err := r.o.CPU()
	if err != nil {
		return err
	}
	r.measured = Result{
		Requests: int(r.answers.Load() - answers), Elapsed: time.Since(from),
		CPU: after - cpu, Events: int(r.events.Load() - events),
	}
	return nil
}

// sleep ends early when a line has failed.
func (r *httpRun) sleep(d time.Duration) {
	for until := time.Now().Add(d); !r.failed.Load(); {
		left := time.Until(until)
		if left <= 0 {
			return
		}
		time.Sleep(min(left, 100*time.Millisecond))
	}
}

// line is one connection with one request at a time.
type line struct {
	run      *httpRun
	wire     *wire
	judge    *judge
	requests [][]byte
	idAt     []int
	turn     int
	took     []time.Duration
}

func (l *line) loop() error {
	for l.run.phase.Load() < 2 && !l.run.failed.Load() {
		from := time.Now()
		if err := l.ask(l.next()); err != nil {
			return err
		}
		l.run.answers.Add(1)
		if l.run.phase.Load() == 1 {
			l.took = append(l.took, time.Since(from))
		}
	}
	return nil
}

// next is the case whose turn it is.
func (l *line) next() int {
	l.turn++
	return (l.turn - 1) % len(l.requests)
}

// ask sends one request and checks its answer.
func (l *line) ask(kase int) error {
	id := firstID + int(l.run.sent.Add(1)) - 1
	request := l.requests[kase]
	putID(request[l.idAt[kase]:], id)
	res, err := l.wire.exchange(request, l.run.o.Patience)
	if err != nil {
		return fmt.Errorf("request %d: %w", id, err)
	}
	if res.status != 200 {
		return fmt.Errorf("request %d: status %d: %s", id, res.status, abridged(res.body))
	}
	answered, events := false, 0
	err = res.messages(func(msg []byte) error {
		v, err := l.judge.check(msg, func(got int) int {
			if got != id || answered {
				return -1
			}
			return kase
		})
		switch {
		case err != nil || v.other:
		case v.event:
			events++
		default:
			answered = true
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case !answered:
		return fmt.Errorf("request %d: the response holds no answer", id)
	case events > l.run.work.events:
		return fmt.Errorf("request %d: %d notifications of progress, want %d", id, events, l.run.work.events)
	}
	l.run.events.Add(int64(events))
	l.run.lost.Add(int64(l.run.work.events - events))
	return nil
}
