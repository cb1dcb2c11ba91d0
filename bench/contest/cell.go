package contest

import (
	"errors"
	"fmt"
	"time"

	"github.com/bossman-mcp/bossman/bench/load"
	"github.com/bossman-mcp/bossman/bench/measure"
)

// Metric is something that is measured.
type Metric string

// The metrics and their units.
const (
	CPU   Metric = "CPU µs/request"
	Rate  Metric = "requests/s"
	P50   Metric = "p50 µs"
	P99   Metric = "p99 µs"
	Peak  Metric = "peak MiB"
	Each  Metric = "KiB each"
	Start Metric = "ms to first answer"

	StartCPU  Metric = "CPU ms to first answer"
	EventCPU  Metric = "CPU µs/notification"
	EventRate Metric = "notifications/s"
	Lost      Metric = "notifications lost"
	CallCPU   Metric = "client CPU µs/call"
)

// higherIsBetter says so of the few metrics of which it is true.
func (m Metric) higherIsBetter() bool { return m == Rate || m == EventRate }

// Sample is what one run of one server in one cell measured.
type Sample map[Metric]float64

// Conditions are the same for all runs.
type Conditions struct {
	Warmup, Window time.Duration
	Idle           int    // how many idle sessions and streams are opened
	Starts         int    // how often a server is started to see how long it takes
	Least          int    // requests that a window holds, even if it takes longer
	Steps          int    // notifications of progress that one call streams
	Against        Server // what clients call
}

// errAbsent says that a contestant does not take part in a cell.
var errAbsent = errors.New("does not take part")

// Cell is one discipline.
type Cell struct {
	Name     string
	Headline Metric // what to look at first
	run      func(s Server, on Conditions) (Sample, error)
}

// Cells are all disciplines, in the order of the report.
func Cells() []Cell {
	var cells []Cell
	for _, t := range []transport{overStdio, overHTTP} {
		for _, era := range []load.Era{load.Legacy, load.Modern} {
			cells = append(cells,
				under(t, era, course{"add-1", P50, 1, 0, load.Add()}),
				under(t, era, course{"add-64", CPU, 64, 0, load.Add()}),
				under(t, era, course{"echo-64k", CPU, 8, 0, load.Echo(64 << 10)}),
				under(t, era, course{"echo-1m", CPU, 4, 0, load.Echo(1 << 20)}),
				under(t, era, course{"list-500", CPU, 8, 500, load.List(500)}),
				under(t, era, course{"slow-200", Rate, 200, 0, load.Slow(10)}),
				under(t, era, course{"progress", EventCPU, 1, 0, nil}),
			)
		}
	}
	for _, era := range []load.Era{load.Legacy, load.Modern} {
		cells = append(cells, coldStart(era))
	}
	cells = append(cells, idleCells()...)
	for _, era := range []load.Era{load.Legacy, load.Modern} {
		cells = append(cells, clientCell(era, 1), clientCell(era, 64))
	}
	return cells
}

// course is a load: what, and how much at once.
type course struct {
	name     string
	headline Metric
	inFlight int
	tools    int        // the server has besides those of the contract
	work     *load.Work // nil: progress, as many steps as the conditions say
}

// under is a cell in which servers are under load.
func under(t transport, era load.Era, c course) Cell {
	return Cell{
		Name: fmt.Sprintf("%s/%s/%s", t, era, c.name), Headline: c.headline,
		run: func(s Server, on Conditions) (Sample, error) {
			p, err := s.start(t, c.tools)
			if err != nil {
				return nil, err
			}
			defer p.stop()
			sample, err := c.drive(p, era, on)
			if err != nil {
				return nil, fmt.Errorf("%w\n%s", err, p.stderr)
			}
			return sample, nil
		},
	}
}

func sampleOf(r load.Result, memory measure.Memory) Sample {
	peak := float64(memory.Peak) / (1 << 20)
	if r.Events > 0 {
		return Sample{
			EventCPU: micros(r.CPU) / float64(r.Events), EventRate: float64(r.Events) / r.Elapsed.Seconds(),
			Lost: float64(r.Lost), Peak: peak,
		}
	}
	return Sample{CPU: micros(r.CPUEach()), Rate: r.Rate(), P50: micros(r.P50), P99: micros(r.P99), Peak: peak}
}

func (c course) drive(p *process, era load.Era, on Conditions) (Sample, error) {
	d, err := p.open(era)
	if err != nil {
		return nil, err
	}
	o := load.Options{InFlight: c.inFlight, Warmup: on.Warmup, Window: on.Window, MinRequests: on.Least, CPU: p.cpu}
	work := c.work
	if work == nil {
		work, o.MinRequests = load.Count(on.Steps), 1 // each is long
	}
	r, err := d.Run(work, o)
	if err != nil {
		return nil, err
	}
	memory, err := p.memory()
	if err != nil {
		return nil, err
	}
	return sampleOf(r, memory), d.Finish()
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
