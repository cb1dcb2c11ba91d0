package load

import (
	"slices"
	"time"
)

// Options are how much load there is and for how long.
type Options struct {
	// InFlight is how many requests are out at any time. 0: 1.
	InFlight int
	// Warmup is how long the server is under load before anything is measured.
	Warmup time.Duration
	// Window is how long is measured; longer where fewer than MinRequests were
	// answered by then, up to ten times.
	Window      time.Duration
	MinRequests int
	// Patience is how long the server may be silent. 0: a minute.
	Patience time.Duration
	// CPU returns the processor time that the server has used so far. Nil: it is
	// not measured.
	CPU func() (time.Duration, error)
}

func (o Options) withDefaults() Options {
	o.InFlight = max(o.InFlight, 1)
	if o.Patience == 0 {
		o.Patience = time.Minute
	}
	if o.CPU == nil {
		o.CPU = func() (time.Duration, error) { return 0, nil }
	}
	return o
}

// Result is what was measured in the window.
type Result struct {
	Requests int           // answered and found right
	Elapsed  time.Duration // of the window
	CPU      time.Duration // of the server, all requests together
	P50, P99 time.Duration
	Events   int // notifications of progress
	// Lost is how many notifications of progress did not come in the whole run.
	// That is no error: servers may leave some out.
	Lost int
}

// Rate is the number of requests a second.
func (r Result) Rate() float64 { return float64(r.Requests) / r.Elapsed.Seconds() }

// CPUEach is the server's processor time for one request.
func (r Result) CPUEach() time.Duration { return r.CPU / time.Duration(max(r.Requests, 1)) }

// setLatencies fills in the percentiles and sorts took.
func (r *Result) setLatencies(took []time.Duration) {
	if len(took) == 0 {
		return
	}
	slices.Sort(took)
	r.P50, r.P99 = took[len(took)/2], took[len(took)*99/100]
}
