package contest

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/bench/caller"
	"github.com/bossman-mcp/bossman/bench/load"
)

// clientCell is a cell that measures clients, all against the same server over
// stdio.
func clientCell(era load.Era, inFlight int) Cell {
	return Cell{
		Name: fmt.Sprintf("client/%s/add-%d", era, inFlight), Headline: CallCPU,
		run: func(s Server, on Conditions) (Sample, error) {
			if s.Client == nil {
				return nil, errAbsent
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute+on.Warmup+on.Window)
			defer cancel()
			args := append(s.Client[1:len(s.Client):len(s.Client)],
				"-era", string(era), "-inflight", strconv.Itoa(inFlight),
				"-warmup", on.Warmup.String(), "-window", on.Window.String(), "--")
			cmd := exec.CommandContext(ctx, s.Client[0], append(args, on.Against.Command...)...)
			var stderr tail
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil {
				return nil, fmt.Errorf("run the client: %w\n%s", err, &stderr)
			}
			var r caller.Result
			if err := json.Unmarshal(bytes.TrimSpace(out), &r); err != nil {
				return nil, fmt.Errorf("read what the client measured: %w", err)
			}
			return Sample{
				CallCPU: micros(time.Duration(r.CPU)) / float64(max(r.Calls, 1)),
				Rate:    float64(r.Calls) / time.Duration(r.Elapsed).Seconds(),
				P50:     micros(time.Duration(r.P50)),
			}, nil
		},
	}
}
