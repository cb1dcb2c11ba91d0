package load

import (
	"fmt"
	"time"
)

// window decides when measuring begins and ends, and keeps what was measured.
type window struct {
	o           Options
	opens       time.Time // when warm-up ends
	opened      time.Time // zero: not yet
	cpu         time.Duration
	took        []time.Duration
	events      int // in all
	eventsFirst int // before the window
	measured    Result
	over        bool
}

func (w *window) answered(took time.Duration) {
	if !w.opened.IsZero() && !w.over {
		w.took = append(w.took, took)
	}
}

// tick opens or closes the window if it is time.
func (w *window) tick(now time.Time) error {
	if w.over || now.Before(w.opens) {
		return nil
	}
	elapsed := now.Sub(w.opened)
	opening := w.opened.IsZero()
	late := len(w.took) > 0 && elapsed >= 10*w.o.Window
	if !opening && (elapsed < w.o.Window || len(w.took) < w.o.MinRequests && !late) {
		return nil
	}
	cpu, err := w.o.CPU()
	if err != nil {
		return fmt.Errorf("read the server's processor time: %w", err)
	}
	if opening {
		w.opened, w.cpu, w.eventsFirst = now, cpu, w.events
		return nil
	}
	w.measured = Result{Requests: len(w.took), Elapsed: elapsed, CPU: cpu - w.cpu, Events: w.events - w.eventsFirst}
	w.over = true
	return nil
}

func (w *window) result() Result {
	r := w.measured
	r.setLatencies(w.took)
	return r
}
