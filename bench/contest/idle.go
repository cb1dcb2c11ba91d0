package contest

import (
	"fmt"
	"slices"
	"time"

	"github.com/bossman-mcp/bossman/bench/load"
)

// idleCells are those in which clients connect and then do nothing.
func idleCells() []Cell {
	return []Cell{
		idling("http/legacy/idle-sessions", load.Legacy, func(h *load.HTTP, n int) (*load.Idle, error) { return h.Sessions(n, false) }),
		idling("http/legacy/idle-streams", load.Legacy, func(h *load.HTTP, n int) (*load.Idle, error) { return h.Sessions(n, true) }),
		idling("http/modern/idle-listen", load.Modern, (*load.HTTP).Listeners),
	}
}

// idling is a cell that measures by how much a server grows with each client. The
// first clients are not counted: with them it grows once for all. Garbage that is
// not collected yet is counted: nobody collects it in an idle server.
func idling(name string, era load.Era, open func(h *load.HTTP, n int) (*load.Idle, error)) Cell {
	return Cell{Name: name, Headline: Each, run: func(s Server, on Conditions) (Sample, error) {
		p, err := s.start(overHTTP, 0)
		if err != nil {
			return nil, err
		}
		defer p.stop()
		grown, err := growth(p, era, on.Idle, open)
		if err != nil {
			return nil, fmt.Errorf("%w\n%s", err, p.stderr)
		}
		return Sample{Each: float64(grown) / float64(on.Idle) / (1 << 10)}, nil
	}}
}

func growth(p *process, era load.Era, n int, open func(h *load.HTTP, n int) (*load.Idle, error)) (int64, error) {
	h, err := load.OpenHTTP(p.addr, era)
	if err != nil {
		return 0, err
	}
	few, err := open(h, 50)
	if err != nil {
		return 0, err
	}
	defer few.Close()
	before, err := p.memory()
	if err != nil {
		return 0, err
	}
	many, err := open(h, n)
	if err != nil {
		return 0, err
	}
	defer many.Close()
	time.Sleep(200 * time.Millisecond) // for what the server does once a client is in
	after, err := p.memory()
	return after.Now - before.Now, err
}

// coldStart is a cell that measures how long a server takes from the start of
// its process to its first answer over stdio.
func coldStart(era load.Era) Cell {
	return Cell{
		Name: fmt.Sprintf("stdio/%s/cold-start", era), Headline: Start,
		run: func(s Server, on Conditions) (Sample, error) {
			var took, cpu []float64
			for range on.Starts {
				wall, used, err := startOnce(s, era)
				if err != nil {
					return nil, err
				}
				took, cpu = append(took, micros(wall)/1000), append(cpu, micros(used)/1000)
			}
			slices.Sort(took)
			slices.Sort(cpu)
			return Sample{Start: took[len(took)/2], StartCPU: cpu[len(cpu)/2]}, nil
		},
	}
}

func startOnce(s Server, era load.Era) (wall, cpu time.Duration, err error) {
	from := time.Now()
	p, err := s.start(overStdio, 0)
	if err != nil {
		return 0, 0, err
	}
	defer p.stop()
	d, err := load.OpenPipe(p.in, p.out, era)
	if err == nil {
		err = d.Once(load.Add())
	}
	if err != nil {
		return 0, 0, fmt.Errorf("%w\n%s", err, p.stderr)
	}
	wall = time.Since(from)
	cpu, err = p.cpu()
	return wall, cpu, err
}
